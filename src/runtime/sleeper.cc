#include "runtime/sleeper.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "base/time.h"

namespace perdure::runtime {

void RealSleeper::sleep_for(Duration time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, std::min(time, kLongestWait), [] { return false; });
}

Sleeper& real_sleeper() {
  static auto* const sleeper = new RealSleeper;
  return *sleeper;
}

}  // namespace perdure::runtime
