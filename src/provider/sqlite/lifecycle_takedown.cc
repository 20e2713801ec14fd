#include <algorithm>

#include "provider/rules/turn_rule.h"
#include "provider/sqlite/lifecycle.h"
#include "provider/sqlite/outbox.h"
#include "provider/sqlite/work_rows.h"

namespace perdure::sqlite {

namespace {

EventId append_text_event(WriteContext& context,
                          const InstanceRow& instance,
                          EventId after,
                          EventKind kind,
                          const std::string& text) {
  Event event;
  event.id = EventId{after.value + 1};
  event.kind = kind;
  event.text = text;
  append_event(context, instance.key, instance.current, event);
  return event.id;
}

void end_at_once(WriteContext& context,
                 const InstanceRow& instance,
                 const ExecutionRow& execution,
                 ExecutionStatus status,
                 const TakedownOrder& order,
                 std::vector<TouchedClaim>& touched) {
  EventId last = execution.info.last_event;
  if (status == ExecutionStatus::kCanceled) {
    last = append_text_event(context, instance, last, EventKind::kCancelRequested, order.reason);
  }
  last = append_text_event(context, instance, last, rules::terminal_event(status), order.reason);
  ExecutionEnd end;
  end.status = status;
  end.reason = order.reason;
  end.last_event = last;
  end.cleanup_timeout = order.cleanup_timeout;
  end.take_children = false;
  end_execution(context, instance, execution, end, touched);
}

/// The cancel of a run that has begun: its code will hear of it in the next turn.
void request_cancel(WriteContext& context,
                    const InstanceRow& instance,
                    const TakedownOrder& order,
                    std::vector<TouchedClaim>& touched) {
  const InstanceKey key = instance.key;
  context.db.run(Sql::kRequestCancel, key, instance.current, context.now, or_null(order.reason));
  context.db.run(Sql::kDeleteUnshieldedTimers, key, instance.current);
  context.db.run(Sql::kClearBackoff, key);
  cancel_work(context, key, instance.current, rules::CancelCause::kRunCanceled, touched);
  Message cancel;
  cancel.kind = MessageKind::kCancel;
  cancel.text = order.reason;
  cancel.visible_at = context.now;
  enqueue(context, key, cancel);
  Message deadline;
  deadline.kind = MessageKind::kCleanupDeadline;
  deadline.execution = instance.current;
  deadline.visible_at = add(context.now, order.cleanup_timeout);
  enqueue(context, key, deadline);
  announce_status(context, key, instance.current, ExecutionStatus::kCanceling);
}

}  // namespace

bool take_down_run(WriteContext& context,
                   InstanceKey key,
                   const TakedownOrder& order,
                   std::vector<TouchedClaim>& touched) {
  const auto instance = load_instance(context.db, key);
  if (!instance) return false;
  const auto execution = load_execution(context.db, key, instance->current);
  if (!execution) throw_corrupt("executions", key.value, "the current execution is missing");
  if (is_terminal(execution->info.status)) return false;
  if (order.kind == RequestKind::kTerminate) {
    end_at_once(context, *instance, *execution, ExecutionStatus::kTerminated, order, touched);
    return true;
  }
  if (execution->info.cancel_requested_at) return false;
  if (rules::status_after_cancel(execution->had_turn()) == ExecutionStatus::kCanceled) {
    end_at_once(context, *instance, *execution, ExecutionStatus::kCanceled, order, touched);
  } else {
    request_cancel(context, *instance, order, touched);
  }
  return true;
}

std::int64_t reach_descendants(WriteContext& context,
                               InstanceKey key,
                               ExecutionNo execution,
                               const TakedownOrder& order,
                               std::int64_t limit,
                               TreeReach& reach) {
  limit = std::min(limit, static_cast<std::int64_t>(kNoLimit));
  std::vector<InstanceKey> found;
  {
    const Sql statement =
        order.kind == RequestKind::kTerminate ? Sql::kLiveDescendants : Sql::kUncanceledDescendants;
    Query row = context.db.query(statement, key, execution, limit + 1);
    while (row.next()) found.push_back(row.id<InstanceKey>(0));
  }
  reach.more = static_cast<std::int64_t>(found.size()) > limit;
  if (reach.more) found.pop_back();
  std::int64_t reached = 0;
  for (InstanceKey descendant : found) {
    if (take_down_run(context, descendant, order, reach.touched)) ++reached;
  }
  reach.descendants += reached;
  return reached;
}

void take_down_descendants(WriteContext& context,
                           InstanceKey key,
                           ExecutionNo execution,
                           const TakedownOrder& order,
                           TreeReach& reach) {
  reach_descendants(context, key, execution, order, order.max_descendants, reach);
  if (reach.more) store_cascade(context, key, execution, order);
}

void store_cascade(WriteContext& context,
                   InstanceKey key,
                   ExecutionNo execution,
                   const TakedownOrder& order) {
  context.db.run(Sql::kInsertCascade,
                 order.kind,
                 key,
                 execution,
                 or_null(order.reason),
                 order.cleanup_timeout,
                 context.now);
}

}  // namespace perdure::sqlite
