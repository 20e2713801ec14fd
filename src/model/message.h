#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "model/codes.h"
#include "model/failure.h"
#include "model/ids.h"

/// Messages: what an instance has not looked at yet. The orchestrator queue holds them; a turn
/// consumes those that its fetch marked and turns them into events.
namespace perdure {

/// Stored in every row of the orchestrator queue. Never renumber or reuse.
enum class MessageKind : std::uint8_t {
  kStart = 1,  ///< execution: it exists with its `started` event and wants its first turn
  kActivityCompleted = 2,  ///< execution, source, payload
  kActivityFailed = 3,     ///< execution, source, failure
  kActivityCanceled = 4,   ///< execution, source
  kTimerFired = 5,         ///< execution, source; visible at its due time
  kEventRaised = 6,        ///< name, payload; belongs to the instance, not to one execution
  kChildCompleted = 7,     ///< execution, source, payload
  kChildFailed = 8,        ///< execution, source, failure
  kChildCanceled = 9,      ///< execution, source, text = reason
  kChildTerminated = 10,   ///< execution, source, text = reason
  kChildStartFailed = 11,  ///< execution, source, text = why
  kCancel = 12,            ///< text = reason
  kCleanupDeadline = 13,   ///< execution; visible when the cleanup time is over
  kRunDeadline = 14,       ///< execution; visible at the deadline of the run
  kDrainDeadline = 15,     ///< execution; visible when accepted handlers must have finished
  kSignal = 16,            ///< name, payload
  kUpdate = 17,            ///< name, payload, text = update id: its request row waits for a reply
  kQuery = 18,             ///< name, payload, text = query id: likewise
  kWake = 19,  ///< execution: nothing is told; code is there that may take what the run has kept
};

template <>
struct CodeTable<MessageKind> {
  static std::span<const CodeRow<MessageKind>> rows();
};

/// One row of the orchestrator queue, as a turn sees it. Order: (visible_at, id), so an event that
/// came before a timer was due is seen before it, and messages of one moment in the order of
/// arrival.
struct Message {
  MessageId id;
  MessageKind kind = MessageKind::kStart;
  ExecutionNo execution;  ///< only for answers to commands and for deadlines; 0 = the instance
  EventId source;         ///< the command that is answered; 0 = none
  std::string name;
  std::string payload;
  std::string text;
  Failure failure;
  TimePoint visible_at{};

  bool operator==(const Message&) const = default;
};

/// True for kinds that belong to one execution and are dropped when it continues as new: its start,
/// answers, timers, deadlines and wakes. The others (events, signals, updates, a cancel) are carried over
/// to the next execution. When a run ends for good all its messages go.
bool belongs_to_execution(MessageKind kind);

}  // namespace perdure
