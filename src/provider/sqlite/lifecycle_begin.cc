#include "provider/sqlite/kept_signals.h"
#include "provider/sqlite/lifecycle.h"
#include "provider/sqlite/outbox.h"

namespace perdure::sqlite {

namespace {

/// Descendants of the run that has ended may still wait to be reached by a cascade from above; the
/// new run is no way to them any more, so they get a cascade of their own.
void keep_reach(WriteContext& context, const InstanceRow& ended) {
  {
    Query row = context.db.query(Sql::kUncanceledDescendants, ended.key, ended.current, 1, true);
    if (!row.next()) return;
  }
  TakedownOrder order;
  order.reason = "parent '" + ended.id + "' has ended";
  order.cleanup_timeout = std::chrono::seconds(60);
  order.of_end = true;
  store_cascade(context, ended.key, ended.current, order);
}

}  // namespace

void begin_execution(WriteContext& context, InstanceKey key, const ExecutionSpec& spec) {
  const EventId last_event{1 + static_cast<std::int64_t>(spec.carried.size())};
  context.db.run(Sql::kInsertExecution,
                 key,
                 spec.execution,
                 ExecutionStatus::kRunning,
                 spec.deadline,
                 or_null(spec.custom_status),
                 spec.custom_status_version,
                 nullptr,
                 nullptr,
                 last_event,
                 context.now);
  HistoryEvent started;
  started.id = EventId{1};
  started.kind = EventKind::kStarted;
  started.source = spec.continues;
  started.name = spec.name;
  started.payload = spec.input;
  started.text = spec.version;
  started.number = static_cast<std::int64_t>(spec.carried.size());
  append_event(context, key, spec.execution, started);
  std::int64_t next = 2;
  for (HistoryEvent event : spec.carried) {
    event.id = EventId{next++};
    append_event(context, key, spec.execution, event);
    if (event.kind == EventKind::kSignalReceived) keep_signal(context, key, event);
  }

  if (!load_ready(context.db, key)) {
    // A delayed start holds the instance back, not its message: whatever else comes waits behind
    // it.
    const bool delayed = spec.start_at > context.now;
    context.db.run(Sql::kInsertReady,
                   key,
                   spec.queue,
                   spec.name,
                   spec.version,
                   context.now,
                   delayed ? spec.start_at : TimePoint{},
                   spec.priority,
                   spec.deadline);
  }
  Message start;
  start.kind = MessageKind::kStart;
  start.execution = spec.execution;
  start.visible_at = context.now;
  enqueue(context, key, start);
  if (spec.deadline) {
    Message deadline;
    deadline.kind = MessageKind::kRunDeadline;
    deadline.execution = spec.execution;
    deadline.visible_at = *spec.deadline;
    enqueue(context, key, deadline);
  }
  announce_status(context, key, spec.execution, ExecutionStatus::kRunning);
}

InstanceKey begin_instance(WriteContext& context,
                           const std::string& id,
                           const std::optional<InstanceRow>& existing,
                           const std::optional<ParentLink>& parent,
                           ExecutionSpec spec) {
  std::optional<InstanceKey> parent_key;
  std::optional<ExecutionNo> parent_execution;
  std::optional<EventId> parent_event;
  std::optional<ClosePolicy> close_policy;
  bool shielded = false;
  if (parent) {
    parent_key = parent->instance;
    parent_execution = parent->execution;
    parent_event = parent->event;
    close_policy = parent->close_policy;
    shielded = parent->shielded;
  }
  InstanceKey key;
  if (existing) {
    key = existing->key;
    keep_reach(context, *existing);
    spec.execution = ExecutionNo{existing->current.value + 1};
    context.db.run(Sql::kReuseInstance,
                   key,
                   spec.name,
                   spec.version,
                   spec.queue,
                   spec.execution,
                   parent_key,
                   parent_execution,
                   parent_event,
                   close_policy,
                   spec.priority,
                   shielded);
  } else {
    spec.execution = ExecutionNo{1};
    context.db.run(Sql::kInsertInstance,
                   id,
                   spec.name,
                   spec.version,
                   spec.queue,
                   spec.execution,
                   parent_key,
                   parent_execution,
                   parent_event,
                   close_policy,
                   context.now,
                   spec.priority,
                   shielded);
    key = InstanceKey{context.db.last_insert_id()};
  }
  begin_execution(context, key, spec);
  // The start is visible already, so they need not lower the line.
  context.db.run(Sql::kMoveEarlyEvents, id, key, context.now);
  context.db.run(Sql::kDeleteEarlyEventsOf, id);
  return key;
}

}  // namespace perdure::sqlite
