#include "cli/stop_run.h"

#include <iostream>

#include <CLI/CLI.hpp>

#include "cli/exit_codes.h"
#include "cli/printable.h"
#include "cli/run_json.h"
#include "cli/store_client.h"

namespace perdure::cli {

namespace {

/// The run ends, or has ended, because somebody stopped it.
bool is_stopped(ExecutionStatus status) {
  return status == ExecutionStatus::kCanceling || status == ExecutionStatus::kCanceled ||
         status == ExecutionStatus::kTerminated;
}

}  // namespace

CLI::Option* add_stop_options(CLI::App& command, StopInput& input) {
  CLI::Option* const id = command.add_option("id", input.id, "Of the run");
  add_store_option(command, input.provider);
  command.add_option("--reason", input.reason, "Why: stored, and shown with the run")
      ->capture_default_str();
  command.add_option("--request-id", input.request_id, "The same one is done once");
  command.add_flag("--json", input.json, "One JSON object");
  return id;
}

int stop_run(const StopInput& input, Stop stop) {
  const CancelResult result =
      (client_for_writing(input.provider).*stop)(input.id, input.reason, input.request_id);
  const int code = result.changed || is_stopped(result.status) ? kExitDone : kExitNo;
  const std::string status(to_string(result.status));
  if (input.json) {
    std::cout << one_line({{"id", input.id}, {"changed", result.changed}, {"status", status}})
              << '\n';
    return code;
  }
  (code == kExitDone ? std::cout : std::cerr)
      << "run '" << printable(input.id) << "': " << status
      << (result.changed ? "" : "; that it was before, nothing was changed") << '\n';
  return code;
}

}  // namespace perdure::cli
