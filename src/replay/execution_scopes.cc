#include <algorithm>
#include <utility>

#include <perdure/detail/user_error.h>
#include <perdure/detail/waiter.h>

#include "replay/execution.h"

namespace perdure::replay {

using detail::Op;
using detail::OpKind;
using detail::OpRef;
using detail::OpState;
using detail::ScopeRef;
using detail::ScopeState;
using detail::TaskOp;

void Execution::spawn(TaskOp& task, ScopeRef parent, bool shield) {
  if (stopped()) return;
  if (!shield) check_scope();
  const ScopeRef& above = parent ? parent : current_scope_ref();
  const auto scope = std::make_shared<ScopeState>(above, ++scopes_, shield);
  tasks_.emplace(scope->id, OpRef(&task));
  task.start(scope);
}

ScopeRef Execution::open_scope() {
  return std::make_shared<ScopeState>(current_scope_ref(), ++scopes_, false);
}

void Execution::cancel_scope(const ScopeRef& scope, std::string_view reason) {
  if (stopped() || scope->canceled) return;
  HistoryEvent event;
  event.kind = EventKind::kScopeCanceled;
  event.number = scope->id;
  event.text = std::string(reason);
  if (!record_command(std::move(event))) return;
  cancel_tree(*scope, std::string(reason), true);
}

void Execution::drop_scope(const ScopeRef& scope) noexcept {
  if (!stopped()) dropped_scopes_.push_back(scope);
}

namespace {

/// Marks a scope and those below it up to shields; answers them, outer ones first.
void mark_canceled(ScopeState& scope, const std::string& reason, std::vector<ScopeState*>& marked) {
  if (scope.canceled) return;
  scope.canceled = true;
  scope.reason = reason;
  marked.push_back(&scope);
  for (detail::ListHook* child = scope.children.next(); child != &scope.children;
       child = child->next()) {
    auto& below = static_cast<ScopeState&>(*child);
    if (!below.shield) mark_canceled(below, reason, marked);
  }
}

}  // namespace

void Execution::cancel_tree(ScopeState& scope, const std::string& reason, bool give_up) {
  std::vector<ScopeState*> marked;
  mark_canceled(scope, reason, marked);
  if (marked.empty()) return;
  std::vector<OpRef> concerned;
  for (const auto& [event, op] : ops_) {
    if (std::find(marked.begin(), marked.end(), op->scope.get()) != marked.end()) {
      concerned.push_back(op);
    }
  }
  for (const OpRef& op : concerned) cancel_op(op, reason, give_up);
  for (ScopeState* each : marked) {
    std::vector<detail::Waiter*> waiters;
    for (detail::ListHook* hook = each->waiters.next(); hook != &each->waiters;
         hook = hook->next()) {
      waiters.push_back(static_cast<detail::Waiter*>(hook));
    }
    for (detail::Waiter* waiter : waiters) {
      if (!waiter->outlasts_cancel()) waiter->interrupt();
    }
  }
}

void Execution::cancel_op(const OpRef& op, const std::string& reason, bool give_up_too) {
  if (give_up_too) give_up(*op);
  // Its real outcome is awaited, or owed to an undo.
  if (op->on_cancel == OnCancel::kWait) return;
  op->reason = reason;
  resolve(op, OpState::kCanceled);
}

/// Takes what an operation stands for out of the store, in this commit. Recorded.
void Execution::give_up(Op& op) {
  if (op.given_up || mode_ >= Mode::kBroken) return;
  op.given_up = true;
  HistoryEvent event;
  event.source = EventId{op.event};
  switch (op.kind) {
    case OpKind::kActivity:
      event.kind = EventKind::kActivityDropped;
      break;
    case OpKind::kTimer:
      event.kind = EventKind::kTimerDropped;
      break;
    case OpKind::kEvent:
      event.kind = EventKind::kEventDropped;
      break;
    case OpKind::kChild:
      event.kind = EventKind::kChildDropped;
      break;
    case OpKind::kTask:
      return;
  }
  if (!record_command(std::move(event))) return;
  if (op.kind == OpKind::kEvent) inbox_.unsubscribe(op);
  if (mode_ != Mode::kLive) return;
  if (op.kind == OpKind::kActivity) decisions_.canceled_work.push_back(EventId{op.event});
  if (op.kind == OpKind::kTimer) decisions_.canceled_timers.push_back(EventId{op.event});
  if (op.kind == OpKind::kChild && op.on_cancel != OnCancel::kAbandon) {
    decisions_.canceled_children.push_back(EventId{op.event});
  }
}

void Execution::drop(Op& op) noexcept {
  if (stopped()) return;
  const bool unseen_event = op.kind == OpKind::kEvent && op.resolved() && !op.consumed;
  if (!op.resolved() || unseen_event) drops_.emplace_back(&op);
}

void Execution::detach(Op& op) noexcept {
  // An event that nobody can see any more must not be lost with the wait.
  if (op.kind == OpKind::kEvent) drop(op);
}

bool Execution::settle_drops() {
  if (drops_.empty() && dropped_scopes_.empty()) return false;
  // Destructors run in an order that compilers may choose: history must not depend on it.
  std::vector<OpRef> drops = std::exchange(drops_, {});
  std::sort(drops.begin(), drops.end(), [](const OpRef& a, const OpRef& b) {
    const auto key = [](const Op& op) {
      return std::pair(op.event == 0, op.event != 0 ? op.event : op.scope->id);
    };
    return key(*a) < key(*b);
  });
  for (const OpRef& op : drops) settle_drop(op);
  std::vector<ScopeRef> scopes = std::exchange(dropped_scopes_, {});
  std::sort(scopes.begin(), scopes.end(), [](const ScopeRef& a, const ScopeRef& b) {
    return a->id < b->id;
  });
  for (const ScopeRef& scope : scopes) {
    const bool runs = std::any_of(tasks_.begin(), tasks_.end(), [&](const auto& task) {
      return task.second->scope->is_within(*scope);
    });
    if (runs) cancel_scope(scope, "scope dropped");
  }
  return true;
}

void Execution::settle_drop(const OpRef& op) {
  if (stopped()) return;
  if (op->kind == OpKind::kTask) {
    // A shield's own cancel: whoever started it has given it up.
    if (!op->resolved()) cancel_tree(*op->scope, "dropped", true);
    return;
  }
  if (op->kind == OpKind::kEvent && op->resolved()) {
    give_up(*op);
    hand_out(inbox_.put_back(*op));
    return;
  }
  if (op->resolved()) return;
  give_up(*op);
  // An undo needs to know how its call ended, although nobody else does.
  if (undos_.contains(EventId{op->event})) return;
  op->reason = "dropped";
  resolve(op, OpState::kCanceled);
}

void Execution::task_ended(TaskOp& task) {
  ended_tasks_.emplace_back(&task);
}

void Execution::reap_tasks() {
  while (!ended_tasks_.empty()) {
    const OpRef task = std::move(ended_tasks_.back());
    ended_tasks_.pop_back();
    reap(static_cast<TaskOp&>(*task));
  }
}

void Execution::reap(TaskOp& task) {
  const OpRef keep(&task);
  tasks_.erase(task.scope->id);
  task.destroy_frames();
  const bool is_main = &task == main_;
  const bool canceled = task.error && task.scope->canceled && detail::is_cancellation(task.error);
  if (is_main) {
    main_ = nullptr;
    if (!task.error) output_ = *static_cast<detail::TypedTaskOp<std::string>&>(task).value;
  }
  if (task.error && !canceled && (is_main || task.fails_the_run) && !failure_) {
    failure_ = detail::failure_of(task.error);
    if (!is_main) cancel_tree(*root_, "a task failed: " + failure_->message, true);
  }
  if (canceled) task.reason = task.scope->reason;
  const OpState state = !task.error ? OpState::kCompleted
                        : canceled  ? OpState::kCanceled
                                    : OpState::kFailed;
  resolve(keep, state);
}

}  // namespace perdure::replay
