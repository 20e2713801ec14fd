#pragma once

#include <optional>
#include <string>

#include "model/event.h"
#include "model/message.h"
#include "model/status.h"
#include "provider/sqlite/writer.h"

/// Messages to instances. Requires: an open write transaction.
namespace perdure::sqlite {

/// Puts a message into the queue of an instance and lowers its `ready_at`. False, and nothing is
/// written, when the instance has no live execution: a message for nobody never blocks anything.
/// `message.id` is ignored. A damaged line does not keep the message out: the sender is another.
bool enqueue(WriteContext& context, InstanceKey to, const Message& message, bool shielded = false);

/// Writes a row of the change feed and wakes who waits for the run.
void announce_status(WriteContext& context,
                     InstanceKey key,
                     ExecutionNo execution,
                     ExecutionStatus status);

/// Throws when the line of the instance is damaged; for callers to whom that is to be told.
void check_line(Connection& db, InstanceKey key);

/// The first messages of an instance.
struct QueueHead {
  std::optional<TimePoint> earliest;    ///< when it is visible; nullopt: there is none
  std::optional<MessageId> unreadable;  ///< a message whose time cannot be read, if there is one

  /// When the instance wants a turn: at once for a message that cannot be read, so that somebody
  /// is told.
  std::optional<TimePoint> due() const { return unreadable ? TimePoint{} : earliest; }
};
QueueHead queue_head(Connection& db, InstanceKey key);

/// Appends an event; `event.at` is replaced by the time of the group.
void append_event(WriteContext& context,
                  InstanceKey key,
                  ExecutionNo execution,
                  const HistoryEvent& event);

}  // namespace perdure::sqlite
