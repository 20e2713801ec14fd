#include "cli/show_commands.h"

#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "cli/printable.h"
#include "cli/run_json.h"
#include "cli/run_text.h"
#include "cli/store_client.h"
#include "cli/times.h"

namespace perdure::cli {

namespace {

/// What CLI11 fills in.
struct ShowInput {
  std::string provider;
  std::string id;
  std::int64_t execution = 0;
  bool tree = false;
  std::string timeout;
  bool json = false;
};

void print(const RunStatus& status, const RunTree* tree, bool json) {
  if (json) {
    OrderedJson out = to_json(status);
    if (tree != nullptr) out["tree"] = to_json(*tree);
    std::cout << one_line(out) << '\n';
    return;
  }
  const TimePoint now = system_clock().now();
  print_status(std::cout, status, now);
  if (tree == nullptr) return;
  std::cout << '\n';
  print_tree(std::cout, *tree, now);
  std::cout.flush();
  if (tree->more) std::cerr << "the tree is larger than this\n";
}

int run_show(const ShowInput& input) {
  const Client client = client_for_reading(input.provider);
  const RunStatus status = client.status(input.id, input.execution);
  std::optional<RunTree> tree;
  if (input.tree) tree = client.tree(input.id);
  print(status, tree ? &*tree : nullptr, input.json);
  return kExitDone;
}

int code_of_end(ExecutionStatus status) {
  switch (status) {
    case ExecutionStatus::kCompleted:
      return kExitDone;
    case ExecutionStatus::kCanceled:
    case ExecutionStatus::kTerminated:
      return kExitStopped;
    default:
      return kExitNo;
  }
}

int run_wait(const ShowInput& input) {
  const Duration timeout =
      input.timeout.empty() ? Duration::max() : parse_duration("--timeout", input.timeout);
  const Client client = client_for_reading(input.provider);
  try {
    const RunStatus end = client.wait(input.id, timeout);
    print(end, nullptr, input.json);
    return code_of_end(end.status);
  } catch (const Unavailable& error) {
    // The client has one error for a store that does not answer and for a run that does not end.
    // Which of the two it was tells a look: it throws with the store's own error.
    constexpr Duration kLook = std::chrono::seconds(1);
    const RunStatus now = client.within(kLook).status(input.id);
    if (is_terminal(now.status)) {
      print(now, nullptr, input.json);
      return code_of_end(now.status);
    }
    std::cerr << "wait: " << printable_lines(error.what()) << '\n';
    return kExitTimedOut;
  }
}

}  // namespace

Command add_show(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("show", "One run as it stands");
  auto input = std::make_shared<ShowInput>();
  command->add_option("id", input->id, "Of the run")->required();
  add_store_option(*command, input->provider);
  command->add_option("--execution", input->execution, "An earlier one; the current one by default")
      ->check(CLI::PositiveNumber);
  command->add_flag("--tree", input->tree, "Also its children, and theirs");
  command->add_flag("--json", input->json, "One JSON object");
  return [input] { return run_show(*input); };
}

Command add_wait(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("wait", "Sleep until a run has ended");
  auto input = std::make_shared<ShowInput>();
  command->add_option("id", input->id, "Of the run")->required();
  add_store_option(*command, input->provider);
  command->add_option("--timeout", input->timeout, "500ms, 30s, 5m, 2h; without end by default");
  command->add_flag("--json", input->json, "One JSON object, that of show");
  return [input] { return run_wait(*input); };
}

}  // namespace perdure::cli
