#include "cli/filter_options.h"

#include <CLI/CLI.hpp>

#include <perdure/errors.h>

#include "cli/times.h"
#include "model/status.h"

namespace perdure::cli {

namespace {

/// Groups of statuses that are asked for by one word.
constexpr std::string_view kLive = "live";
constexpr std::string_view kEnded = "ended";

void add_statuses(const std::string& word, std::vector<ExecutionStatus>& statuses) {
  std::string known;
  const std::size_t before = statuses.size();
  for (const auto& row : CodeTable<ExecutionStatus>::rows()) {
    const std::string_view group = is_terminal(row.value) ? kEnded : kLive;
    if (word == row.name || word == group) statuses.push_back(row.value);
    known.append(row.name).append(", ");
  }
  if (statuses.size() > before) return;
  throw InvalidArgument("--status: '" + word + "' is none; there are " + known +
                        "and for several " + std::string(kLive) + ", " + std::string(kEnded));
}

}  // namespace

std::vector<CLI::Option*> add_filter_options(CLI::App& command, FilterInput& input) {
  RunFilter& filter = input.filter;
  CLI::Option* const status =
      command
          .add_option(
              "--status", input.statuses, "Only these, as running,failed; live or ended for all")
          ->delimiter(',')
          ->allow_extra_args(false);
  CLI::Option* const parent =
      command.add_option("--parent", filter.parent, "Only direct children of this run");
  return {
      status,
      command.add_option("--name", filter.name, "Only runs of this orchestration"),
      command.add_option("--queue", filter.queue, "Only runs of this queue"),
      command.add_option("--id-prefix", filter.id_prefix, "Only ids that begin so"),
      parent,
      command.add_flag("--roots", filter.roots_only, "No children of others")->excludes(parent),
      command.add_option(
          "--since", input.since, "Created then or later: 2h (before now), or 2026-11-16T06:14"),
      command.add_option("--until,--older-than",
                         input.until,
                         "Created before then: 1h for what is older than an hour")};
}

RunFilter read_filter(const FilterInput& input, TimePoint now) {
  RunFilter filter = input.filter;
  for (const std::string& word : input.statuses) add_statuses(word, filter.statuses);
  if (!input.since.empty()) filter.created_from = parse_moment("--since", input.since, now);
  if (!input.until.empty()) filter.created_before = parse_moment("--until", input.until, now);
  return filter;
}

}  // namespace perdure::cli
