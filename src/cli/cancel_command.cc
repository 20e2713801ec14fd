#include "cli/cancel_command.h"

#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "cli/filter_options.h"
#include "cli/printable.h"
#include "cli/run_json.h"
#include "cli/run_text.h"
#include "cli/stop_run.h"
#include "cli/store_client.h"
#include "client/chosen_runs.h"

namespace perdure::cli {

namespace {

/// What CLI11 fills in.
struct CancelInput {
  StopInput stop;
  FilterInput chosen;
  bool all = false;
  bool preview = false;
};

RunFilter filter_of(const CancelInput& input, TimePoint now) {
  if (!input.stop.request_id.empty()) {
    throw InvalidArgument(
        "--request-id is for one run with its ID; a cancel of several is simply given again");
  }
  RunFilter filter = read_filter(input.chosen, now);
  if (input.all || client::chooses(filter)) return filter;
  throw InvalidArgument(
      "which runs? Give an ID, or --name, --queue, --id-prefix, --parent, --since or --older-than; "
      "--all takes every live run");
}

void print_preview(const CancelPreview& preview, bool json, TimePoint now) {
  if (json) {
    std::cout << one_line({{"runs", preview.runs},
                           {"canceling", preview.canceling},
                           {"unreadable", preview.unreadable},
                           {"first", to_json(preview.first)}})
              << '\n';
    return;
  }
  print_runs(std::cout, preview.first, now);
  std::cout << "runs that would be canceled: " << preview.runs;
  const auto more = preview.runs - static_cast<std::int64_t>(preview.first.size());
  if (more > 0) std::cout << " (not shown: " << more << ")";
  if (preview.canceling > 0) std::cout << "; canceling already: " << preview.canceling;
  if (preview.unreadable > 0) std::cout << "; cannot be read: " << preview.unreadable;
  std::cout << '\n';
}

/// `stopped`: why not all was done; empty when it was.
void print_done(const RunsCanceled& done, bool json, const std::string& stopped) {
  if (json) {
    std::cout << one_line({{"canceled", done.canceled},
                           {"canceling", done.canceling},
                           {"ended", done.ended},
                           {"gone", done.gone},
                           {"unreadable", done.unreadable},
                           {"unknown", done.unknown},
                           {"ids", done.ids},
                           {"problems", done.problems},
                           {"stopped", stopped.empty() ? OrderedJson() : OrderedJson(stopped)}})
              << '\n';
    return;
  }
  std::cout << "runs canceled: " << done.canceled;
  if (done.canceling > 0) std::cout << "; canceling before: " << done.canceling;
  if (done.ended > 0) std::cout << "; ended before: " << done.ended;
  if (done.gone > 0) std::cout << "; deleted before: " << done.gone;
  if (done.unreadable > 0) std::cout << "; cannot be read: " << done.unreadable;
  if (done.unknown > 0) std::cout << "; not known: " << done.unknown;
  std::cout << '\n';
}

int cancel_runs(const CancelInput& input, const RunFilter& filter) {
  const Client client = client_for_writing(input.stop.provider);
  try {
    const RunsCanceled done =
        client.cancel_all(filter, input.stop.reason, {.every_run = input.all});
    print_done(done, input.stop.json, {});
    for (const std::string& problem : done.problems) std::cerr << printable(problem) << '\n';
    return done.unreadable > 0 ? kExitStore : kExitDone;
  } catch (const CancelAllStopped& error) {
    print_done(error.done(), input.stop.json, error.what());
    throw;
  }
}

int run_cancel(const CancelInput& input) {
  const TimePoint now = system_clock().now();
  const RunFilter filter = filter_of(input, now);
  if (!input.preview) return cancel_runs(input, filter);
  constexpr std::size_t kShown = 100;
  const Client client = client_for_reading(input.stop.provider);
  print_preview(client.preview_cancel_all(filter, {.every_run = input.all, .max_named = kShown}),
                input.stop.json,
                now);
  return kExitDone;
}

}  // namespace

Command add_cancel(CLI::App& app) {
  CLI::App* const command = app.add_subcommand(
      "cancel", "Stop a run, or all that apply, with descendants; their cleanup and undo run");
  auto input = std::make_shared<CancelInput>();
  CLI::Option* const id = add_stop_options(*command, input->stop);
  for (CLI::Option* const option : add_filter_options(*command, input->chosen)) {
    option->excludes(id);
  }
  command->add_flag("--all", input->all, "Every live run of the store, or of a --status")
      ->excludes(id);
  command->add_flag("--preview", input->preview, "Only tell which runs apply now")->excludes(id);
  return [input, id] {
    return id->count() > 0 ? stop_run(input->stop, &Client::cancel) : run_cancel(*input);
  };
}

}  // namespace perdure::cli
