#include "runtime/lease_keeper.h"

#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "runtime/touched_claims.h"

namespace perdure::runtime {

LeaseKeeper::LeaseKeeper(Provider& provider, Attempts& attempts, Epoch epoch, LeaseOptions options)
    : provider_(provider),
      attempts_(attempts),
      epoch_(epoch),
      options_(options),
      renewed_at_(steady_now()) {}

Step LeaseKeeper::poll_once() {
  const Held held = attempts_.held();
  if (held.empty()) {
    renewed_.clear();
    renewed_at_ = steady_now();
    return {};
  }
  const SteadyTime now = steady_now();
  Held beating;
  for (const std::shared_ptr<Attempt>& attempt : held) {
    if (attempt->take_due_beat(now)) beating.push_back(attempt);
  }
  const bool all = now - renewed_at_ >= options_.renewal();
  if (!all && beating.empty()) return {};
  const Step step = renew(all ? held : beating, all);
  if (step.trouble) {
    for (const std::shared_ptr<Attempt>& attempt : beating) attempt->put_back_beat();
    give_up_overdue(held);
  }
  return step;
}

Step LeaseKeeper::renew(const Held& held, bool all) {
  RenewWorkItemLocks renewal;
  renewal.epoch = epoch_;
  renewal.lock_for = options_.lock_timeout;
  for (const std::shared_ptr<Attempt>& attempt : held) {
    renewal.claims.push_back({attempt->item().id, attempt->item().lock, attempt->reported()});
  }
  const SteadyTime sent_at = steady_now();
  const Result<std::vector<ClaimState>> states =
      provider_.renew_work_item_locks(std::move(renewal), {.timeout = std::chrono::seconds(1)});
  if (!states.ok()) return {.trouble = states.error()};
  if (all) {
    renewed_at_ = sent_at;
    renewed_.clear();
  }
  for (const std::shared_ptr<Attempt>& attempt : held) renewed_[attempt->item().lock] = sent_at;
  stop_touched(provider_, held, *states);
  return {};
}

void LeaseKeeper::give_up_overdue(const Held& held) {
  const SteadyTime now = steady_now();
  for (const std::shared_ptr<Attempt>& attempt : held) {
    if (attempt->stopped_by() || now < held_until(*attempt)) continue;
    log::warning("a claim could not be renewed in time: its attempt is told to stop",
                 {{"instance", attempt->instance_id()}, {"activity", attempt->activity()}});
    attempt->stop(StopCause::kClaimLost,
                  "the store could not be reached until the claim had ended");
  }
}

LeaseKeeper::SteadyTime LeaseKeeper::held_until(const Attempt& attempt) const {
  const auto renewed = renewed_.find(attempt.item().lock);
  const SteadyTime from = renewed == renewed_.end() ? attempt.sent_at() : renewed->second;
  return from + options_.lock_timeout;
}

}  // namespace perdure::runtime
