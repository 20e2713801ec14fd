#include <utility>

#include "replay/execution.h"

namespace perdure::replay {

/// How a run ends: main ends, its siblings are canceled and joined, owed undos run, the terminal
/// event is written. Answers true when the code may run on because of it.
bool Execution::advance_end() {
  if (phase_ == Phase::kStarting) return false;
  if (phase_ == Phase::kMain) {
    if (main_ != nullptr || !root_) return false;
    begin_joining();
    return code_can_go_on();
  }
  if (phase_ == Phase::kJoining) {
    if (main_runs() && !code_stopped_) return false;
    begin_draining();
  }
  if (phase_ == Phase::kDraining) {
    if (handler_tasks() > 0 && !code_stopped_) return false;
    if (ending_.peek().next) {
      finish_as_new();
      return false;
    }
    phase_ = Phase::kUndoing;
  }
  if (phase_ != Phase::kUndoing) return false;
  const bool undo = cancel_requested_ || ending_.peek().failure;
  if (undo && advance_undo()) return false;
  finish();
  return false;
}

bool Execution::code_can_go_on() {
  return !scratch_.get().ready.empty() || !scratch_.get().drops.empty();
}

void Execution::begin_joining() {
  phase_ = Phase::kJoining;
  // Nothing that main left open goes on beside its siblings, its handlers or its undos.
  const bool undoes = ending_.peek().failure && rare_.peek().undos.has_owed();
  if (!code_stopped_ && (!tasks_.empty() || undoes)) {
    cancel_trees({root_}, "main has ended", true);
  }
  if (!code_can_go_on()) advance_end();
}

/// Handlers may finish what they have begun.
void Execution::begin_draining() {
  phase_ = Phase::kDraining;
  if (handler_tasks() == 0 || code_stopped_ || mode_ != Mode::kLive) return;
  decisions().drain_at = add(now_, options_.handler_drain_timeout);
}

/// Main continues as new: it and its siblings end here. False when there is nothing to wait for and
/// the execution has ended.
bool Execution::begin_next() {
  if (handler_tasks() == 0) {
    finish_as_new();
    return false;
  }
  destroy_tasks(false);
  code_stopped_ = false;
  give_up_all(false);
  begin_draining();
  return true;
}

/// True while undos are to be waited for.
bool Execution::advance_undo() {
  if (rare_.peek().undos.waits_for_calls()) {
    if (!std::exchange(undone_calls_given_up_, true)) give_up_undone_calls();
    return true;
  }
  if (rare_.peek().undos.running() != nullptr) return true;
  const UndoList::Entry* next = rare_.get().undos.next();
  if (next == nullptr) return false;
  HistoryEvent event;
  event.kind = EventKind::kUndoScheduled;
  event.source = next->call;
  event.name = next->name;
  event.payload = next->result;
  const auto recorded = record_command(std::move(event));
  if (!recorded) return true;
  rare_.get().undos.begin_next(recorded->id);
  if (mode_ == Mode::kLive) {
    NewWork work = decode_undo_policy(next->policy).value_or(NewWork{});
    work.event = recorded->id;
    work.queue = next->queue.empty() ? spec_.queue : next->queue;
    work.name = next->name;
    work.input = next->result;
    work.shielded = true;
    decisions().work.push_back(std::move(work));
  }
  return true;
}

/// Nobody waits for these calls any more, but their outcome decides whether there is something to
/// undo.
void Execution::give_up_undone_calls() {
  for (const auto& [event, op] : ops_) {
    // A cancel has marked their rows in the commit of its caller, except for shielded ones, which
    // history does not tell apart.
    const bool marked = has_code() && cancel_requested_ && !op->scope->shielded;
    if (!marked && rare_.peek().undos.contains(EventId{event})) give_up(*op);
  }
}

void Execution::finish() {
  HistoryEvent end;
  const UndoList::Entry* broken = rare_.peek().undos.failed();
  const std::optional<Failure>& own = ending_.peek().failure;
  Failure failure = own.value_or(Failure{});
  if (broken != nullptr) {
    std::string message = "undo '" + broken->name + "' failed: " + broken->failure.message;
    if (own) message += "; it ran because of " + own->type + ": " + own->message;
    failure = {kCompensationFailure, std::move(message), false, broken->failure.details};
  }
  ExecutionStatus status = ExecutionStatus::kCompleted;
  if (cancel_requested_) {
    end.kind = EventKind::kCanceled;
    end.text = ending_.peek().cancel_reason;
    if (broken != nullptr) end.failure = failure;
    status = ExecutionStatus::kCanceled;
  } else if (own || broken != nullptr) {
    end.kind = EventKind::kFailed;
    end.failure = failure;
    status = ExecutionStatus::kFailed;
  } else {
    end.kind = EventKind::kCompleted;
    end.payload = ending_.peek().output.value_or("null");
  }
  HistoryEvent made = end;
  if (!record_command(std::move(end))) return;
  phase_ = Phase::kEnded;
  code_stopped_ = true;
  end_ = status;
  if (mode_ == Mode::kLive) {
    decisions().output = std::move(made.payload);
    decisions().failure = std::move(made.failure);
  }
  destroy_frames();
}

void Execution::finish_as_new() {
  destroy_frames();
  code_stopped_ = true;
  HistoryEvent end;
  end.kind = EventKind::kContinuedAsNew;
  end.payload = ending_.peek().next->input;
  if (!record_command(std::move(end))) return;
  phase_ = Phase::kEnded;
  end_ = ExecutionStatus::kContinuedAsNew;
  NextExecution& next = *ending_.get().next;
  next.carried = rare_.peek().inbox.unread();
  for (const auto& [kept, signal] : rare_.peek().messages.peek().kept) {
    HistoryEvent event;
    event.kind = EventKind::kSignalReceived;
    event.name = signal.name;
    event.payload = signal.payload;
    next.carried.push_back(std::move(event));
  }
  if (mode_ == Mode::kLive) decisions().next = next;
}

ExecutionStatus Execution::live_status() const {
  if (cancel_requested_) return ExecutionStatus::kCanceling;
  if (ending_.peek().failure) return ExecutionStatus::kFailing;
  if (phase_ > Phase::kMain) return ExecutionStatus::kCompleting;
  return ExecutionStatus::kRunning;
}

}  // namespace perdure::replay
