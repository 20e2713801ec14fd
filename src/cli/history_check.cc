#include "cli/history_check.h"

#include <algorithm>
#include <exception>
#include <fstream>
#include <sstream>

namespace perdure::cli {

namespace {

using Kind = ReplayResult::Kind;

/// The versions of a name that the program has, for people; empty when it has none.
std::string versions_of(const detail::HandlerTable& table, const std::string& name) {
  std::string known;
  for (const detail::OrchestrationHandler* each : table.orchestrations()) {
    if (each->name != name) continue;
    known += (known.empty() ? "" : ", ") +
             (each->version.empty() ? std::string("one without a version") : each->version);
  }
  return known;
}

ReplayResult described(const replayer::RecordedHistory& history) {
  ReplayResult result;
  result.execution = history.execution.value;
  result.report.instance_id = history.instance_id;
  result.report.orchestration = history.name;
  result.report.version = history.version;
  result.report.events = history.events.size();
  return result;
}

ReplayResult unreadable(ReplayResult result, const std::string& problem) {
  result.kind = Kind::kUnreadable;
  result.problem = problem;
  return result;
}

/// As a dispatcher would choose: a run that has begun on code without a version stays on it.
bool is_served(const detail::HandlerTable& table, const replayer::RecordedHistory& history) {
  if (!history.version.empty() || !history.had_turn) {
    return table.find_orchestration(history.name, history.version) != nullptr;
  }
  const auto all = table.orchestrations();
  return std::any_of(all.begin(), all.end(), [&](const detail::OrchestrationHandler* each) {
    return each->name == history.name && each->version.empty();
  });
}

}  // namespace

ReplayResult HistoryCheck::check(const replayer::RecordedHistory& history, bool asked_for) const {
  try {
    return check(history, replayer::to_history_json(history), asked_for);
  } catch (const std::exception& error) {
    return unreadable(described(history), error.what());
  }
}

ReplayResult HistoryCheck::check_file(const std::string& file) const {
  ReplayResult result;
  try {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (in) {
      result = check(replayer::from_history_json(text.str()), text.str(), true);
    } else {
      result = unreadable(result, "it cannot be read");
    }
  } catch (const std::exception& error) {
    result = unreadable(result, error.what());
  }
  result.file = file;
  return result;
}

ReplayResult HistoryCheck::check(const replayer::RecordedHistory& history,
                                 std::string_view text,
                                 bool asked_for) const {
  ReplayResult result = described(history);
  const detail::HandlerTable& table = *registry_.table();
  if (!is_served(table, history)) {
    const std::string known = versions_of(table, history.name);
    result.kind = known.empty() && !asked_for ? Kind::kSkipped : Kind::kUnserved;
    result.problem = known.empty() ? "it is not registered in this program"
                                   : "this version is not registered; registered are: " + known;
    return result;
  }
  result.report = replayer_.check(text);
  result.kind = result.report.ok ? Kind::kOk : Kind::kMismatch;
  return result;
}

}  // namespace perdure::cli
