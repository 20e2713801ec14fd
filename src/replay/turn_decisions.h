#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/decisions.h"
#include "model/event.h"
#include "model/status.h"
#include "model/work_item.h"
#include "replay/mismatch.h"

namespace perdure::replay {

/// All that a turn decided; whoever runs turns makes a commit of it.
struct TurnDecisions {
  std::vector<HistoryEvent> events;
  ExecutionStatus status = ExecutionStatus::kRunning;
  std::string output;
  Failure failure;
  std::optional<std::string> custom_status;
  std::vector<NewWork> work;
  std::vector<EventId> canceled_work;
  std::vector<NewTimer> timers;
  std::vector<EventId> canceled_timers;
  std::vector<NewChild> children;
  std::vector<EventId> canceled_children;
  std::optional<NextExecution> next;
  std::vector<Reply> replies;
  std::optional<TimePoint> drain_at;  ///< handlers are waited for until then
  /// With `next`: messages that the next execution is to get.
  std::vector<MessageId> kept_messages;
};

inline constexpr int kWarningLevel = 2;  ///< LogLevel::kWarning

struct LogLine {
  int level = 0;
  std::string text;
};

/// The answer of a turn. With a mismatch nothing else counts: the execution is broken and is to be
/// thrown away, the run is shown as blocked.
struct TurnResult {
  std::optional<Mismatch> mismatch;
  TurnDecisions decisions;
  std::vector<std::string> warnings;  ///< commands with other arguments than in history
  std::vector<LogLine> log;           ///< to be written after the commit, never before
};

}  // namespace perdure::replay
