#include <algorithm>
#include <utility>

#include "replay/commands.h"
#include "replay/execution.h"

namespace perdure::replay {

using detail::Op;
using detail::OpKind;
using detail::OpRef;
using detail::OpState;

/// Takes history as it stands: which commands are open, which undos are owed and how far they got.
void Execution::retrace() {
  while (mode_ == Mode::kReplaying && journal_.peek() != nullptr) {
    const HistoryEvent event = journal_.take();
    now_ = std::max(now_, event.at);
    if (is_terminal(event.kind)) {
      phase_ = Phase::kEnded;
    } else if (is_command(event.kind)) {
      retrace_command(event);
    } else {
      apply(event);
    }
  }
}

void Execution::retrace_command(const HistoryEvent& command) {
  const auto source = ops_.find(command.source.value);
  const OpRef before = source == ops_.end() ? OpRef() : source->second;
  switch (command.kind) {
    case EventKind::kActivityScheduled:
      add_op(OpKind::kActivity, command.id, command.name);
      return;
    case EventKind::kTimerCreated:
      add_op(OpKind::kTimer, command.id, "timer");
      return;
    case EventKind::kChildScheduled:
      // The store knows its close policy, and keeps it when the run ends.
      add_op(OpKind::kChild, command.id, command.name)->close_policy = ClosePolicy::kAbandon;
      return;
    case EventKind::kUndoOwed:
      return rare_.get().undos.add(command);
    case EventKind::kUndoScheduled:
      return retrace_undo(command);
    case EventKind::kActivityDropped:
    case EventKind::kTimerDropped:
    case EventKind::kChildDropped:
      if (!before) return;
      before->given_up = true;
      if (!rare_.peek().undos.contains(command.source)) resolve(before, OpState::kCanceled);
      return;
    default:
      return;
  }
}

void Execution::retrace_undo(const HistoryEvent& scheduled) {
  UndoList& undos = rare_.get().undos;
  const UndoList::Entry* next = undos.next();
  if (next == nullptr || next->call != scheduled.source || undos.running() != nullptr) {
    return set_mismatch(scheduled, "an undo that is not owed next", kForeignHistoryHint);
  }
  undos.begin_next(scheduled.id);
}

/// Recorded before anything is decided, so that code which comes back is not run behind it.
void Execution::begin_wind_down(EventId seen_by_code) {
  if (mode_ != Mode::kLive || phase_ == Phase::kEnded) return;
  if (!cancel_requested_) {
    journal_.set_mismatch({seen_by_code, "a cancel of the run", "none", kForeignHistoryHint});
    mode_ = Mode::kBroken;
    return;
  }
  HistoryEvent event;
  event.kind = EventKind::kCleanupExpired;
  event.number = seen_by_code.value;
  event.at = now_;
  step(journal_.append(std::move(event)));
}

}  // namespace perdure::replay
