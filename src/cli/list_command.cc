#include "cli/list_command.h"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "cli/run_json.h"
#include "cli/run_text.h"
#include "cli/store_client.h"
#include "cli/text_table.h"
#include "cli/times.h"
#include "model/status.h"

namespace perdure::cli {

namespace {

constexpr std::size_t kMostRuns = 10'000;

/// What CLI11 fills in.
struct ListInput {
  std::string provider;
  RunFilter filter;
  PageOptions page;
  std::vector<std::string> statuses;
  std::string since;
  std::string until;
  bool json = false;
};

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

void add_options(CLI::App& command, ListInput& input) {
  RunFilter& filter = input.filter;
  add_store_option(command, input.provider);
  command
      .add_option(
          "--status", input.statuses, "Only these, as running,failed; live or ended for all")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--name", filter.name, "Only runs of this orchestration");
  command.add_option("--queue", filter.queue, "Only runs of this queue");
  command.add_option("--id-prefix", filter.id_prefix, "Only ids that begin so");
  auto* const parent =
      command.add_option("--parent", filter.parent, "Only direct children of this run");
  command.add_flag("--roots", filter.roots_only, "No children of others")->excludes(parent);
  command.add_option(
      "--since", input.since, "Created then or later: 2h (before now), or 2026-11-16T06:14");
  command.add_option("--until", input.until, "Created before then");
  command.add_option("--limit", input.page.limit, "Runs of a page")
      ->check(CLI::Range(std::size_t{1}, kMostRuns))
      ->capture_default_str();
  command.add_option("--after", input.page.after, "Go on behind a page: its `next`");
  command.add_flag("--json", input.json, "One JSON object: runs, next");
}

void print_json(const RunPage& page) {
  OrderedJson runs = OrderedJson::array();
  for (const RunSummary& run : page.runs) runs.push_back(to_json(run));
  const OrderedJson next = page.next.empty() ? OrderedJson() : OrderedJson(page.next);
  std::cout << one_line({{"runs", std::move(runs)}, {"next", next}}) << '\n';
}

void print_table(const RunPage& page, TimePoint now) {
  TextTable table({"ID", "NAME", "STATUS", "EXECUTION", "CREATED", "AGE", "NOTE"});
  for (const RunSummary& run : page.runs) {
    table.add({run.id,
               code_of(run),
               status_of(run),
               std::to_string(run.execution),
               local_time(run.created_at),
               age(run.created_at, now),
               note_on(run)});
  }
  table.print(std::cout);
  std::cout.flush();
  // Beside the table, which may be piped on.
  if (page.runs.empty()) std::cerr << "no runs\n";
  if (!page.next.empty()) std::cerr << "more runs follow: --after " << page.next << '\n';
}

int run_list(ListInput& input) {
  const TimePoint now = system_clock().now();
  for (const std::string& word : input.statuses) add_statuses(word, input.filter.statuses);
  if (!input.since.empty()) {
    input.filter.created_from = parse_moment("--since", input.since, now);
  }
  if (!input.until.empty()) {
    input.filter.created_before = parse_moment("--until", input.until, now);
  }
  const RunPage page = client_for_reading(input.provider).list(input.filter, input.page);
  if (input.json) {
    print_json(page);
  } else {
    print_table(page, now);
  }
  return kExitDone;
}

}  // namespace

Command add_list(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("list", "Runs of a store, newest first");
  auto input = std::make_shared<ListInput>();
  add_options(*command, *input);
  return [input] { return run_list(*input); };
}

}  // namespace perdure::cli
