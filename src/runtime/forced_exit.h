#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/time.h"

namespace perdure::runtime {

/// Acts when it is not destroyed in time: for whoever has to end something that does not end by
/// itself. Threading: made and destroyed on any thread; `act` is called once, on a thread of its
/// own, and destruction waits for it when it has begun. When the system gives no thread for that it
/// never acts, and an error in the log says so.
class ForcedExit {
 public:
  /// Zero: never.
  ForcedExit(Duration timeout, std::function<void()> act);
  ForcedExit(const ForcedExit&) = delete;
  ForcedExit& operator=(const ForcedExit&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable_any over_;
  std::jthread thread_;  // last: it uses the above
};

}  // namespace perdure::runtime
