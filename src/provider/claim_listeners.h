#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "model/work_item.h"

namespace perdure {

/// Who runs claims in this process and wants to hear at once, without a read, which of them a
/// commit took away or marked. Told by whoever made the commit, from its answer. Only the fastest
/// way: who is not told (another process, an answer that was lost) learns it from `wait_for_change`
/// and `check_work_items`. Threading: any thread.
class ClaimListeners {
 public:
  /// Must not block, and must not call back here.
  using Listener = std::function<void(const std::vector<TouchedClaim>&, const std::string& reason)>;

  /// Listens for its own lifetime. When it is gone, no call is under way either.
  class [[nodiscard]] Subscription {
   public:
    Subscription() = default;
    Subscription(ClaimListeners& all, Listener listener) : all_(&all) {
      const std::lock_guard lock(all_->mutex_);
      place_ = all_->listeners_.insert(all_->listeners_.end(), std::move(listener));
    }
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;
    ~Subscription() { end(); }
    void end() {
      if (all_ == nullptr) return;
      const std::lock_guard lock(all_->mutex_);
      all_->listeners_.erase(place_);
      all_ = nullptr;
    }

   private:
    ClaimListeners* all_ = nullptr;
    std::list<Listener>::iterator place_;
  };

  void tell(const std::vector<TouchedClaim>& claims, const std::string& reason) {
    if (claims.empty()) return;
    const std::lock_guard lock(mutex_);
    for (const Listener& each : listeners_) each(claims, reason);
  }

 private:
  std::mutex mutex_;
  std::list<Listener> listeners_;  // guarded by mutex_
};

}  // namespace perdure
