#include "provider/sqlite/rows.h"

#include <sqlite3.h>

#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/text_list.h"

namespace perdure::sqlite {

namespace {

template <StoredCode E>
E read_code(const Query& row, int column, std::string_view table, std::int64_t key) {
  if (!row.is_integer(column)) throw_corrupt(table, key, "a code is no number");
  const auto value = row.code<E>(column);
  if (!value) {
    throw_corrupt(table, key, "unknown code " + std::to_string(row.integer(column)));
  }
  return *value;
}

std::optional<InstanceRow> read_instance(Query row) {
  if (!row.next()) return std::nullopt;
  InstanceRow instance;
  instance.key = row.id<InstanceKey>(0);
  instance.id = row.text(1);
  instance.name = row.text(2);
  instance.version = row.text(3);
  instance.queue = row.text(4);
  instance.current = row.id<ExecutionNo>(5);
  if (!row.is_null(6)) {
    instance.parent =
        ParentLink{.instance = row.id<InstanceKey>(6),
                   .execution = row.id<ExecutionNo>(7),
                   .event = row.id<EventId>(8),
                   .close_policy = read_code<ClosePolicy>(row, 9, "instances", instance.key.value)};
  }
  instance.created_at = row.time(10);
  return instance;
}

}  // namespace

void throw_corrupt(std::string_view table, std::int64_t key, std::string_view what) {
  throw SqliteError(
      SQLITE_CORRUPT, "table " + std::string(table) + ", key " + std::to_string(key), what);
}

Failure read_failure(const Query& row, int column) {
  Failure failure;
  failure.type = row.text(column);
  failure.message = row.text(column + 1);
  failure.retryable = row.flag(column + 2);
  failure.details = row.text(column + 3);
  return failure;
}

std::optional<InstanceRow> find_instance(Connection& db, const std::string& id) {
  return read_instance(db.query(Sql::kFindInstance, id));
}

std::optional<InstanceRow> load_instance(Connection& db, InstanceKey key) {
  return read_instance(db.query(Sql::kLoadInstance, key));
}

std::optional<ExecutionRow> load_execution(Connection& db, InstanceKey key, ExecutionNo execution) {
  Query row = db.query(Sql::kLoadExecution, key, execution);
  if (!row.next()) return std::nullopt;
  ExecutionRow result;
  ExecutionInfo& info = result.info;
  info.execution = execution;
  info.status = read_code<ExecutionStatus>(row, 0, "executions", key.value);
  info.blocked = read_code<BlockedReason>(row, 1, "executions", key.value);
  info.blocked_detail = row.text(2);
  info.blocked_since = row.optional_time(3);
  info.output = row.text(4);
  info.failure = read_failure(row, 5);
  info.cancel_requested_at = row.optional_time(9);
  info.cancel_reason = row.text(10);
  info.canceled_at = row.optional_time(11);
  info.deadline = row.optional_time(12);
  info.custom_status = row.text(13);
  info.custom_status_version = row.integer(14);
  info.last_event = row.id<EventId>(15);
  info.last_turn = LockToken{row.id<Epoch>(16), row.integer(17)};
  result.last_change = row.id<ChangeSeq>(18);
  info.started_at = row.time(19);
  info.completed_at = row.optional_time(20);
  info.engine_version = row.text(21);
  return result;
}

std::optional<ReadyRow> load_ready(Connection& db, InstanceKey key) {
  Query row = db.query(Sql::kLoadReady, key);
  if (!row.next()) return std::nullopt;
  ReadyRow ready;
  ready.queue = row.text(0);
  ready.ready_at = row.optional_time(1);
  ready.not_before = row.time(2);
  if (!row.is_null(4)) {
    ready.lock = LockToken{row.id<Epoch>(3), row.integer(4)};
    ready.locked_until = row.time(5);
  }
  ready.marked_until = row.time(6);
  ready.losses = static_cast<int>(row.integer(7));
  ready.deferrals = static_cast<int>(row.integer(8));
  return ready;
}

Event read_event(const Query& row, InstanceKey key) {
  Event event;
  event.id = row.id<EventId>(0);
  event.kind = read_code<EventKind>(row, 1, "history", key.value);
  event.source = row.id<EventId>(2);
  event.name = row.text(3);
  event.payload = row.text(4);
  event.text = row.text(5);
  event.number = row.integer(6);
  event.failure = read_failure(row, 7);
  event.at = row.time(11);
  return event;
}

Message read_message(const Query& row) {
  Message message;
  message.id = row.id<MessageId>(0);
  message.kind = read_code<MessageKind>(row, 1, "orchestrator_queue", message.id.value);
  message.execution = row.id<ExecutionNo>(2);
  message.source = row.id<EventId>(3);
  message.name = row.text(4);
  message.payload = row.text(5);
  message.text = row.text(6);
  message.failure = read_failure(row, 7);
  message.visible_at = row.time(11);
  return message;
}

WorkItem read_work(const Query& row, WorkId id) {
  WorkItem item;
  item.id = id;
  item.owner.kind = read_code<OwnerKind>(row, 0, "worker_queue", id.value);
  item.owner.instance = row.id<InstanceKey>(1);
  item.owner.execution = row.id<ExecutionNo>(2);
  item.owner.event = row.id<EventId>(3);
  NewWork& work = item.work;
  work.event = item.owner.event;
  work.queue = row.text(4);
  work.name = row.text(5);
  work.input = row.text(6);
  work.priority = static_cast<int>(row.integer(7));
  work.visible_at = row.time(8);
  work.on_cancel = read_code<OnCancel>(row, 9, "worker_queue", id.value);
  work.shielded = row.flag(10);
  work.retry.max_attempts = static_cast<int>(row.integer(11));
  work.retry.first_delay = Duration{row.integer(12)};
  work.retry.backoff = row.real(13);
  work.retry.max_delay = Duration{row.integer(14)};
  work.retry.jitter = row.real(15);
  work.retry.non_retryable = split_list(row.text(16));
  work.timeouts.start_to_close = Duration{row.integer(17)};
  work.timeouts.schedule_to_start = Duration{row.integer(18)};
  work.timeouts.schedule_to_close = Duration{row.integer(19)};
  work.timeouts.heartbeat = Duration{row.integer(20)};
  item.failures = static_cast<int>(row.integer(21));
  item.losses = static_cast<int>(row.integer(22));
  item.deferrals = static_cast<int>(row.integer(23));
  item.last_failure = read_failure(row, 24);
  item.heartbeat_details = row.text(28);
  item.created_at = row.time(29);
  item.first_claimed_at = row.time(30);
  item.claimed_at = row.time(31);
  item.instance_id = row.text(32);
  item.orchestration = row.text(33);
  item.orchestration_version = row.text(34);
  return item;
}

}  // namespace perdure::sqlite
