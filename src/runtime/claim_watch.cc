#include "runtime/claim_watch.h"

#include <vector>

#include "runtime/attempt.h"
#include "runtime/touched_claims.h"

namespace perdure::runtime {

Step ClaimWatch::poll_once() {
  const std::vector<std::shared_ptr<Attempt>> held = attempts_.look();
  if (held.empty()) return {};
  std::vector<HeldClaim> claims;
  claims.reserve(held.size());
  for (const std::shared_ptr<Attempt>& attempt : held) {
    claims.push_back({attempt->item().id, attempt->item().lock, std::nullopt});
  }
  const Result<std::vector<ClaimState>> states = provider_.check_work_items(claims);
  if (!states.ok()) return {.trouble = states.error()};
  stop_touched(provider_, held, *states);
  return {};
}

}  // namespace perdure::runtime
