#include "provider/sqlite/outbox.h"

#include <sqlite3.h>

#include "model/request.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

void check_line(Connection& db, InstanceKey key) {
  const auto ready = load_ready(db, key);
  if (ready && ready->problem) throw SqliteError::corrupt_row(ready->problem->message);
}

bool enqueue(WriteContext& context, InstanceKey to, const Message& message, bool shielded) {
  const auto ready = load_ready(context.db, to);
  if (!ready) return false;
  if (!ready->problem && (!ready->ready_at || message.visible_at < *ready->ready_at)) {
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
  if (ready->problem) {
    context.db.run(Sql::kLowerReady, to, queue_head(context.db, to).due());
  }
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

QueueHead queue_head(Connection& db, InstanceKey key) {
  QueueHead head;
  Query row = db.query(Sql::kEarliestMessage, key);
  if (!row.next()) return head;
  head.earliest = row.optional_time(0);
  if (!row.is_null(1)) head.unreadable = row.id<MessageId>(1);
  return head;
}

void append_event(WriteContext& context,
                  InstanceKey key,
                  ExecutionNo execution,
                  const HistoryEvent& event) {
  try {
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
                   event.at == TimePoint{} ? context.now : event.at);
  } catch (const SqliteError& error) {
    if (error.code() != SQLITE_CONSTRAINT) throw;
    throw_corrupt("history",
                  {key.value, execution.value, event.id.value},
                  "the event is there already, and the execution does not know it");
  }
}

}  // namespace perdure::sqlite
