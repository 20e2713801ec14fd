#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace perdure::runtime {

/// Places for handlers that run at a time. Shared with the tasks that hold one.
/// Threading: any thread.
class Slots {
 public:
  explicit Slots(std::size_t count) : count_(count), free_(count) {}

  void take(std::size_t count) {
    const std::lock_guard lock(mutex_);
    free_ -= count;
  }
  void release() {
    {
      const std::lock_guard lock(mutex_);
      ++free_;
    }
    changed_.notify_all();
  }
  std::size_t taken() const {
    const std::lock_guard lock(mutex_);
    return count_ - free_;
  }
  /// Waits until one is free, and answers how many; 0 when closed.
  std::size_t wait_for_free() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || free_ > 0; });
    return closed_ ? 0 : free_;
  }
  /// Ends every wait, now and later.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  const std::size_t count_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t free_;
  bool closed_ = false;
};

/// One place that is taken, shared by the handler that has it and by who may give the handler up.
/// Threading: any thread.
class HeldSlot {
 public:
  explicit HeldSlot(std::shared_ptr<Slots> slots) : slots_(std::move(slots)) {}

  /// True for the first who asks: the handler has returned, or was given up. That one settles the
  /// attempt and frees the place.
  bool end() { return !ended_.exchange(true); }
  void free() { slots_->release(); }

 private:
  const std::shared_ptr<Slots> slots_;
  std::atomic<bool> ended_{false};
};

}  // namespace perdure::runtime
