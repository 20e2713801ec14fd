#include "runtime/attempts.h"

#include <utility>

#include "runtime/attempt.h"

namespace perdure::runtime {

void Attempts::add(std::shared_ptr<Attempt> attempt) {
  running_.with([&](ByLock& running) {
    const LockToken lock = attempt->item().lock;
    running.emplace(lock, std::move(attempt));
  });
}

void Attempts::remove(const LockToken& lock) {
  running_.with([&](ByLock& running) { running.erase(lock); });
}

void Attempts::fire(const std::vector<TouchedClaim>& claims, const std::string& reason) {
  if (claims.empty()) return;
  const auto hit = running_.with([&](const ByLock& running) {
    std::vector<std::shared_ptr<Attempt>> found;
    for (const TouchedClaim& claim : claims) {
      const auto attempt = running.find(claim.lock);
      if (attempt != running.end()) found.push_back(attempt->second);
    }
    return found;
  });
  // Outside the lock: a stop callback of user code may call anything.
  for (const std::shared_ptr<Attempt>& attempt : hit) attempt->stop(reason);
}

}  // namespace perdure::runtime
