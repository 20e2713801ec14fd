#include <exception>
#include <utility>

#include <perdure/detail/user_error.h>
#include <perdure/detail/waiter.h>

#include "replay/execution.h"

namespace perdure::replay {

using detail::OpKind;
using detail::OpRef;
using detail::OpState;

namespace {

/// The event that an answer becomes; nullopt for messages that answer nothing.
std::optional<EventKind> answer_kind(MessageKind kind) {
  switch (kind) {
    case MessageKind::kActivityCompleted:
      return EventKind::kActivityCompleted;
    case MessageKind::kActivityFailed:
      return EventKind::kActivityFailed;
    case MessageKind::kActivityCanceled:
      return EventKind::kActivityCanceled;
    case MessageKind::kTimerFired:
      return EventKind::kTimerFired;
    case MessageKind::kChildCompleted:
      return EventKind::kChildCompleted;
    case MessageKind::kChildFailed:
      return EventKind::kChildFailed;
    case MessageKind::kChildCanceled:
      return EventKind::kChildCanceled;
    case MessageKind::kChildTerminated:
      return EventKind::kChildTerminated;
    case MessageKind::kChildStartFailed:
      return EventKind::kChildStartFailed;
    default:
      return std::nullopt;
  }
}

/// What the answer is an answer to; nullopt for events that answer nothing.
std::optional<OpKind> answered_kind(EventKind kind) {
  switch (kind) {
    case EventKind::kActivityCompleted:
    case EventKind::kActivityFailed:
    case EventKind::kActivityCanceled:
      return OpKind::kActivity;
    case EventKind::kTimerFired:
      return OpKind::kTimer;
    case EventKind::kChildCompleted:
    case EventKind::kChildFailed:
    case EventKind::kChildCanceled:
    case EventKind::kChildTerminated:
    case EventKind::kChildStartFailed:
      return OpKind::kChild;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<HistoryEvent> Execution::to_event(const Message& message) {
  HistoryEvent event;
  switch (message.kind) {
    case MessageKind::kEventRaised:
      event.kind = EventKind::kEventReceived;
      event.name = message.name;
      event.payload = message.payload;
      return event;
    case MessageKind::kCancel:
      if (cancel_requested_) return std::nullopt;
      event.kind = EventKind::kCancelRequested;
      event.text = message.text;
      return event;
    case MessageKind::kCleanupDeadline:
      // Without tasks there is no code to stop.
      if (message.execution != spec_.execution || !cancel_requested_ || cleanup_expired_ ||
          tasks_.empty()) {
        return std::nullopt;
      }
      event.kind = EventKind::kCleanupExpired;
      return event;
    case MessageKind::kDrainDeadline:
      if (message.execution != spec_.execution || phase_ != Phase::kDraining || stopped()) {
        return std::nullopt;
      }
      event.kind = EventKind::kDrainExpired;
      return event;
    default:
      return message.execution == spec_.execution ? answer_event(message) : std::nullopt;
  }
}

/// An answer to a command; nothing when the command is resolved, given up or unknown.
std::optional<HistoryEvent> Execution::answer_event(const Message& message) {
  HistoryEvent event;
  event.source = message.source;
  event.payload = message.payload;
  event.text = message.text;
  event.failure = message.failure;
  const UndoList::Entry* undo = rare_.peek().undos.running();
  if (undo != nullptr && undo->undo == message.source) {
    event.text.clear();
    if (message.kind == MessageKind::kActivityCompleted) {
      event.kind = EventKind::kUndoCompleted;
      event.payload.clear();
      return event;
    }
    event.kind = EventKind::kUndoFailed;
    if (event.failure.type.empty()) event.failure.type = kCanceledFailure;
    return event;
  }
  if (message.kind == MessageKind::kTimerFired &&
      rare_.peek().limits.contains(message.source.value)) {
    event.kind = EventKind::kTimerFired;
    return event;
  }
  const auto kind = answer_kind(message.kind);
  const auto op = ops_.find(message.source.value);
  if (!kind || op == ops_.end() || op->second->kind != answered_kind(*kind)) return std::nullopt;
  event.kind = *kind;
  return event;
}

void Execution::apply(const HistoryEvent& event) {
  switch (event.kind) {
    case EventKind::kStarted:
      return apply_start(event);
    case EventKind::kEventReceived:
      return hand_out(rare_.get().inbox.deliver(event.name, event.payload));
    case EventKind::kCancelRequested:
      return apply_cancel(event);
    case EventKind::kCleanupExpired:
      return apply_cleanup_expired(event);
    case EventKind::kMainBegan:  // tells where main begins, and when
      return;
    case EventKind::kSignalReceived:
      return apply_signal(event);
    case EventKind::kUpdateAccepted:
      return apply_update(event);
    case EventKind::kDrainExpired:
      return apply_drain_expired();
    case EventKind::kUndoCompleted:
    case EventKind::kUndoFailed:
      return apply_undo_answer(event);
    default:
      return apply_answer(event);
  }
}

void Execution::apply_start(const HistoryEvent& event) {
  root_ = std::make_shared<detail::ScopeState>(nullptr, scopes_, false);
  if (!has_code()) {
    phase_ = Phase::kMain;
    return;
  }
  scratch_.get().input = event.payload;
  try {
    main_frame_ = main_handler_->make(*this);
  } catch (...) {
    // The state object of the run could not be made: user code, so the run fails.
    ending_.get().failure = detail::failure_of(std::current_exception());
  }
}

/// What the execution before has left: a signal is taken by an event of this one, if there is a
/// handler for it.
void Execution::apply_carried(const HistoryEvent& event) {
  if (event.kind == EventKind::kSignalReceived) return keep_signal(event);
  apply(event);
}

void Execution::apply_answer(const HistoryEvent& event) {
  if (event.kind == EventKind::kTimerFired) {
    const auto& limits = rare_.peek().limits;
    const auto limit = limits.find(event.source.value);
    if (limit != limits.end()) return expire_call(limit->second);
  }
  const auto found = ops_.find(event.source.value);
  if (found == ops_.end() || found->second->kind != answered_kind(event.kind)) {
    if (!has_code()) return;  // history does not tell which given up calls were waited for
    return set_mismatch(event, "no open command for it", kForeignHistoryHint);
  }
  const OpRef op = found->second;
  if (event.kind == EventKind::kTimerFired) return resolve(op, OpState::kCompleted);
  detail::OpOutcome& outcome = op->make_outcome();
  outcome.payload = event.payload;
  outcome.failure = event.failure;
  OpState state = OpState::kFailed;
  switch (event.kind) {
    case EventKind::kActivityCompleted:
    case EventKind::kChildCompleted:
      state = OpState::kCompleted;
      break;
    case EventKind::kActivityCanceled:
      outcome.reason = op->scope->canceled ? op->scope->reason : "canceled";
      state = OpState::kCanceled;
      break;
    case EventKind::kChildCanceled:
      outcome.failure = {kCanceledFailure, event.text, false, {}};
      break;
    case EventKind::kChildTerminated:
      outcome.failure = {kTerminatedFailure, event.text, false, {}};
      break;
    case EventKind::kChildStartFailed:
      outcome.failure = {kIdTakenFailure, event.text, false, {}};
      break;
    default:
      break;
  }
  resolve(op, state);
}

void Execution::resolve(const OpRef& op, OpState state) {
  if (op->resolved()) return;
  if (RareParts* rare = rare_.find()) {
    const EventId event{op->event};
    if (state == OpState::kCompleted) {
      rare->undos.call_completed(event, op->outcome().payload);
    } else {
      rare->undos.call_ended_otherwise(event);
    }
  }
  op->count_outcome();
  op->state = state;
  op->order = ++resolutions_;
  if (op->event != 0) {
    op->leave();
    ops_.erase(op->event);
    unlimit_call(*op);
  }
  if (op->kind == OpKind::kEvent && state == OpState::kCanceled) {
    rare_.get().inbox.unsubscribe(*op);
  }
  if (detail::Waiter* waiter = std::exchange(op->waiter, nullptr)) waiter->op_resolved(*op);
}

/// The time limit of a call that has ended is no longer needed.
void Execution::unlimit_call(const detail::Op& call) {
  RareParts* rare = rare_.find();
  if (rare == nullptr) return;
  const auto limit = rare->limit_of.find(call.event);
  if (limit == rare->limit_of.end()) return;
  const std::int64_t timer = limit->second;
  rare->limit_of.erase(limit);
  if (rare->limits.erase(timer) != 0 && !stopped()) {
    scratch_.get().drops.emplace_back(
        new detail::Op(*this, OpKind::kTimer, timer, "timer", call.scope));
  }
}

void Execution::hand_out(const std::vector<EventInbox::Match>& matches) {
  for (const EventInbox::Match& match : matches) {
    match.wait->make_outcome().payload = match.payload;
    resolve(match.wait, OpState::kCompleted);
  }
}

/// The time limit of a call has passed: the call has failed, its child ends by its close policy.
void Execution::expire_call(std::int64_t call) {
  RareParts& rare = rare_.get();
  rare.limits.erase(rare.limit_of[call]);
  rare.limit_of.erase(call);
  const auto found = ops_.find(call);
  if (found == ops_.end()) return;
  const OpRef op = found->second;
  give_up(*op, true);
  op->make_outcome().failure = {
      kTimeoutFailure, "the call of '" + op->name + "' took too long", true, {}};
  resolve(op, OpState::kFailed);
}

void Execution::apply_cancel(const HistoryEvent& event) {
  cancel_requested_ = true;
  ending_.get().cancel_reason = event.text;
  ending_.get().next.reset();  // a run that is canceled has no next life
  if (!root_ || !has_code()) return;
  // The caller's commit has taken care of rows, timers and children: nothing is recorded again.
  std::vector<detail::ScopeRef> scopes{root_};
  if (const auto& handlers = rare_.peek().messages.peek().cancelable) scopes.push_back(handlers);
  cancel_trees(scopes, event.text, false);
}

/// Handlers that run are about to be given up: callers of updates are told now, whatever is still to
/// be waited for; nobody waits for a signal.
void Execution::tell_of_cut_handlers(const char* why) {
  for (const auto& [scope, handler] : rare_.peek().messages.peek().running) {
    if (handler.accepted == EventId{}) {
      log(kWarningLevel,
          "the handler of signal '" + handler.name + "' was given up: " + std::string(why));
      continue;
    }
    reply({RequestKind::kUpdate,
           handler.update,
           RequestStage::kCut,
           {},
           {kRunEndedFailure, "the run ended before the update was done", false, {}}});
  }
}

/// Handlers had time enough: their code is resumed no more, what they left open is given up.
void Execution::apply_drain_expired() {
  if (!has_code()) return;
  tell_of_cut_handlers("handler_drain_timeout has passed");
  rare_.get().messages.get().drain_expired = true;
  destroy_tasks(true);
  give_up_all(true);
}

void Execution::apply_cleanup_expired(const HistoryEvent& expired) {
  cleanup_expired_ = true;
  wound_down_ = wound_down_ || expired.number != 0;
  code_stopped_ = true;
  tell_of_cut_handlers("the time for cleanup has passed");
  destroy_frames();
  for (const auto& [event, op] : std::exchange(ops_, {})) {
    if (rare_.peek().undos.contains(EventId{event})) {
      ops_.emplace(event, op);
    } else if (mode_ == Mode::kLive && op->kind == OpKind::kActivity) {
      decisions().canceled_work.push_back(EventId{event});
    } else if (mode_ == Mode::kLive && op->kind == OpKind::kTimer) {
      decisions().canceled_timers.push_back(EventId{event});
    } else if (mode_ == Mode::kLive && op->kind == OpKind::kChild &&
               op->close_policy == ClosePolicy::kCancel) {
      decisions().canceled_children.push_back(EventId{event});
    }
  }
  if (RareParts* rare = rare_.find()) {
    for (const auto& [timer, limit] : std::exchange(rare->limits, {})) {
      if (mode_ == Mode::kLive) decisions().canceled_timers.push_back(EventId{timer});
    }
    rare->limit_of.clear();
  }
  scratch_.get().drops.clear();
  scratch_.get().dropped_scopes.clear();
}

void Execution::apply_undo_answer(const HistoryEvent& event) {
  if (rare_.peek().undos.running() == nullptr) return;
  const bool completed = event.kind == EventKind::kUndoCompleted;
  rare_.get().undos.end_running(completed ? UndoList::State::kDone : UndoList::State::kFailed,
                                event.failure);
}

}  // namespace perdure::replay
