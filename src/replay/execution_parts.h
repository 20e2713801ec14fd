#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <perdure/detail/op.h>
#include <perdure/detail/promise_base.h>

#include "base/random.h"
#include "model/decisions.h"
#include "replay/event_inbox.h"
#include "replay/on_demand.h"
#include "replay/turn_decisions.h"
#include "replay/undo_list.h"

/// Parts of an `Execution` that one which sleeps does without: each is made on demand.
namespace perdure::replay {

/// A coroutine that is to run next.
struct Resumption {
  std::coroutine_handle<> frame;
  detail::PromiseBase* promise;
};

/// A call whose expression may still go on with `undo_with`: it is recorded with the next command,
/// or when the code waits or ends. So a bad undo leaves no trace of the call.
struct PendingCall {
  detail::OpRef op;
  HistoryEvent event;
  NewWork work;
};

/// What lives from the begin of a replay or a turn to the end of that turn. A turn hands out the
/// decisions and the log and uses up all else, so nothing is lost when it goes.
struct TurnScratch {
  TurnDecisions decisions;
  std::vector<LogLine> log;
  std::vector<HistoryEvent> unapplied;  ///< a start that had no turn, with what was carried over
  std::string input;                    ///< of main, until it begins
  std::deque<Resumption> ready;
  std::optional<PendingCall> pending_call;
  std::vector<detail::OpRef> drops;
  std::vector<detail::ScopeRef> dropped_scopes;
  std::vector<detail::OpRef> ended_tasks;
};

/// How the run is about to end, as far as that is known.
struct Ending {
  std::string cancel_reason;
  std::optional<Failure> failure;     ///< of the run: main's, or that of a sibling, the first
  std::optional<std::string> output;  ///< of main
  std::optional<NextExecution> next;
};

/// A message handler that runs: its update, or none.
struct RunningHandler {
  std::string name;
  EventId accepted;    ///< of an update: the event that accepted it; 0 = a signal
  std::string update;  ///< its id
};

/// A signal that nobody has taken.
struct KeptSignal {
  std::string name;
  std::string payload;
};

/// What runs with message handlers or conditions have.
struct MessageParts {
  /// Where handlers run, beside main: those that a cancel of the run does not reach, and those that
  /// it does.
  detail::ScopeRef supervised;
  detail::ScopeRef cancelable;
  std::map<std::int64_t, RunningHandler> running;  ///< by scope
  std::size_t tasks = 0;                           ///< handlers, and what they spawned
  bool drain_expired = false;
  std::map<EventId, KeptSignal> kept;              ///< by the event that keeps it, in that order
  std::vector<detail::OpRef> conditions;           ///< in the order of the waits
  std::int64_t conditions_made = 0;
};

/// What few runs have: events from outside, undos, patches, objects that user code keeps for the
/// run, limits of children.
struct RareParts {
  EventInbox inbox;
  OnDemand<MessageParts> messages;
  UndoList undos;
  std::map<std::string, bool, std::less<>> patches;
  std::unordered_map<const void*, std::shared_ptr<void>> locals;
  SeededRandom unrecorded{1};  ///< for code that was stopped
  /// Timers that limit calls of children: timer event -> call event, and back.
  std::map<std::int64_t, std::int64_t> limits;
  std::map<std::int64_t, std::int64_t> limit_of;
};

}  // namespace perdure::replay
