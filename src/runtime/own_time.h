#pragma once

#include <chrono>
#include <cstddef>

#include "base/thread_probe.h"

namespace perdure::runtime {

/// How long a piece of code has run by its own fault: real time, less the time in which its thread
/// was ready to run and others did (the system counts it for each thread), and less the time by
/// which the looks themselves came late, since whatever stopped the one who looks (a stopped or
/// frozen process, a busy machine) stopped the code as well. The system counts a wait for a
/// processor when it ends, so what is counted here may become less at a later look. With a
/// processor for everybody it is exact, up to the time between two looks.
/// Threading: one thread.
class OwnTime {
 public:
  using Clock = std::chrono::steady_clock;

  struct Look {
    std::size_t piece = 0;
    Clock::time_point since{};  ///< the piece began then, or earlier
    Clock::time_point meant{};  ///< when the look was to be
    Clock::time_point now{};
    ThreadTimes times;
  };

  /// The time of the piece that is looked at, up to now.
  std::chrono::nanoseconds at(const Look& look);
  /// All that was counted is forgiven.
  void forgive() { own_ = ran_ = {}; }
  /// Of the time since the first look at this piece: whether the thread ran most of it.
  bool is_busy() const { return ran_ * 2 > own_; }

 private:
  std::size_t piece_ = static_cast<std::size_t>(-1);
  Clock::time_point from_{};  // counted up to here
  ThreadTimes seen_;          // at the last look
  std::chrono::nanoseconds own_{0};
  std::chrono::nanoseconds ran_{0};
};

}  // namespace perdure::runtime
