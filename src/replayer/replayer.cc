#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include <perdure/errors.h>
#include <perdure/replayer.h>

#include "base/random.h"
#include "replay/execution.h"
#include "replay/wind_down.h"
#include "replayer/history_json.h"

namespace perdure {

namespace {

const detail::OrchestrationHandler& find(const Registry& registry,
                                         const replayer::RecordedHistory& history) {
  const detail::HandlerTable& table = *registry.table();
  if (!history.version.empty()) {
    const auto* same = table.find_orchestration(history.name, history.version);
    if (same != nullptr) return *same;
  }
  std::string known;
  for (const detail::OrchestrationHandler* each : table.orchestrations()) {
    if (each->name != history.name) continue;
    if (each->version.empty() && history.version.empty()) return *each;
    known += (known.empty() ? "" : ", ") +
             (each->version.empty() ? std::string("one without a version") : each->version);
  }
  // Before its first turn a run without a version takes the newest code; then it stays.
  const bool takes_newest = history.version.empty() && !history.had_turn;
  const auto* newest = takes_newest ? table.find_orchestration(history.name, "") : nullptr;
  if (newest != nullptr) return *newest;
  throw InvalidArgument("history: orchestration '" + history.name + "'" +
                        (history.version.empty() ? "" : " version " + history.version) +
                        " is not registered" + (known.empty() ? "" : "; registered are: " + known));
}

}  // namespace

std::string to_string(const ReplayReport& report) {
  std::string text = "orchestration '" + report.orchestration + "'" +
                     (report.version.empty() ? "" : " version " + report.version) + ", run '" +
                     report.instance_id + "', " + std::to_string(report.events) +
                     (report.ok ? " events: ok" : " events: MISMATCH");
  if (report.mismatch) {
    text += "\n  at event " + std::to_string(report.mismatch->position) +
            "\n  history has: " + report.mismatch->expected +
            "\n  the code gives: " + report.mismatch->actual + "\n  " + report.mismatch->hint;
  }
  for (const std::string& warning : report.warnings) text += "\n  warning: " + warning;
  return text;
}

Replayer::Replayer(Registry registry, ReplayerOptions options)
    : registry_(std::move(registry)), options_(options) {}

ReplayReport Replayer::check(std::string_view history_json) const {
  replayer::RecordedHistory history = replayer::from_history_json(history_json);
  const detail::OrchestrationHandler& main = find(registry_, history);
  ReplayReport report;
  report.orchestration = history.name;
  report.version = history.version;
  report.instance_id = history.instance_id;
  report.events = history.events.size();
  if (!history.had_turn) {
    report.ok = true;
    report.warnings.emplace_back("the run has had no turn: there is nothing to check");
    return report;
  }

  replay::ExecutionOptions options;
  options.arguments =
      options_.strict ? replay::ArgumentCheck::kStrict : replay::ArgumentCheck::kWarn;
  SeededRandom random(0);
  replay::Execution execution(
      {history.instance_id, history.execution, history.name, main.version, history.queue},
      main,
      options,
      random);
  // What was recorded without the code is not its to repeat.
  if (const auto last = replay::wound_down_after(history.events)) {
    history.events.resize(std::min(history.events.size(), static_cast<std::size_t>(last->value)));
  }
  execution.replay(std::move(history.events), true);
  report.warnings = execution.take_warnings();
  if (const auto& found = execution.mismatch()) {
    report.mismatch =
        ReplayMismatch{found->position.value, found->expected, found->actual, found->hint};
  }
  report.ok = !report.mismatch;
  return report;
}

ReplayReport Replayer::check_file(const std::filesystem::path& file) const {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw InvalidArgument(file.string() + ": it cannot be read");
  try {
    return check(text.str());
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(file.string() + ": " + error.what());
  }
}

}  // namespace perdure
