#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <unordered_map>
#include <vector>

#include "provider/provider.h"
#include "runtime/attempt.h"
#include "runtime/attempts.h"
#include "runtime/step.h"

namespace perdure::runtime {

struct LeaseOptions {
  Duration lock_timeout = std::chrono::seconds(30);  ///< worker_lock_timeout
  Duration buffer = std::chrono::seconds(5);         ///< worker_lock_renewal_buffer

  /// How long after one renewal the next is due: half of the lock when the buffer is not shorter
  /// than that. At least a quarter of the lock stays, since claims are looked after step by step.
  Duration renewal() const {
    return lock_timeout -
           std::clamp(buffer, std::min(lock_timeout / 4, kLeastBuffer), lock_timeout / 2);
  }

 private:
  static constexpr Duration kLeastBuffer = std::chrono::seconds(3);
};

/// Keeps the claims of this process: one renewal for all when it is time, and one for those with a
/// heartbeat that is due to be stored. A claim that turns out to be gone or marked: the stop token
/// fires; but who watches for that is the ClaimWatch, which no write holds up.
///
/// No answer is not bad news: a renewal that failed is tried again until the lock would have ended
/// by our own clock, counted from before it was asked for; only then the attempt is told to stop,
/// and its row is left as it is.
/// Threading: one thread per object.
class LeaseKeeper {
 public:
  LeaseKeeper(Provider& provider, Attempts& attempts, Epoch epoch, LeaseOptions options);

  /// Renews when it is time. Nothing is written when nothing is due.
  Step poll_once();

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  using Held = std::vector<std::shared_ptr<Attempt>>;

  /// `all`: these are all claims that are held.
  Step renew(const Held& held, bool all);
  void give_up_overdue(const Held& held);
  SteadyTime held_until(const Attempt& attempt) const;

  Provider& provider_;
  Attempts& attempts_;
  const Epoch epoch_;
  const LeaseOptions options_;
  SteadyTime renewed_at_;
  std::unordered_map<LockToken, SteadyTime> renewed_;  // when the last good renewal was sent
};

}  // namespace perdure::runtime
