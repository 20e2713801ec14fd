#pragma once

#include <memory>
#include <string>
#include <vector>

#include <perdure/detail/handler_table.h>

#include "base/random.h"
#include "provider/provider.h"
#include "provider/token_mint.h"
#include "runtime/attempts.h"
#include "runtime/frame_keeper.h"
#include "runtime/replay_check.h"
#include "runtime/step.h"
#include "runtime/step_options.h"
#include "runtime/turn_locks.h"
#include "runtime/turn_runner.h"

namespace perdure::runtime {

/// Runs the turns of one queue: locks instances that have messages, brings their frames back or
/// replays them, runs the turn, commits what it decided.
///
/// One turn, one commit: whatever is not committed never happened, and the turn is computed again
/// from history. Trouble with the store delays a run and never fails it. A mismatch, a row that
/// cannot be read and missing code block the run with the reason shown, and are tried again with
/// growing delays; but a canceled run whose time for cleanup is over is ended without its code,
/// from history alone (docs/adr/005). Log lines are written and stop tokens fire after the
/// successful answer only. A crash leaves locks that end by expiry or takeover.
///
/// The code of turns runs on a thread of its own when it has a limit (`TurnRunner`). A turn that
/// does not return is given back as blocked: deadlock when its time is over, and until it returns
/// its instance is given back each time, for a moment, so that others may run it; its neighbours
/// go on. One that has not returned at the
/// deadline of a stop is given back as if it had not begun. Threading: one thread per object, but
/// for `hurry`; several may serve one queue. The frame keeper is shared as far as it allows that.
class OrchestrationDispatcher {
 public:
  /// What it works with; all must outlive it, and frames must not outlive the handlers.
  struct Parts {
    Provider& provider;
    TokenMint& tokens;
    const detail::HandlerTable& handlers;
    FrameKeeper& frames;
    Attempts& attempts;
    Random& random;
    /// With a deadlock timeout: `used` shares the handlers and the random source.
    TurnRunner::Parts runner = {};
  };

  OrchestrationDispatcher(Parts parts, DispatcherOptions options);

  /// Fetches up to `batch` instances and takes each through one turn.
  Step poll_once();

  /// The step under way is to end soon: behind the turn that runs now no other is begun; those are
  /// given back, and nothing is charged. No replay is checked any more. On any thread.
  void hurry() { runner_.hurry(); }

  /// What it holds during a step, for who renews locks.
  TurnLocks& locks() { return locks_; }

 private:
  struct Turn;
  using Turns = std::vector<Turn*>;

  std::vector<Turn> prepare(std::vector<OrchestrationItem> items, TimePoint now);
  void look_up(Turn& turn, TimePoint now);
  void set_aside(Turn& turn, const Error& error);
  void cancel_overdue(Turn& turn);
  void block_by_code(Turn& turn, TimePoint now, BlockedReason reason, std::string detail);
  bool shut_out(Turn& turn, TimePoint now);
  void read_missing(std::vector<Turn>& turns, TimePoint now);
  void run(std::vector<Turn>& turns, TimePoint now);
  void make_code(Turn& turn, TimePoint now);
  Turns run_some(Turns& rest, TimePoint now);
  void end_stuck(Turn& turn, TimePoint now, const TurnRunner::Ran& ran);
  void end_code(Turn& turn, TimePoint now);
  void commit(const Turns& turns);
  void react(Turn& turn, const Result<TurnCommitted>& answer);
  void keep_frames(Turn& turn);
  void check_replays(std::vector<Turn>& turns);
  void look_whether_committed(Turn& turn, const Error& error);
  void succeed(Turn& turn, EventId last_event);
  void give_back(const Turns& turns);

  Parts parts_;
  const DispatcherOptions options_;
  TurnLocks locks_;
  TurnRunner runner_;
  ReplayCheck replay_check_;
};

}  // namespace perdure::runtime
