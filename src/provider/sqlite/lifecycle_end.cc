#include "provider/rules/turn_rule.h"
#include "provider/sqlite/kept_signals.h"
#include "provider/sqlite/lifecycle.h"
#include "provider/sqlite/outbox.h"
#include "provider/sqlite/run_requests.h"
#include "provider/sqlite/work_rows.h"

namespace perdure::sqlite {

namespace {

/// The columns of an execution that has ended.
void store_end(WriteContext& context,
               const InstanceRow& instance,
               const ExecutionRow& execution,
               const ExecutionEnd& end) {
  const ExecutionInfo& info = execution.info;
  const bool canceled = end.status == ExecutionStatus::kCanceled;
  auto requested_at = info.cancel_requested_at;
  std::string reason = info.cancel_reason;
  if (canceled && !requested_at) {
    requested_at = context.now;
    reason = end.reason;
  }
  context.db.run(Sql::kEndExecution,
                 instance.key,
                 info.execution,
                 end.status,
                 or_null(end.output),
                 or_null(end.failure.type),
                 or_null(end.failure.message),
                 end.failure.retryable,
                 or_null(end.failure.details),
                 requested_at,
                 or_null(reason),
                 canceled ? std::optional(context.now) : std::nullopt,
                 end.last_event,
                 context.now);
  announce_status(context, instance.key, info.execution, end.status);
}

/// A parent that has moved on (other execution, ended) is not told: nobody there waits any more.
void tell_parent(WriteContext& context,
                 const InstanceRow& instance,
                 const ExecutionRow& execution,
                 const ExecutionEnd& end) {
  if (!instance.parent) return;
  if (!may_wait(context.db, instance.parent->instance, instance.parent->execution)) return;
  Message message;
  message.kind = rules::parent_message(end.status);
  message.execution = instance.parent->execution;
  message.source = instance.parent->event;
  message.payload = end.output;
  message.failure = end.failure;
  message.text = end.reason.empty() ? execution.info.cancel_reason : end.reason;
  message.visible_at = context.now;
  enqueue(context, instance.parent->instance, message);
}

std::optional<ExecutionSpec> load_pending_start(WriteContext& context, InstanceKey key) {
  ExecutionSpec spec;
  {
    Query query = context.db.query(Sql::kLoadPendingStart, key);
    if (!query.next()) return std::nullopt;
    const CheckedRow row(query, "pending_starts", {key.value});
    spec.name = row.name(0);
    spec.version = row.text(1);
    spec.queue = row.name(2);
    spec.input = row.text(3);
    spec.start_at = add(context.now, row.duration(4));
    spec.priority = row.small(6);
    if (row.integer(5) > 0) spec.deadline = add(spec.start_at, row.duration(5));
  }
  return spec;
}

TakedownOrder close_order(const InstanceRow& instance, const ExecutionEnd& end) {
  TakedownOrder order;
  order.kind =
      end.status == ExecutionStatus::kTerminated ? RequestKind::kTerminate : RequestKind::kCancel;
  order.reason = end.reason.empty()
                     ? "parent '" + instance.id + "' " + std::string(to_string(end.status))
                     : end.reason;
  order.cleanup_timeout = end.cleanup_timeout;
  order.of_end = true;
  return order;
}

void close_children(WriteContext& context,
                    const InstanceRow& instance,
                    const ExecutionRow& execution,
                    const ExecutionEnd& end,
                    std::vector<TouchedClaim>& touched) {
  TreeReach reach;
  take_down_descendants(
      context, instance.key, execution.info.execution, close_order(instance, end), reach);
  touched.insert(touched.end(), reach.touched.begin(), reach.touched.end());
}

}  // namespace

void end_execution(WriteContext& context,
                   const InstanceRow& instance,
                   const ExecutionRow& execution,
                   const ExecutionEnd& end,
                   std::vector<TouchedClaim>& touched) {
  store_end(context, instance, execution, end);
  cancel_work(context,
              instance.key,
              execution.info.execution,
              end.status == ExecutionStatus::kTerminated ? rules::CancelCause::kTerminated
                                                         : rules::CancelCause::kRunEnded,
              touched);
  context.db.run(Sql::kDeleteMessages, instance.key);
  context.db.run(Sql::kDeleteReady, instance.key);
  forget_kept_signals(context, instance.key);
  close_requests_at_end(context, instance, execution.info.execution, end.status);
  if (end.take_children) close_children(context, instance, execution, end, touched);
  tell_parent(context, instance, execution, end);
  if (const auto next = load_pending_start(context, instance.key)) {
    context.db.run(Sql::kDeletePendingStart, instance.key);
    begin_instance(context, instance.id, instance, std::nullopt, *next);
  }
}

void end_before_next(WriteContext& context,
                     const InstanceRow& instance,
                     const ExecutionRow& execution,
                     const ExecutionEnd& end,
                     std::vector<TouchedClaim>& touched) {
  store_end(context, instance, execution, end);
  cancel_work(
      context, instance.key, execution.info.execution, rules::CancelCause::kRunEnded, touched);
  // First the children: one that ends at once still tells this execution, which is over.
  close_children(context, instance, execution, end, touched);
  context.db.run(Sql::kDeleteExecutionMessages, instance.key, execution.info.execution);
  forget_kept_signals(context, instance.key);
  close_requests_before_next(context, instance);
}

}  // namespace perdure::sqlite
