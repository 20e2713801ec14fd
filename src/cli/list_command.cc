#include "cli/list_command.h"

#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "cli/filter_options.h"
#include "cli/run_json.h"
#include "cli/run_text.h"
#include "cli/store_client.h"

namespace perdure::cli {

namespace {

constexpr std::size_t kMostRuns = 10'000;

/// What CLI11 fills in.
struct ListInput {
  std::string provider;
  FilterInput chosen;
  PageOptions page;
  bool json = false;
};

void add_options(CLI::App& command, ListInput& input) {
  add_store_option(command, input.provider);
  add_filter_options(command, input.chosen);
  command.add_option("--limit", input.page.limit, "Runs of a page")
      ->check(CLI::Range(std::size_t{1}, kMostRuns))
      ->capture_default_str();
  command.add_option("--after", input.page.after, "Go on behind a page: its `next`");
  command.add_flag("--json", input.json, "One JSON object: runs, next");
}

void print_json(const RunPage& page) {
  const OrderedJson next = page.next.empty() ? OrderedJson() : OrderedJson(page.next);
  std::cout << one_line({{"runs", to_json(page.runs)}, {"next", next}}) << '\n';
}

void print_table(const RunPage& page, TimePoint now) {
  print_runs(std::cout, page.runs, now);
  std::cout.flush();
  // Beside the table, which may be piped on.
  if (page.runs.empty()) std::cerr << "no runs\n";
  if (!page.next.empty()) std::cerr << "more runs follow: --after " << page.next << '\n';
}

int run_list(const ListInput& input) {
  const TimePoint now = system_clock().now();
  const RunFilter filter = read_filter(input.chosen, now);
  const RunPage page = client_for_reading(input.provider).list(filter, input.page);
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
