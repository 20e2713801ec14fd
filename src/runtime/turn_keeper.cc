#include "runtime/turn_keeper.h"

#include <algorithm>
#include <utility>

namespace perdure::runtime {

Step TurnKeeper::poll_once() {
  Step step;
  for (TurnLocks* const locks : watched_) {
    TurnLocks::Batch batch = locks->held();
    const auto now = steady_now();
    if (batch.items.empty() || now - batch.since < lock_for_ / 2) continue;
    RenewOrchestrationItemLocks renewal;
    renewal.entries = std::move(batch.items);
    renewal.lock_for = lock_for_;
    // Entries that are lost are refused at their commit: nobody needs to hear of it here.
    const auto answer = provider_.renew_orchestration_item_locks(
        std::move(renewal), {.timeout = std::chrono::seconds(1)});
    if (!answer.ok()) {
      step.trouble = answer.error();
      continue;
    }
    locks->renewed(now);
  }
  return step;
}

bool TurnKeeper::holds() const {
  return std::any_of(watched_.begin(), watched_.end(), [](const TurnLocks* locks) {
    return !locks->held().items.empty();
  });
}

}  // namespace perdure::runtime
