#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace perdure::runtime {

/// Tells the lease keeper that a heartbeat is due to be stored, or the claim watch that a claim has
/// come that it could not see. Shared with attempts, whose handlers may outlive the one who listens.
/// Threading: any thread.
class BeatSignal {
 public:
  /// `due` must not block. It is not called any more when `disconnect` has returned.
  void connect(std::function<void()> due) {
    const std::lock_guard lock(mutex_);
    due_ = std::move(due);
  }
  void disconnect() { connect(nullptr); }
  void ring() {
    const std::lock_guard lock(mutex_);
    if (due_) due_();
  }

 private:
  std::mutex mutex_;
  std::function<void()> due_;  // guarded by mutex_
};

}  // namespace perdure::runtime
