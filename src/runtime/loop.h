#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "provider/provider.h"
#include "runtime/step.h"

namespace perdure::runtime {

/// What a loop is made of.
struct LoopOptions {
  const char* name = "";  ///< for the log
  /// What ends its wait; `after`, `until` and `bound` are filled in.
  Interest interest;
  /// Set: waits with this instead, up to the bound, and `wake` ends that wait.
  std::function<void(std::chrono::milliseconds bound)> wait;
  std::function<void()> wake;
  /// The longest wait, counted from the begin of the step before it, so that who steps when idle
  /// does so in this rhythm however long a step takes (but rests for half of it at least); then it
  /// looks whether it was nudged, and steps when `steps_when_idle`.
  std::chrono::milliseconds bound = std::chrono::seconds(1);
  bool steps_when_idle = false;
  /// At least so long between two steps that found nothing to do.
  std::chrono::milliseconds pause{0};
  /// Hears of trouble with the store, on the loop's thread; may be empty. Must not throw.
  std::function<void(const Error&)> on_trouble;
  /// After trouble with the store: the first pause, doubling up to the longest.
  std::chrono::milliseconds first_backoff = std::chrono::milliseconds(20);
  std::chrono::milliseconds longest_backoff = std::chrono::seconds(1);
};

/// A thread around a step: goes on while there is something to do, sleeps until the store has
/// changed or the time that the step named has come, and pauses when the store is in trouble.
/// No wake-up is lost, neither by a commit nor by a nudge: the mark is taken before the step.
/// Threading: `nudge`, `request_stop` on any thread.
class Loop {
 public:
  /// `step` is called on the loop's thread only. `on_lost` is called there, once, when a step was
  /// told that the registration has ended; the loop ends then.
  Loop(Provider& provider,
       LoopOptions options,
       std::function<Step()> step,
       std::function<void()> on_lost);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  /// Stops and joins.
  ~Loop();

  /// There is something to do that the store does not tell.
  void nudge();
  /// No further step begins. Does not wait for the one under way.
  void request_stop();
  /// Waits until it has ended; `request_stop` first.
  void join();
  /// The same, but not beyond `until`: false.
  bool wait_until_ended(std::chrono::steady_clock::time_point until);

 private:
  void run();
  void wake();
  bool step_once();
  void wait(const ChangeMark& mark);
  void pause_for(std::chrono::milliseconds time);

  Provider& provider_;
  const LoopOptions options_;
  const std::function<Step()> step_;
  const std::function<void()> on_lost_;

  std::mutex mutex_;
  std::condition_variable stopped_;
  std::atomic<bool> stopping_{false};  // written with mutex_ held
  std::atomic<bool> nudged_{false};
  bool ended_ = false;  // guarded by mutex_

  // The loop's thread only.
  std::chrono::steady_clock::time_point began_{};  // the last step
  Step last_;
  std::chrono::milliseconds backoff_{0};

  std::thread thread_;
};

}  // namespace perdure::runtime
