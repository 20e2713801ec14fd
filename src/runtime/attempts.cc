#include "runtime/attempts.h"

#include <utility>

#include "runtime/attempt.h"

namespace perdure::runtime {

void Attempts::expect(const std::vector<LockToken>& locks) {
  const std::lock_guard lock(mutex_);
  for (const LockToken& each : locks) slots_.try_emplace(each);
}

void Attempts::add(std::shared_ptr<Attempt> attempt) {
  std::optional<Fired> fired;
  {
    const std::lock_guard lock(mutex_);
    Slot& slot = slots_[attempt->item().lock];
    slot.attempt = attempt;
    fired = slot.fired;
  }
  if (fired) attempt->stop(fired->cause, fired->reason);
}

void Attempts::remove(const std::vector<LockToken>& locks) {
  {
    const std::lock_guard lock(mutex_);
    for (const LockToken& each : locks) slots_.erase(each);
  }
  removed_.notify_all();
}

void Attempts::fire(const std::vector<TouchedClaim>& claims, const std::string& reason) {
  if (claims.empty()) return;
  std::vector<std::shared_ptr<Attempt>> hit;
  {
    const std::lock_guard lock(mutex_);
    for (const TouchedClaim& claim : claims) {
      const auto slot = slots_.find(claim.lock);
      if (slot == slots_.end()) continue;
      if (slot->second.attempt) {
        hit.push_back(slot->second.attempt);
      } else if (!slot->second.fired) {
        slot->second.fired = Fired{StopCause::kCanceled, reason};
      }
    }
  }
  // Outside the lock: a stop callback of user code may call anything.
  for (const std::shared_ptr<Attempt>& attempt : hit) attempt->stop(StopCause::kCanceled, reason);
}

void Attempts::fire_all(StopCause cause, const std::string& reason) {
  std::vector<std::shared_ptr<Attempt>> hit;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [token, slot] : slots_) {
      if (slot.attempt) {
        hit.push_back(slot.attempt);
      } else if (!slot.fired) {
        slot.fired = Fired{cause, reason};
      }
    }
  }
  for (const std::shared_ptr<Attempt>& attempt : hit) attempt->stop(cause, reason);
}

std::vector<std::shared_ptr<Attempt>> Attempts::held() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Attempt>> held;
  held.reserve(slots_.size());
  for (const auto& [token, slot] : slots_) {
    if (slot.attempt) held.push_back(slot.attempt);
  }
  return held;
}

bool Attempts::empty() const {
  const std::lock_guard lock(mutex_);
  return slots_.empty();
}

bool Attempts::wait_until_empty(std::chrono::steady_clock::time_point until) const {
  std::unique_lock lock(mutex_);
  return removed_.wait_until(lock, until, [this] { return slots_.empty(); });
}

}  // namespace perdure::runtime
