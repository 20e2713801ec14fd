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
/// `message.id` is ignored.
bool enqueue(WriteContext& context, InstanceKey to, const Message& message, bool shielded = false);

/// Writes a row of the change feed and wakes who waits for the run.
void announce_status(WriteContext& context,
                     InstanceKey key,
                     ExecutionNo execution,
                     ExecutionStatus status);

/// When the earliest message of an instance is visible; nullopt when it has none.
std::optional<TimePoint> earliest_message(Connection& db, InstanceKey key);

/// Appends an event; `event.at` is replaced by the time of the group.
void append_event(WriteContext& context,
                  InstanceKey key,
                  ExecutionNo execution,
                  const Event& event);

}  // namespace perdure::sqlite
