#include "provider/sqlite/outbox.h"

#include "model/request.h"
#include "provider/sqlite/rows.h"

namespace perdure::sqlite {

bool enqueue(WriteContext& context, InstanceKey to, const Message& message, bool shielded) {
  const auto ready = load_ready(context.db, to);
  if (!ready) return false;
  if (!ready->ready_at || message.visible_at < *ready->ready_at) {
    context.db.run(Sql::kLowerReady, to, message.visible_at);
  }
  context.db.run(Sql::kInsertMessage,
                 to,
                 message.kind,
                 message.execution,
                 message.source,
                 or_null(message.name),
                 or_null(message.payload),
                 or_null(message.text),
                 or_null(message.failure.type),
                 or_null(message.failure.message),
                 message.failure.retryable,
                 or_null(message.failure.details),
                 shielded,
                 message.visible_at);
  context.topics.instances(ready->queue);
  return true;
}

void announce_status(WriteContext& context,
                     InstanceKey key,
                     ExecutionNo execution,
                     ExecutionStatus status) {
  context.db.run(Sql::kInsertChange, ChangeKind::kStatus, key, execution, status, context.now);
  context.db.run(Sql::kSetLastChange, key, execution, context.db.last_insert_id());
  context.topics.run(key);
}

std::optional<TimePoint> earliest_message(Connection& db, InstanceKey key) {
  Query row = db.query(Sql::kEarliestMessage, key);
  if (!row.next()) return std::nullopt;
  return row.time(0);
}

void append_event(WriteContext& context,
                  InstanceKey key,
                  ExecutionNo execution,
                  const Event& event) {
  context.db.run(Sql::kInsertEvent,
                 key,
                 execution,
                 event.id,
                 event.kind,
                 event.source,
                 or_null(event.name),
                 or_null(event.payload),
                 or_null(event.text),
                 event.number,
                 or_null(event.failure.type),
                 or_null(event.failure.message),
                 event.failure.retryable,
                 or_null(event.failure.details),
                 context.now);
}

}  // namespace perdure::sqlite
