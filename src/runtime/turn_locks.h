#pragma once

#include <chrono>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "provider/orchestration_requests.h"

namespace perdure::runtime {

/// The instances that a dispatcher has locked for the turns of one batch. Written by the
/// dispatcher, read by who renews. Threading: any thread.
class TurnLocks {
 public:
  struct Batch {
    std::vector<HeldOrchestrationItem> items;
    std::chrono::steady_clock::time_point since{};  ///< of the fetch, or of the last renewal
  };

  /// Holds the locks of a batch until it goes.
  class [[nodiscard]] Holding {
   public:
    Holding(TurnLocks& locks,
            const std::vector<OrchestrationItem>& items,
            std::chrono::steady_clock::time_point since)
        : locks_(locks) {
      locks_.batch_.with([&](Batch& batch) {
        batch.since = since;
        for (const OrchestrationItem& item : items)
          batch.items.push_back({item.instance, item.lock});
      });
    }
    Holding(const Holding&) = delete;
    Holding& operator=(const Holding&) = delete;
    ~Holding() {
      locks_.batch_.with([](Batch& batch) { batch.items.clear(); });
    }

   private:
    TurnLocks& locks_;
  };

  Batch held() const {
    return batch_.with([](const Batch& batch) { return batch; });
  }
  /// One that is given back or committed before the others of its batch.
  void release(const LockToken& lock) {
    batch_.with([&](Batch& batch) {
      std::erase_if(batch.items,
                    [&](const HeldOrchestrationItem& each) { return each.lock == lock; });
    });
  }
  void renewed(std::chrono::steady_clock::time_point at) {
    batch_.with([&](Batch& batch) { batch.since = at; });
  }

 private:
  Guarded<Batch> batch_;
};

}  // namespace perdure::runtime
