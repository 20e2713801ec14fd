#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <perdure/activity_context.h>

#include "cli/bench/starts.h"

namespace perdure::bench {

/// Handlers that wait for each other: none returns before it is let go, so that when all have
/// begun, all of them run at once. Shared with them. Threading: any thread.
class Gathering {
 public:
  /// For handlers 0 to `handlers` - 1.
  explicit Gathering(std::int64_t handlers) : starts_(handlers) {}

  Starts& starts() { return starts_; }

  /// The handler: answers its number.
  std::int64_t attend(ActivityContext& ctx, std::int64_t number) {
    starts_.note(number);
    std::unique_lock lock(mutex_);
    ctx.wait(let_go_, lock, [this] { return free_; });
    return number;
  }

  void let_go() {
    {
      const std::lock_guard lock(mutex_);
      free_ = true;
    }
    let_go_.notify_all();
  }

 private:
  Starts starts_;
  std::mutex mutex_;
  std::condition_variable_any let_go_;
  bool free_ = false;  // guarded by mutex_
};

}  // namespace perdure::bench
