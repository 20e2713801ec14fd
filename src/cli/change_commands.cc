#include "cli/change_commands.h"

#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/json_argument.h"
#include "cli/printable.h"
#include "cli/run_json.h"
#include "cli/stop_run.h"
#include "cli/store_client.h"
#include "cli/times.h"

namespace perdure::cli {

namespace {

/// What CLI11 fills in.
struct RaiseInput {
  std::string provider;
  std::string id;
  std::string event;
  std::string payload = "null";
  std::string delay = "0s";
  std::string buffer_for = "0s";
  std::string request_id;
  bool json = false;
};

const char* name_of(EventDelivered answer) {
  switch (answer) {
    case EventDelivered::kDelivered:
      return "delivered";
    case EventDelivered::kBuffered:
      return "buffered";
    case EventDelivered::kNotFound:
      return "not_found";
    case EventDelivered::kEnded:
      return "ended";
  }
  return "";
}

int tell(const RaiseInput& input, EventDelivered answer) {
  switch (answer) {
    case EventDelivered::kDelivered:
    case EventDelivered::kBuffered:
      if (!input.json) {
        std::cout << "event '" << printable(input.event) << "' for run '" << printable(input.id)
                  << "': " << name_of(answer) << '\n';
      }
      return kExitDone;
    case EventDelivered::kNotFound:
      std::cerr << "raise: there is no run '" << printable(input.id)
                << "'; --buffer-for keeps the event for one that comes\n";
      return kExitNoSuchRun;
    case EventDelivered::kEnded:
      std::cerr << "raise: run '" << printable(input.id) << "' has ended: it takes no events\n";
      return kExitNo;
  }
  return kExitNo;
}

int run_raise(const RaiseInput& input) {
  const Json payload = read_payload_argument(input.payload);
  RaiseOptions options;
  options.delay = parse_duration("--delay", input.delay);
  options.buffer_for = parse_duration("--buffer-for", input.buffer_for);
  options.request_id = input.request_id;
  const EventDelivered answer =
      client_for_writing(input.provider)
          .raise_event(input.id, Event<Json>(input.event), payload, options);
  if (input.json) {
    std::cout << one_line({{"id", input.id}, {"event", input.event}, {"result", name_of(answer)}})
              << '\n';
  }
  return tell(input, answer);
}

}  // namespace

Command add_terminate(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("terminate", "End a run and its descendants at once, without cleanup");
  auto input = std::make_shared<StopInput>();
  add_stop_options(*command, *input)->required();
  return [input] { return stop_run(*input, &Client::terminate); };
}

Command add_raise(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("raise", "Send an event to a run");
  auto input = std::make_shared<RaiseInput>();
  command->add_option("id", input->id, "Of the run")->required();
  command->add_option("event", input->event, "Its name")->required();
  command->add_option("json", input->payload, "Its payload as JSON text; -: from standard input")
      ->capture_default_str();
  add_store_option(*command, input->provider);
  command->add_option("--delay", input->delay, "The run gets it so much later: 30s, 5m, 2h");
  command->add_option("--buffer-for", input->buffer_for, "Kept so long when there is no run yet");
  command->add_option("--request-id", input->request_id, "The same one is one event");
  command->add_flag("--json", input->json, "One JSON object: id, event, result");
  return [input] { return run_raise(*input); };
}

}  // namespace perdure::cli
