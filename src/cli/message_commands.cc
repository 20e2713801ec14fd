#include "cli/message_commands.h"

#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/json_argument.h"
#include "cli/printable.h"
#include "cli/run_json.h"
#include "cli/store_client.h"
#include "cli/times.h"
#include "client/made_id.h"

namespace perdure::cli {

namespace {

/// What CLI11 fills in.
struct MessageInput {
  std::string provider;
  std::string id;
  std::string name;
  std::string payload = "null";
  bool json = false;
};

struct SignalInput : MessageInput {
  std::string delay = "0s";
  std::string request_id;
};

struct UpdateInput : MessageInput {
  std::string update_id;
  std::string wait = "completed";
  std::string timeout = "30s";
};

struct QueryInput : MessageInput {
  std::string timeout = "10s";
};

/// `kind` is the name of the command.
void add_message_options(CLI::App& command, MessageInput& input, const std::string& kind) {
  command.add_option("id", input.id, "Of the run")->required();
  command.add_option("name", input.name, "Of the " + kind)->required();
  command.add_option("json", input.payload, "Its input as JSON text; -: from standard input")
      ->capture_default_str();
  add_store_option(command, input.provider);
}

std::string json_line(const Json& value) {
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

int tell_problem(const char* what, const std::exception& error, int code) {
  std::cerr << what << ": " << printable_lines(error.what()) << '\n';
  return code;
}

/// The client has one error for a store that does not answer and for a run that does not: a look
/// tells which of the two it was.
bool store_answers(const Client& client, const std::string& id) {
  constexpr Duration kLook = std::chrono::seconds(1);
  try {
    client.within(kLook).status(id);
    return true;
  } catch (const Exception&) {
    return false;
  }
}

bool is_stored(const Client& client, const std::string& id, const std::string& update_id) {
  if (!store_answers(client, id)) return false;
  try {
    client.find_update<Json>(id, update_id).wait(Duration::zero());
  } catch (const NotFound&) {
    return false;
  } catch (const Exception&) {
    // It is there; how it stands does not matter.
  }
  return true;
}

int run_signal(const SignalInput& input) {
  const Json payload = read_payload_argument(input.payload);
  SignalOptions options;
  options.delay = parse_duration("--delay", input.delay);
  options.request_id = input.request_id;
  client_for_writing(input.provider).signal(input.id, Signal<Json>(input.name), payload, options);
  if (input.json) {
    std::cout << one_line({{"id", input.id}, {"signal", input.name}, {"result", "stored"}}) << '\n';
  } else {
    std::cout << "signal '" << printable(input.name) << "' for run '" << printable(input.id)
              << "': stored\n";
  }
  return kExitDone;
}

/// `result` is null for an update that was waited for only until it was accepted.
void print_update(const UpdateInput& input, const std::string& update_id, const Json* result) {
  if (!input.json) {
    std::cout << (result != nullptr ? json_line(*result) : printable(update_id)) << '\n';
    return;
  }
  std::cout << one_line({{"id", input.id},
                         {"update", input.name},
                         {"update_id", update_id},
                         {"stage", result != nullptr ? "completed" : "accepted"},
                         {"result", result != nullptr ? OrderedJson(*result) : OrderedJson()}})
            << '\n';
}

void make_update(const UpdateInput& input,
                 const Client& client,
                 const Json& payload,
                 const UpdateOptions& options) {
  const Update<Json(Json)> update(input.name);
  const std::string update_id(options.update_id);
  if (input.wait == "accepted") {
    client.start_update(input.id, update, payload, options);
    return print_update(input, update_id, nullptr);
  }
  const Json result = client.update(input.id, update, payload, options);
  print_update(input, update_id, &result);
}

int run_update(const UpdateInput& input) {
  const Json payload = read_payload_argument(input.payload);
  const std::string update_id = client::request_id_or_made(input.update_id);
  UpdateOptions options;
  options.update_id = update_id;
  options.timeout = parse_duration("--timeout", input.timeout);
  const Client client = client_for_writing(input.provider);
  try {
    make_update(input, client, payload, options);
    return kExitDone;
  } catch (const UpdateRejected& error) {
    return tell_problem("update: rejected", error, kExitNo);
  } catch (const UpdateFailed& error) {
    return tell_problem("update: failed", error, kExitNo);
  } catch (const Unavailable& error) {
    if (!is_stored(client, input.id, update_id)) throw;
    return tell_problem("update", error, kExitTimedOut);
  }
}

int run_query(const QueryInput& input) {
  const Json payload = read_payload_argument(input.payload);
  QueryOptions options;
  options.timeout = parse_duration("--timeout", input.timeout);
  const Client client = client_for_writing(input.provider);
  try {
    const Json result = client.query(input.id, Query<Json(Json)>(input.name), payload, options);
    if (input.json) {
      std::cout << one_line({{"id", input.id}, {"query", input.name}, {"result", result}}) << '\n';
    } else {
      std::cout << json_line(result) << '\n';
    }
    return kExitDone;
  } catch (const QueryFailed& error) {
    return tell_problem("query: failed", error, kExitNo);
  } catch (const Unavailable& error) {
    if (!store_answers(client, input.id)) throw;
    return tell_problem("query", error, kExitTimedOut);
  }
}

}  // namespace

Command add_signal(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("signal", "Tell a run something; nobody waits for its handler");
  auto input = std::make_shared<SignalInput>();
  add_message_options(*command, *input, "signal");
  command->add_option("--delay", input->delay, "The run gets it so much later: 30s, 5m, 2h");
  command->add_option("--request-id", input->request_id, "The same one is one signal");
  command->add_flag("--json", input->json, "One JSON object: id, signal, result");
  return [input] { return run_signal(*input); };
}

Command add_update(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("update", "Ask a run for a change, and print its result");
  auto input = std::make_shared<UpdateInput>();
  add_message_options(*command, *input, "update");
  command->add_option("--update-id", input->update_id, "The same one is one update of the run");
  command->add_option("--wait", input->wait, "For what; accepted: prints the id of the update")
      ->check(CLI::IsMember({"accepted", "completed"}))
      ->capture_default_str();
  command
      ->add_option("--timeout", input->timeout, "Of the wait: 500ms, 30s, 5m; the update goes on")
      ->capture_default_str();
  command->add_flag("--json", input->json, "One JSON object: id, update, update_id, stage, result");
  return [input] { return run_update(*input); };
}

Command add_query(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("query", "Ask a run, or one that has ended, for something it knows");
  auto input = std::make_shared<QueryInput>();
  add_message_options(*command, *input, "query");
  command->add_option("--timeout", input->timeout, "Of the wait: 500ms, 30s, 5m")
      ->capture_default_str();
  command->add_flag("--json", input->json, "One JSON object: id, query, result");
  return [input] { return run_query(*input); };
}

}  // namespace perdure::cli
