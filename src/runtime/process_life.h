#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "provider/provider.h"
#include "runtime/step.h"

namespace perdure::runtime {

/// Monotonic real time, as `steady_now()` gives it. Life and death of processes are judged by it
/// alone: it does not jump when somebody sets the clock.
using SteadyTime = std::chrono::steady_clock::time_point;

/// The heartbeat of one registration. Beats once per interval while this process holds a claim or
/// an instance lock, or while its watch over others needs it; otherwise it writes nothing, so that
/// an idle store stays untouched.
///
/// A crash ends the beats; the counter stays, and others see it stand still. A registration that
/// was ended by others is learned here at the latest: the step's trouble is LockLost.
/// Threading: one thread for this object and for the `ProcessWatch` that uses it.
class ProcessLife {
 public:
  struct Parts {
    Provider& provider;  ///< must outlive it
    Epoch epoch;
    /// Whether this process holds a claim or an instance lock now. Called on the thread of the
    /// step; must not block.
    std::function<bool()> holds;
  };

  /// Requires: `interval` is greater than zero.
  ProcessLife(Parts parts, Duration interval);

  /// Beats when it is time to and somebody wants it. Trouble other than LockLost: nothing is known
  /// to be written, and it is tried again one interval later.
  Step poll_once(SteadyTime now);

  /// When the next call may do something. Earlier calls do nothing.
  SteadyTime due() const { return due_; }

  /// Whether it shall beat also while this process holds nothing.
  void beat_while_idle(bool wanted) { wanted_ = wanted; }

  Epoch epoch() const { return parts_.epoch; }
  /// Beats of this object that were committed.
  std::int64_t beats() const { return beats_; }

 private:
  const Parts parts_;
  const Duration interval_;
  SteadyTime due_{};
  bool wanted_ = false;
  std::int64_t beats_ = 0;
};

}  // namespace perdure::runtime
