#include <algorithm>
#include <utility>

#include "replay/execution.h"

namespace perdure::replay {

using detail::Op;
using detail::OpKind;
using detail::OpRef;
using detail::OpState;
using detail::ScopeRef;

namespace {

EventKind drop_of(OpKind kind) {
  switch (kind) {
    case OpKind::kActivity:
      return EventKind::kActivityDropped;
    case OpKind::kTimer:
      return EventKind::kTimerDropped;
    case OpKind::kEvent:
      return EventKind::kEventDropped;
    default:
      return EventKind::kChildDropped;
  }
}

void sort_by_id(std::vector<ScopeRef>& scopes) {
  std::sort(scopes.begin(), scopes.end(), [](const ScopeRef& a, const ScopeRef& b) {
    return a->id < b->id;
  });
}

}  // namespace

void Execution::drop(Op& op) noexcept {
  if (stopped()) return;
  const bool unseen_event =
      op.kind == OpKind::kEvent && op.state == OpState::kCompleted && !op.consumed;
  if (!op.resolved() || unseen_event) scratch_.get().drops.emplace_back(&op);
}

void Execution::detach(Op& op) noexcept {
  // An event that nobody can see any more must not be lost with the wait; a condition that nobody
  // waits for may look at what is gone.
  if (op.kind == OpKind::kEvent || op.kind == OpKind::kCondition) drop(op);
}

/// What tasks have left open whose frames are gone: those of handlers, or those of main. Shields
/// are no exception.
void Execution::give_up_all(bool supervised) {
  std::vector<OpRef> open;
  for (const auto& [event, op] : ops_) {
    if (op->scope->supervised == supervised) open.push_back(op);
  }
  for (const OpRef& op : open) settle_drop(op);
}

/// A handler that goes on after main has ended drops what it likes, as before.
bool Execution::is_own_drop(const Op& op) const {
  return phase_ == Phase::kDraining && op.scope->supervised &&
         !rare_.peek().messages.peek().drain_expired && !cleanup_expired_;
}

/// Takes what an operation stands for out of the store, in this commit. Recorded. When the run ends
/// or the call has timed out, a child ends by its close policy; else by what its call says.
void Execution::give_up(Op& op, bool timed_out) {
  if (op.given_up || mode_ >= Mode::kBroken || op.kind == OpKind::kCondition) return;
  op.given_up = true;
  HistoryEvent event;
  event.kind = drop_of(op.kind);
  event.source = EventId{op.event};
  if (!record_command(std::move(event))) return;
  if (op.kind == OpKind::kEvent) rare_.get().inbox.unsubscribe(op);
  if (mode_ != Mode::kLive) return;
  if (op.kind == OpKind::kActivity) decisions().canceled_work.push_back(EventId{op.event});
  if (op.kind == OpKind::kTimer) decisions().canceled_timers.push_back(EventId{op.event});
  if (op.kind != OpKind::kChild || op.on_cancel == OnCancel::kAbandon) return;
  const bool by_close_policy = timed_out || (is_ending() && !is_own_drop(op));
  if (by_close_policy && op.close_policy == ClosePolicy::kAbandon) return;
  decisions().canceled_children.push_back(EventId{op.event});
}

/// Destructors run in an order that compilers may choose, so history must not depend on it: what
/// was dropped while one event was applied is sorted. False when there was nothing to do.
bool Execution::settle_drops() {
  TurnScratch& scratch = scratch_.get();
  if (scratch.drops.empty() && scratch.dropped_scopes.empty()) return false;
  std::vector<OpRef> drops = std::exchange(scratch.drops, {});
  const auto tasks = std::partition(
      drops.begin(), drops.end(), [](const OpRef& op) { return op->kind != OpKind::kTask; });
  std::sort(
      drops.begin(), tasks, [](const OpRef& a, const OpRef& b) { return a->event < b->event; });
  for (auto op = drops.begin(); op != tasks; ++op) settle_drop(*op);
  std::vector<ScopeRef> given_up;
  for (auto task = tasks; task != drops.end(); ++task) {
    if (!(*task)->resolved()) given_up.push_back((*task)->scope);
  }
  sort_by_id(given_up);
  // A shield is no exception: whoever started it has given it up.
  cancel_trees(given_up, "dropped", true);
  settle_dropped_scopes();
  return true;
}

void Execution::settle_drop(const OpRef& op) {
  if (stopped()) return;
  if (op->kind == OpKind::kEvent && op->resolved()) {
    give_up(*op);
    hand_out(rare_.get().inbox.put_back(*op));
    return;
  }
  if (op->resolved()) return;
  give_up(*op);
  // An undo needs to know how its call ended, although nobody else does.
  if (rare_.peek().undos.contains(EventId{op->event})) return;
  op->make_outcome().reason = "dropped";
  resolve(op, OpState::kCanceled);
}

void Execution::settle_dropped_scopes() {
  std::vector<ScopeRef> scopes = std::exchange(scratch_.get().dropped_scopes, {});
  sort_by_id(scopes);
  for (const ScopeRef& scope : scopes) {
    const auto below = detail::scopes_within(*scope);
    const bool runs = std::any_of(
        below.begin(), below.end(), [&](const auto* each) { return tasks_.contains(each->id); });
    if (runs) cancel_scope(scope, "scope dropped");
  }
}

}  // namespace perdure::replay
