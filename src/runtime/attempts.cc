#include "runtime/attempts.h"

#include <utility>

#include "runtime/attempt.h"

namespace perdure::runtime {

void Attempts::expect(const std::vector<LockToken>& locks) {
  slots_.with([&](ByLock& slots) {
    for (const LockToken& lock : locks) slots.try_emplace(lock);
  });
}

void Attempts::add(std::shared_ptr<Attempt> attempt) {
  const std::optional<std::string> fired = slots_.with([&](ByLock& slots) {
    Slot& slot = slots[attempt->item().lock];
    slot.attempt = attempt;
    return slot.fired;
  });
  if (fired) attempt->stop(*fired);
}

void Attempts::remove(const std::vector<LockToken>& locks) {
  slots_.with([&](ByLock& slots) {
    for (const LockToken& lock : locks) slots.erase(lock);
  });
}

void Attempts::fire(const std::vector<TouchedClaim>& claims, const std::string& reason) {
  if (claims.empty()) return;
  const auto hit = slots_.with([&](ByLock& slots) {
    std::vector<std::shared_ptr<Attempt>> found;
    for (const TouchedClaim& claim : claims) {
      const auto slot = slots.find(claim.lock);
      if (slot == slots.end()) continue;
      if (slot->second.attempt) {
        found.push_back(slot->second.attempt);
      } else if (!slot->second.fired) {
        slot->second.fired = reason;
      }
    }
    return found;
  });
  // Outside the lock: a stop callback of user code may call anything.
  for (const std::shared_ptr<Attempt>& attempt : hit) attempt->stop(reason);
}

}  // namespace perdure::runtime
