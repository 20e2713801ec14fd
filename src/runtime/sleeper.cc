#include "runtime/sleeper.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace perdure::runtime {

namespace {

/// Longer than a process lives, and short enough to be added to any time.
constexpr Duration kLongest = std::chrono::hours(24 * 365 * 10);

}  // namespace

void RealSleeper::sleep_for(Duration time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, std::min(time, kLongest), [] { return false; });
}

Sleeper& real_sleeper() {
  static auto* const sleeper = new RealSleeper;
  return *sleeper;
}

}  // namespace perdure::runtime
