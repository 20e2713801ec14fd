#include "runtime/attempts.h"

#include <utility>

#include "runtime/attempt.h"

namespace perdure::runtime {

void stop_all(const std::vector<Stop>& stops) {
  std::vector<Attempt*> told;
  told.reserve(stops.size());  // nothing throws between telling and firing
  for (const Stop& stop : stops) {
    if (stop.attempt->tell(stop.cause, stop.reason)) told.push_back(stop.attempt.get());
  }
  for (Attempt* attempt : told) attempt->fire();
}

void Attempts::expect(const std::vector<LockToken>& locks) {
  const std::lock_guard lock(mutex_);
  for (const LockToken& each : locks) {
    slots_.try_emplace(each, Slot{.attempt = nullptr, .fired = {}, .expected_at = looks_});
  }
}

bool Attempts::add(std::shared_ptr<Attempt> attempt) {
  std::optional<Fired> fired;
  bool seen = true;
  {
    const std::lock_guard lock(mutex_);
    Slot& slot = slots_[attempt->item().lock];
    slot.attempt = attempt;
    fired = slot.fired;
    seen = slot.expected_at == looks_;
  }
  if (fired) attempt->stop(fired->cause, fired->reason);
  return seen;
}

void Attempts::remove(const std::vector<LockToken>& locks) {
  {
    const std::lock_guard lock(mutex_);
    for (const LockToken& each : locks) slots_.erase(each);
  }
  removed_.notify_all();
}

void Attempts::fire(const std::vector<TouchedClaim>& claims, const std::string& otherwise) {
  if (claims.empty()) return;
  std::vector<Stop> hit;
  {
    const std::lock_guard lock(mutex_);
    for (const TouchedClaim& claim : claims) {
      const auto slot = slots_.find(claim.lock);
      if (slot == slots_.end()) continue;
      const std::string& reason = claim.reason.empty() ? otherwise : claim.reason;
      if (slot->second.attempt) {
        hit.push_back({slot->second.attempt, StopCause::kCanceled, reason});
      } else if (!slot->second.fired) {
        slot->second.fired = Fired{StopCause::kCanceled, reason};
      }
    }
  }
  stop_all(hit);
}

void Attempts::fire_all(StopCause cause, const std::string& reason) {
  std::vector<Stop> hit;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [token, slot] : slots_) {
      if (slot.attempt) {
        hit.push_back({slot.attempt, cause, reason});
      } else if (!slot.fired) {
        slot.fired = Fired{cause, reason};
      }
    }
  }
  stop_all(hit);
}

std::vector<std::shared_ptr<Attempt>> Attempts::held() const {
  const std::lock_guard lock(mutex_);
  return all_held();
}

std::vector<std::shared_ptr<Attempt>> Attempts::look() {
  const std::lock_guard lock(mutex_);
  ++looks_;
  return all_held();
}

std::vector<std::shared_ptr<Attempt>> Attempts::all_held() const {
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
