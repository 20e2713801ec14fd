#include "cli/replay_command.h"

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/history_check.h"
#include "cli/replay_printer.h"
#include "cli/stored_runs.h"
#include "provider/open/open.h"

namespace perdure::cli {

namespace {

constexpr const char* kNoCode =
    "replay runs the code of your orchestrations against stored histories, and this program has "
    "registered none. Call\n"
    "    int main(int argc, char** argv) { return pd::cli_main(argc, argv, registry()); }\n"
    "(<perdure/cli.h>) in the program that has them, and run that: yourprogram replay ..\n";

/// What CLI11 fills in.
struct ReplayInput {
  std::string program;
  Registry registry;
  std::vector<std::string> files;
  std::string provider;
  ReplaySelection selection;
  bool all = false;
  bool running = false;
  bool ended = false;
  ReplayerOptions options;
  bool json = false;
};

void add_options(CLI::App& command, ReplayInput& input) {
  auto* const files = command.add_option("files", input.files, "Histories as JSON files");
  auto* const store =
      command.add_option("--provider", input.provider, "Store: sqlite:PATH, one that exists")
          ->excludes(files);
  command.add_option("--id", input.selection.ids, "Only this run; may be repeated")->needs(store);
  command.add_option("--name", input.selection.name, "Only runs of this orchestration")
      ->needs(store);
  auto* const which = command.add_option_group("which", "Which executions; all by default");
  which->add_flag("--all", input.all, "All that are stored")->needs(store);
  which->add_flag("--running", input.running, "Those that have not ended")->needs(store);
  which->add_flag("--ended", input.ended, "Those that have ended")->needs(store);
  which->require_option(0, 1);
  command.add_flag("--strict", input.options.strict, "Changed arguments of a call are a mismatch");
  command.add_flag("--json", input.json, "One JSON object to a line, the last one a summary");
}

int refuse(const ReplayInput& input, const std::string& why, int code) {
  std::cerr << input.program << " replay: " << why << '\n';
  return code;
}

/// Empty when the command line can be followed.
std::string mistake_in(const ReplayInput& input) {
  if (input.files.empty() && input.provider.empty()) {
    return "give a store (--provider sqlite:PATH) or files";
  }
  const std::string& name = input.selection.name;
  const detail::HandlerTable& table = *input.registry.table();
  if (name.empty() || table.find_orchestration(name, "") != nullptr) return {};
  std::string known;
  for (const detail::OrchestrationHandler* each : table.orchestrations()) {
    known += (known.empty() ? "" : ", ") + each->name;
  }
  return "--name '" + name + "': no such orchestration is registered; registered are: " + known;
}

int run_replay(ReplayInput& input) {
  if (input.registry.table()->orchestrations().empty()) {
    return refuse(input, kNoCode, kExitUsage);
  }
  const std::string mistake = mistake_in(input);
  if (!mistake.empty()) return refuse(input, mistake, kExitUsage);
  if (input.running) input.selection.which = ReplaySelection::Which::kRunning;
  if (input.ended) input.selection.which = ReplaySelection::Which::kEnded;

  const HistoryCheck check(input.registry, input.options);
  ReplayPrinter printer(std::cout, input.json);
  for (const std::string& file : input.files) printer.add(check.check_file(file));
  Status read;
  if (!input.provider.empty()) {
    auto store = open_provider_for_reading(input.provider);
    if (!store.ok()) return refuse(input, store.error().message, kExitStore);
    StoredRuns runs(**store, check, [&](const ReplayResult& result) { printer.add(result); });
    read = runs.replay(input.selection);
  }
  printer.finish();
  const int code = printer.exit_code();
  if (read.ok()) return code;
  return refuse(input, read.error().message, code == 0 ? kExitStore : code);
}

}  // namespace

Command add_replay(CLI::App& app, Registry registry) {
  CLI::App* const command =
      app.add_subcommand("replay", "Run today's code against stored histories");
  auto input = std::make_shared<ReplayInput>();
  input->program = app.get_name();
  input->registry = std::move(registry);
  add_options(*command, *input);
  return [input] {
    try {
      return run_replay(*input);
    } catch (const std::exception& error) {
      return refuse(*input, error.what(), kExitStore);
    }
  };
}

}  // namespace perdure::cli
