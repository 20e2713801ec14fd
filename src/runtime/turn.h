#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "provider/orchestration_requests.h"
#include "provider/turn_commit.h"
#include "replay/execution.h"
#include "runtime/frame_keeper.h"
#include "runtime/orchestration_dispatcher.h"
#include "runtime/turn_code.h"

namespace perdure::runtime {

/// One item on its way through a step of the dispatcher: locked, then either committed, given back
/// or dropped.
struct OrchestrationDispatcher::Turn {
  OrchestrationItem item;
  const detail::OrchestrationHandler* main = nullptr;
  std::unique_ptr<replay::Execution> frames;
  /// Set: read, because there are no frames.
  std::optional<std::vector<HistoryEvent>> history;
  /// What runs, with the frames and the messages, from before it runs until it has ended.
  std::shared_ptr<TurnCode> code;
  bool cached = false;    ///< the frames were kept from the turn before
  bool to_check = false;  ///< committed; its frames go back after a check
  std::optional<replay::TurnResult> result;
  /// The run is canceled and its time for cleanup is over: it needs no code to end.
  bool past_cleanup = false;
  /// Set: why the run is wound down without its code, from this turn on.
  std::string no_code;
  /// Of an execution that has ended: the ids of the queries to it.
  std::vector<std::string> queries;
  /// Set: the lock is given back so instead of a commit.
  std::optional<AbandonedOrchestrationItem> given_back;

  /// Its messages are queries to an execution that has ended.
  bool of_ended() const { return is_terminal(item.status); }

  /// Whether the turn is still to be run or committed.
  bool open() const { return !given_back; }
  /// Whether its code is still to be run.
  bool to_run() const { return open() && code != nullptr; }

  /// Of the code that runs it, or ran it while there was some.
  const std::string& code_version() const { return main != nullptr ? main->version : item.version; }

  FrameKey key_before() const {
    return {item.instance, item.execution, item.last_event, item.last_turn};
  }

  FrameKey key_after() const {
    return {item.instance, item.execution, frames->last_event(), item.lock};
  }

  /// Instead of running anything: there is no run to be blocked, but somebody waits.
  void fail_queries(const Failure& failure) {
    code.reset();
    result = fail(queries, failure);
  }

  /// Computed again at once; nothing is charged.
  void again() { hold(Duration{}, Charge::kNothing, BlockedReason::kNone, {}); }

  /// Not now and not here; what is in the way is shown, and nothing is charged.
  void put_off(Duration delay, BlockedReason reason, std::string detail) {
    hold(delay, Charge::kNothing, reason, std::move(detail));
  }

  /// Tried again later; what is in the way is shown.
  void block(Duration delay, BlockedReason reason, std::string detail) {
    hold(delay, Charge::kDeferral, reason, std::move(detail));
  }

 private:
  void hold(Duration delay, Charge charge, BlockedReason reason, std::string detail) {
    frames.reset();
    code.reset();
    AbandonedOrchestrationItem entry;
    entry.instance = item.instance;
    entry.lock = item.lock;
    entry.delay = delay;
    entry.charge = charge;
    entry.blocked = reason;
    entry.blocked_detail = std::move(detail);
    given_back = std::move(entry);
  }
};

}  // namespace perdure::runtime
