#include "provider/sqlite/turn_item.h"

#include "provider/sqlite/rows.h"

namespace perdure::sqlite {

namespace {

void describe_as_begun(Connection& db, OrchestrationItem& item) {
  Query row = db.query(Sql::kReadHistory, item.instance, item.execution, EventId{0}, 1);
  if (!row.next()) {
    throw_corrupt("history", {item.instance.value, item.execution.value, 1}, "the row is missing");
  }
  HistoryEvent started = read_event(row, item.instance, item.execution);
  item.name = std::move(started.name);
  item.version = std::move(started.text);
}

}  // namespace

void describe_item(Connection& db, OrchestrationItem& item, std::optional<ExecutionNo> execution) {
  auto instance = load_instance(db, item.instance);
  if (!instance) throw_corrupt("instances", {item.instance.value}, "the row is missing");
  item.id = instance->id;
  item.name = instance->name;
  item.version = instance->version;
  item.queue = instance->queue;
  item.priority = instance->priority;
  item.parent = instance->parent;
  item.execution = execution.value_or(instance->current);
  if (item.execution != instance->current) describe_as_begun(db, item);
  instance->current = item.execution;
  const ExecutionInfo info = load_current(db, *instance).info;
  item.status = info.status;
  item.last_event = info.last_event;
  item.last_turn = info.last_turn;
  item.cancel_requested_at = info.cancel_requested_at;
  item.cancel_reason = info.cancel_reason;
  if (!info.cancel_requested_at) item.cleanup_at.reset();  // what stands there is the deadline
  item.deadline = info.deadline;
  item.custom_status = info.custom_status;
  item.custom_status_version = info.custom_status_version;
}

}  // namespace perdure::sqlite
