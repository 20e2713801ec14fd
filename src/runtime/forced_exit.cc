#include "runtime/forced_exit.h"

#include <algorithm>
#include <stop_token>
#include <utility>

namespace perdure::runtime {

ForcedExit::ForcedExit(Duration timeout, std::function<void()> act) {
  if (timeout <= Duration::zero()) return;
  thread_ = std::jthread([this, timeout, act = std::move(act)](const std::stop_token& done) {
    {
      std::unique_lock lock(mutex_);
      over_.wait_for(lock, done, std::min(timeout, kLongestWait), [] { return false; });
    }
    if (!done.stop_requested()) act();
  });
}

}  // namespace perdure::runtime
