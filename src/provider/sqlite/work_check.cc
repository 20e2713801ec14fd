#include <cstddef>
#include <map>
#include <unordered_map>

#include "provider/sqlite/operations.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

namespace {

/// From so many on, one walk over all claims of the process costs less than a look at each.
constexpr std::size_t kWalkFrom = 16;

struct StandingClaim {
  std::int64_t serial = 0;
  bool marked = false;
};

using StandingClaims = std::unordered_map<WorkId, StandingClaim>;

StandingClaims standing_claims(Connection& db, Epoch epoch) {
  StandingClaims claims;
  Query row = db.query(Sql::kClaimsOfEpoch, epoch);
  while (row.next()) {
    claims[row.id<WorkId>(0)] = {.serial = row.integer(1), .marked = row.integer(2) != 0};
  }
  return claims;
}

}  // namespace

ClaimState claim_state(Connection& db, const HeldClaim& claim) {
  Query row = db.query(Sql::kCheckWork, claim.id);
  if (!row.next() || row.is_null(1)) return ClaimState::kGone;
  if (LockToken{row.id<Epoch>(0), row.integer(1)} != claim.lock) return ClaimState::kGone;
  return row.is_null(2) ? ClaimState::kRenewed : ClaimState::kCanceled;
}

std::vector<ClaimState> check_claims(Connection& db, const std::vector<HeldClaim>& claims) {
  pass_failpoint("store.check");
  std::map<Epoch, std::size_t> asked;
  for (const HeldClaim& claim : claims) ++asked[claim.lock.epoch];
  std::map<Epoch, StandingClaims> live;
  for (const auto& [epoch, count] : asked) {
    if (!check_epoch(db, epoch).ok()) continue;
    live[epoch] = count < kWalkFrom ? StandingClaims{} : standing_claims(db, epoch);
  }
  std::vector<ClaimState> states;
  states.reserve(claims.size());
  for (const HeldClaim& claim : claims) {
    const auto process = live.find(claim.lock.epoch);
    if (process == live.end()) {
      states.push_back(ClaimState::kGone);
      continue;
    }
    const auto standing = process->second.find(claim.id);
    if (standing != process->second.end() && standing->second.serial == claim.lock.serial) {
      states.push_back(standing->second.marked ? ClaimState::kCanceled : ClaimState::kRenewed);
    } else {
      // Gone, or lapsed and not taken by anybody: such a row keeps its token.
      states.push_back(claim_state(db, claim));
    }
  }
  return states;
}

}  // namespace perdure::sqlite
