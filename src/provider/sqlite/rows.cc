#include "provider/sqlite/rows.h"

#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/text_list.h"

namespace perdure::sqlite {

namespace {

std::optional<InstanceRow> read_instance(const Query& query) {
  const auto key = query.id<InstanceKey>(0);
  const CheckedRow row(query, "instances", {key.value});
  InstanceRow instance;
  instance.key = key;
  instance.id = row.name(1);
  instance.name = row.name(2);
  instance.version = row.text(3);
  instance.queue = row.name(4);
  instance.current = row.id<ExecutionNo>(5);
  if (!row.is_null(6)) {
    instance.parent = ParentLink{.instance = row.id<InstanceKey>(6),
                                 .execution = row.id<ExecutionNo>(7),
                                 .event = row.id<EventId>(8),
                                 .close_policy = row.code<ClosePolicy>(9),
                                 .shielded = row.flag(12)};
  }
  instance.created_at = row.time(10);
  instance.priority = row.small(11);
  return instance;
}

/// Lock and queue first: whoever holds the lock can give it back whatever else is damaged.
void read_ready(const CheckedRow& row, ReadyRow& ready) {
  if (!row.is_null(4)) {
    const LockToken lock{row.id<Epoch>(3), row.at_least(1, 4)};
    ready.locked_until = row.time(5);
    ready.lock = lock;
  }
  ready.queue = row.name(0);
  ready.ready_at = row.optional_time(1);
  ready.not_before = row.time(2);
  ready.marked_until = row.optional_time(6).value_or(TimePoint{});
  ready.losses = row.small_count(7);
  ready.deferrals = row.small_count(8);
  ready.cleanup_at = row.optional_time(9);
  ready.priority = row.small(10);
}

}  // namespace

std::optional<InstanceRow> find_instance(Connection& db, const std::string& id) {
  Query row = db.query(Sql::kFindInstance, id);
  return row.next() ? read_instance(row) : std::nullopt;
}

std::optional<InstanceRow> load_instance(Connection& db, InstanceKey key) {
  Query row = db.query(Sql::kLoadInstance, key);
  return row.next() ? read_instance(row) : std::nullopt;
}

std::optional<InstanceKey> find_key(Connection& db, const std::string& id) {
  Query row = db.query(Sql::kFindInstance, id);
  if (!row.next()) return std::nullopt;
  return row.id<InstanceKey>(0);
}

bool may_wait(Connection& db, InstanceKey key, ExecutionNo execution) {
  Query row = db.query(Sql::kCurrentExecution, key);
  if (!row.next()) return false;
  return !row.is_integer(0) || row.id<ExecutionNo>(0) == execution;
}

std::optional<ExecutionRow> load_execution(Connection& db, InstanceKey key, ExecutionNo execution) {
  Query query = db.query(Sql::kLoadExecution, key, execution);
  if (!query.next()) return std::nullopt;
  const CheckedRow row(query, "executions", {key.value, execution.value});
  ExecutionRow result;
  ExecutionInfo& info = result.info;
  info.execution = execution;
  info.status = row.code<ExecutionStatus>(0);
  info.blocked = row.code<BlockedReason>(1);
  info.blocked_detail = row.text(2);
  info.blocked_since = row.optional_time(3);
  info.output = row.text(4);
  info.failure = row.failure(5);
  info.cancel_requested_at = row.optional_time(9);
  info.cancel_reason = row.text(10);
  info.canceled_at = row.optional_time(11);
  info.deadline = row.optional_time(12);
  info.custom_status = row.text(13);
  info.custom_status_version = row.count(14);
  info.last_event = row.id<EventId>(15);
  info.last_turn = LockToken{row.reference<Epoch>(16), row.count(17)};
  result.last_change = row.reference<ChangeSeq>(18);
  info.started_at = row.time(19);
  info.completed_at = row.optional_time(20);
  info.engine_version = row.text(21);
  return result;
}

ExecutionRow load_current(Connection& db, const InstanceRow& instance) {
  auto execution = load_execution(db, instance.key, instance.current);
  if (!execution) {
    throw_corrupt("executions", {instance.key.value, instance.current.value}, "the row is missing");
  }
  return std::move(*execution);
}

std::optional<ReadyRow> load_ready(Connection& db, InstanceKey key) {
  Query row = db.query(Sql::kLoadReady, key);
  if (!row.next()) return std::nullopt;
  ReadyRow ready;
  try {
    read_ready(CheckedRow(row, "instance_ready", {key.value}), ready);
  } catch (const SqliteError& error) {
    if (!is_corrupt(error)) throw;
    ready.problem = to_error(error);
  }
  return ready;
}

std::optional<Error> line_problem(Connection& db, InstanceKey key) {
  const auto ready = load_ready(db, key);
  if (ready) return ready->problem;
  return corrupt("table instance_ready, key " + std::to_string(key.value) + ": the row is missing");
}

HistoryEvent read_event(const Query& query, InstanceKey key, ExecutionNo execution) {
  const CheckedRow row(query, "history", {key.value, execution.value, query.integer(0)});
  HistoryEvent event;
  event.id = row.id<EventId>(0);
  event.kind = row.code<EventKind>(1);
  event.source = row.reference<EventId>(2);
  event.name = row.text(3);
  event.payload = row.text(4);
  event.text = row.text(5);
  event.number = row.integer(6);
  event.failure = row.failure(7);
  event.at = row.time(11);
  return event;
}

Message read_message(const Query& query) {
  Message message;
  message.id = query.id<MessageId>(0);
  const CheckedRow row(query, "orchestrator_queue", {message.id.value});
  message.kind = row.code<MessageKind>(1);
  message.execution = row.reference<ExecutionNo>(2);
  message.source = row.reference<EventId>(3);
  message.name = row.text(4);
  message.payload = row.text(5);
  message.text = row.text(6);
  message.failure = row.failure(7);
  message.visible_at = row.time(11);
  return message;
}

WorkOwner read_owner(const Query& query, WorkId id) {
  const CheckedRow row(query, "worker_queue", {id.value});
  WorkOwner owner;
  owner.kind = row.code<OwnerKind>(0);
  owner.instance = row.id<InstanceKey>(1);
  owner.execution = row.id<ExecutionNo>(2);
  owner.event = row.id<EventId>(3);
  return owner;
}

WorkItem read_work(const Query& query, WorkId id) {
  const CheckedRow row(query, "worker_queue", {id.value});
  WorkItem item;
  item.id = id;
  item.owner = read_owner(query, id);
  NewWork& work = item.work;
  work.event = item.owner.event;
  work.queue = row.name(4);
  work.name = row.name(5);
  work.input = row.text(6);
  work.priority = row.small(7);
  work.visible_at = row.time(8);
  work.on_cancel = row.code<OnCancel>(9);
  work.shielded = row.flag(10);
  work.retry.max_attempts = row.small(11);
  work.retry.first_delay = row.duration(12);
  work.retry.backoff = row.real(13);
  work.retry.max_delay = row.duration(14);
  work.retry.jitter = row.real(15);
  work.retry.non_retryable = split_list(row.text(16));
  work.timeouts.start_to_close = row.duration(17);
  work.timeouts.schedule_to_start = row.duration(18);
  work.timeouts.schedule_to_close = row.duration(19);
  work.timeouts.heartbeat = row.duration(20);
  item.failures = row.small_count(21);
  item.losses = row.small_count(22);
  item.deferrals = row.small_count(23);
  item.last_failure = row.failure(24);
  item.heartbeat_details = row.text(28);
  item.created_at = row.time(29);
  item.first_claimed_at = row.time(30);
  item.claimed_at = row.time(31);
  // Of another table, and only shown: its damage is not the work's.
  item.instance_id = query.text(32);
  item.orchestration = query.text(33);
  item.orchestration_version = query.text(34);
  return item;
}

}  // namespace perdure::sqlite
