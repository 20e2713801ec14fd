#include "cli/history_command.h"

#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/time.h"
#include "cli/printable.h"
#include "cli/store_client.h"
#include "cli/text_table.h"
#include "cli/times.h"
#include "model/event.h"

namespace perdure::cli {

namespace {

/// What CLI11 fills in.
struct HistoryInput {
  std::string provider;
  std::string id;
  std::int64_t execution = 0;
  bool json = false;
};

/// What else there is to say about an event, in one cell.
std::string detail_of(const RunEvent& event) {
  constexpr std::size_t kColumns = 80;
  std::string detail;
  const auto add = [&detail](const std::string& text) {
    if (!text.empty()) detail += (detail.empty() ? "" : " ") + text;
  };
  if (event.kind == to_string(EventKind::kTimerCreated)) {
    add("due " + local_time(time_from_micros(event.number)));
  }
  add(event.text);
  // The policy of an undo is for the engine alone.
  if (event.kind != to_string(EventKind::kUndoOwed)) add(shortened(event.payload, kColumns));
  if (!event.failure.type.empty()) add(event.failure.type + ": " + event.failure.message);
  return shortened(detail, kColumns);
}

void add_row(TextTable& table, const RunEvent& event) {
  table.add({std::to_string(event.id),
             local_time(event.at),
             event.kind,
             event.source == 0 ? "" : std::to_string(event.source),
             event.name,
             detail_of(event)});
}

void print_table(const Client& client, const HistoryInput& input) {
  TextTable table({"EVENT", "AT", "KIND", "OF", "NAME", "DETAIL"});
  HistoryOptions options;
  options.execution = input.execution;
  for (bool more = true; more;) {
    const HistoryEvents page = client.history(input.id, options);
    for (const RunEvent& event : page.events) add_row(table, event);
    more = page.more && !page.events.empty();
    // The run may begin another execution meanwhile.
    options.execution = page.execution;
    if (more) options.after = page.events.back().id;
  }
  table.print(std::cout);
}

int run_history(const HistoryInput& input) {
  const Client client = client_for_reading(input.provider);
  if (!input.json) {
    print_table(client, input);
    return kExitDone;
  }
  const std::string json = client.history_json(input.id, input.execution);
  std::cout << json << (json.ends_with('\n') ? "" : "\n");
  return kExitDone;
}

}  // namespace

Command add_history(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("history", "What a run decided and learned, event by event");
  auto input = std::make_shared<HistoryInput>();
  command->add_option("id", input->id, "Of the run")->required();
  add_store_option(*command, input->provider);
  command->add_option("--execution", input->execution, "An earlier one; the current one by default")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", input->json, "The file that replay takes: docs/history-json.md");
  return [input] { return run_history(*input); };
}

}  // namespace perdure::cli
