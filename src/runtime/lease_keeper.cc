#include "runtime/lease_keeper.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "model/status.h"
#include "provider/stop_reasons.h"

namespace perdure::runtime {

LeaseKeeper::LeaseKeeper(Provider& provider, Attempts& attempts, Epoch epoch, LeaseOptions options)
    : provider_(provider),
      attempts_(attempts),
      epoch_(epoch),
      options_(options),
      renewed_at_(steady_now()) {}

Step LeaseKeeper::poll_once() {
  const Held held = attempts_.look();
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
  Step step;
  if (now - renewed_at_ >= options_.renewal()) {
    step = renew(held, true);
  } else {
    if (!beating.empty()) step = renew(beating, false);
    if (!step.trouble) step = look(held);
  }
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
  note(held, *states);
  return {};
}

Step LeaseKeeper::look(const Held& held) {
  std::vector<HeldClaim> claims;
  claims.reserve(held.size());
  for (const std::shared_ptr<Attempt>& attempt : held) {
    claims.push_back({attempt->item().id, attempt->item().lock, std::nullopt});
  }
  const Result<std::vector<ClaimState>> states = provider_.check_work_items(claims);
  if (!states.ok()) return {.trouble = states.error()};
  note(held, *states);
  return {};
}

void LeaseKeeper::note(const Held& held, const std::vector<ClaimState>& states) {
  std::vector<Stop> stops;
  std::map<std::pair<std::string, ExecutionNo>, std::string> reasons;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const Attempt& attempt = *held[i];
    // Gone after our own ack is no cancellation.
    if (states[i] == ClaimState::kRenewed || attempt.is_settled() || attempt.stopped_by()) continue;
    const WorkItem& item = attempt.item();
    const auto [reason, added] = reasons.try_emplace({item.instance_id, item.owner.execution});
    if (added) reason->second = reason_of(item);
    stops.push_back({held[i], StopCause::kCanceled, reason->second});
  }
  stop_all(stops);
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

std::string LeaseKeeper::reason_of(const WorkItem& item) {
  const auto info = provider_.get_execution(item.instance_id, item.owner.execution);
  if (!info.ok()) return info.code() == ErrorCode::kNotFound ? kRunDeleted : kClaimGone;
  if (info->status == ExecutionStatus::kTerminated) return kRunTerminated;
  if (!info->cancel_reason.empty()) return info->cancel_reason;
  if (info->status == ExecutionStatus::kCanceling || info->status == ExecutionStatus::kCanceled) {
    return kRunCanceled;
  }
  return is_terminal(info->status) ? kRunEnded : kClaimGone;
}

}  // namespace perdure::runtime
