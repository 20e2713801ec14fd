#include <algorithm>
#include <set>

#include "base/log.h"
#include "provider/rules/turn_rule.h"
#include "provider/sqlite/lifecycle.h"
#include "provider/sqlite/outbox.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/transaction.h"
#include "provider/sqlite/work_rows.h"
#include "provider/stop_reasons.h"

namespace perdure::sqlite {

namespace {

EventId append_text_event(WriteContext& context,
                          const InstanceRow& instance,
                          EventId after,
                          EventKind kind,
                          const std::string& text) {
  HistoryEvent event;
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
  const TimePoint cleanup_at = add(context.now, order.cleanup_timeout);
  context.db.run(Sql::kBeginCleanup, key, cleanup_at);
  cancel_work(context, key, instance.current, rules::CancelCause::kRunCanceled, touched);
  Message cancel;
  cancel.kind = MessageKind::kCancel;
  cancel.text = order.reason;
  cancel.visible_at = context.now;
  enqueue(context, key, cancel);
  Message deadline;
  deadline.kind = MessageKind::kCleanupDeadline;
  deadline.execution = instance.current;
  deadline.visible_at = cleanup_at;
  enqueue(context, key, deadline);
  announce_status(context, key, instance.current, ExecutionStatus::kCanceling);
}

/// Descendants that are still to be reached: up to `limit` of them and one more, without those that
/// are `known` already.
std::vector<InstanceKey> to_take_down(WriteContext& context,
                                      InstanceKey key,
                                      ExecutionNo execution,
                                      const TakedownOrder& order,
                                      std::int64_t limit,
                                      const std::set<InstanceKey>& known) {
  std::vector<InstanceKey> found;
  {
    // Most runs have none, and a walk costs more than the rest of their end.
    Query child = context.db.query(Sql::kHasChildren, key, execution);
    if (!child.next()) return found;
  }
  const auto rows = limit + 1 + static_cast<std::int64_t>(known.size());
  Query row = order.kind == RequestKind::kTerminate
                  ? context.db.query(Sql::kLiveDescendants, key, execution, rows)
                  : context.db.query(
                        Sql::kUncanceledDescendants, key, execution, rows, order.of_end);
  while (row.next()) {
    const auto descendant = row.id<InstanceKey>(0);
    if (known.count(descendant) == 0) found.push_back(descendant);
  }
  return found;
}

bool take_down_current(WriteContext& context,
                       InstanceKey key,
                       const TakedownOrder& order,
                       std::vector<TouchedClaim>& touched) {
  const auto instance = load_instance(context.db, key);
  if (!instance) return false;
  const ExecutionRow execution = load_current(context.db, *instance);
  if (is_terminal(execution.info.status)) return false;
  if (order.kind == RequestKind::kTerminate) {
    end_at_once(context, *instance, execution, ExecutionStatus::kTerminated, order, touched);
    return true;
  }
  if (execution.info.cancel_requested_at) return false;
  if (rules::status_after_cancel(execution.had_turn()) == ExecutionStatus::kCanceled) {
    end_at_once(context, *instance, execution, ExecutionStatus::kCanceled, order, touched);
  } else {
    check_line(context.db, key);
    request_cancel(context, *instance, order, touched);
  }
  return true;
}

}  // namespace

bool take_down_run(WriteContext& context,
                   InstanceKey key,
                   const TakedownOrder& order,
                   std::vector<TouchedClaim>& touched) {
  const std::size_t before = touched.size();
  const bool changed = take_down_current(context, key, order, touched);
  for (std::size_t i = before; i < touched.size(); ++i) {
    touched[i].reason = order.kind == RequestKind::kTerminate ? kRunTerminated : order.reason;
  }
  return changed;
}

bool take_down_other(WriteContext& context,
                     InstanceKey key,
                     const TakedownOrder& order,
                     TreeReach& reach) {
  try {
    std::vector<TouchedClaim> touched;
    Savepoint part(context.db);
    const bool changed = take_down_run(context, key, order, touched);
    part.keep();
    reach.touched.insert(reach.touched.end(), touched.begin(), touched.end());
    return changed;
  } catch (const SqliteError& error) {
    if (!is_corrupt(error) || !context.db.in_transaction()) throw;
    log::warning("an instance cannot be read and is not canceled with its parent",
                 {{"error", error.what()}});
    reach.problems.push_back(to_error(error));
    return false;
  }
}

std::int64_t reach_descendants(WriteContext& context,
                               InstanceKey key,
                               ExecutionNo execution,
                               const TakedownOrder& order,
                               std::int64_t limit,
                               TreeReach& reach) {
  limit = std::min(limit, static_cast<std::int64_t>(kNoLimit));
  std::int64_t reached = 0;
  std::set<InstanceKey> unreadable;
  // One that cannot be read is found again each time, and must not hold up those behind it.
  for (bool again = true; again;) {
    again = false;
    auto found = to_take_down(context, key, execution, order, limit - reached, unreadable);
    reach.more = static_cast<std::int64_t>(found.size()) > limit - reached;
    if (reach.more) found.pop_back();
    for (InstanceKey descendant : found) {
      const std::size_t problems = reach.problems.size();
      if (take_down_other(context, descendant, order, reach)) ++reached;
      if (reach.problems.size() == problems) continue;
      unreadable.insert(descendant);
      again = reach.more;
    }
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
                 context.now,
                 order.of_end);
  context.topics.carry_on();
}

}  // namespace perdure::sqlite
