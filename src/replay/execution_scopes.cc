#include <algorithm>
#include <utility>

#include <perdure/detail/user_error.h>
#include <perdure/detail/waiter.h>

#include "replay/arguments.h"
#include "replay/execution.h"

namespace perdure::replay {

using detail::OpRef;
using detail::OpState;
using detail::ScopeRef;
using detail::ScopeState;
using detail::TaskOp;

void Execution::spawn(TaskOp& task, ScopeRef parent, bool shield) {
  check_read_only();
  if (stopped()) return;
  if (!shield) check_scope();
  const ScopeRef& above = parent ? parent : current_scope_ref();
  const auto scope = std::make_shared<ScopeState>(above, ++scopes_, shield);
  if (scope->supervised) {
    task.fails_the_run = false;  // it belongs to a handler
    ++rare_.get().messages.get().tasks;
  }
  tasks_.emplace(scope->id, OpRef(&task));
  task.start(scope);
}

ScopeRef Execution::open_scope() {
  check_read_only();
  return std::make_shared<ScopeState>(current_scope_ref(), ++scopes_, false);
}

void Execution::cancel_scope(const ScopeRef& scope, std::string_view reason) {
  check_read_only();
  if (stopped() || scope->canceled) return;
  require_text("reason of a scope's cancel", reason);
  HistoryEvent event;
  event.kind = EventKind::kScopeCanceled;
  event.number = scope->id;
  event.text = std::string(reason);
  if (!record_command(std::move(event))) return;
  cancel_trees({scope}, std::string(reason), true);
}

void Execution::drop_scope(const ScopeRef& scope) noexcept {
  if (!stopped()) scratch_.get().dropped_scopes.push_back(scope);
}

/// Cancels scopes and all below them up to shields. `drop`: what their operations stand for is
/// given up, recorded in order of event ids.
void Execution::cancel_trees(const std::vector<ScopeRef>& tops,
                             const std::string& reason,
                             bool drop) {
  std::vector<ScopeState*> marked;
  for (const ScopeRef& top : tops) {
    for (ScopeState* scope : detail::scopes_to_cancel(*top)) {
      scope->canceled = true;
      scope->reason = reason;
      marked.push_back(scope);
    }
  }
  if (marked.empty()) return;
  std::vector<OpRef> concerned;
  for (ScopeState* scope : marked) {
    for (detail::ListHook* hook = scope->ops.next(); hook != &scope->ops; hook = hook->next()) {
      concerned.emplace_back(static_cast<detail::Op*>(hook));
    }
  }
  std::sort(concerned.begin(), concerned.end(), [](const OpRef& a, const OpRef& b) {
    return a->event < b->event;
  });
  for (const OpRef& op : concerned) cancel_op(op, reason, drop);
  for (ScopeState* scope : marked) {
    std::vector<detail::Waiter*> waiters;
    for (detail::ListHook* hook = scope->waiters.next(); hook != &scope->waiters;
         hook = hook->next()) {
      waiters.push_back(static_cast<detail::Waiter*>(hook));
    }
    for (detail::Waiter* waiter : waiters) {
      if (!waiter->outlasts_cancel()) waiter->interrupt();
    }
  }
}

void Execution::cancel_op(const OpRef& op, const std::string& reason, bool drop) {
  if (drop) give_up(*op);
  // Its real outcome is awaited, or owed to an undo.
  if (op->on_cancel == OnCancel::kWait) return;
  op->make_outcome().reason = reason;
  resolve(op, OpState::kCanceled);
}

void Execution::task_ended(TaskOp& task) {
  scratch_.get().ended_tasks.emplace_back(&task);
}

void Execution::reap_tasks() {
  std::vector<OpRef>& ended = scratch_.get().ended_tasks;
  while (!ended.empty()) {
    const OpRef task = std::move(ended.back());
    ended.pop_back();
    reap(static_cast<TaskOp&>(*task));
  }
}

void Execution::reap(TaskOp& task) {
  const OpRef keep(&task);
  tasks_.erase(task.scope->id);
  task.destroy_frames();
  const bool is_main = &task == main_;
  const bool canceled = task.error && task.scope->canceled && detail::is_cancellation(task.error);
  if (task.scope->supervised) {
    MessageParts& parts = rare_.get().messages.get();
    --parts.tasks;
    if (const auto handler = parts.running.extract(task.scope->id)) {
      handler_ended(task, handler.mapped(), canceled);
    }
  }
  if (is_main) {
    main_ = nullptr;
    if (!task.error)
      ending_.get().output = *static_cast<detail::TypedTaskOp<std::string>&>(task).value;
  }
  if (task.error && !canceled && (is_main || task.fails_the_run) && !ending_.peek().failure) {
    const Failure& failure = ending_.get().failure.emplace(detail::failure_of(task.error));
    if (!is_main) cancel_trees({root_}, "a task failed: " + failure.message, true);
  }
  if (canceled) task.make_outcome().reason = task.scope->reason;
  const OpState state = !task.error ? OpState::kCompleted
                        : canceled  ? OpState::kCanceled
                                    : OpState::kFailed;
  resolve(keep, state);
}

}  // namespace perdure::replay
