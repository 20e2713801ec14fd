#include "runtime/work_claimer.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace perdure::runtime {

namespace {

constexpr Duration kLookForSuspects = std::chrono::seconds(1);

}  // namespace

WorkClaimer::WorkClaimer(Parts parts, WorkerOptions options)
    : parts_(std::move(parts)), options_(std::move(options)) {}

WorkClaimer::Claimed WorkClaimer::claim(std::size_t slots) {
  const std::vector<LockToken> locks = parts_.tokens.next(slots);
  const bool reserved = parts_.suspects.reserve();
  try {
    return claim_with(locks, reserved);
  } catch (...) {  // what was claimed lapses
    if (reserved) parts_.suspects.release();
    parts_.attempts.remove(locks);
    throw;
  }
}

WorkClaimer::Claimed WorkClaimer::claim_with(const std::vector<LockToken>& locks, bool reserved) {
  const auto sent_at = steady_now();
  FetchWorkItems fetch;
  fetch.epoch = parts_.tokens.epoch();
  fetch.queue = options_.queue;
  fetch.names = parts_.handlers.activity_names();
  fetch.tokens = locks;
  fetch.lock_for = options_.lock_timeout;
  fetch.max_losses = options_.max_losses;
  fetch.max_suspects = reserved ? 1 : 0;
  parts_.attempts.expect(locks);
  Result<FetchedWorkItems> fetched = parts_.provider.fetch_work_items(std::move(fetch));
  Claimed claimed;
  if (!fetched.ok()) {
    if (reserved) parts_.suspects.release();
    parts_.attempts.remove(locks);
    claimed.step.trouble = std::move(fetched).error();
    return claimed;
  }
  for (const Error& problem : fetched->problems) {
    log::error("a work row cannot be read and was set aside", {{"error", problem.message}});
  }
  bool suspect = false;
  bool overlooked = false;
  for (WorkItem& item : fetched->items) {
    suspect = suspect || item.losses >= kSuspectLosses;
    claimed.attempts.push_back(
        std::make_shared<Attempt>(std::move(item),
                                  Attempt::Surroundings{parts_.sleeper,
                                                        parts_.firer,
                                                        options_.max_payload_bytes,
                                                        options_.throttle,
                                                        parts_.worker,
                                                        parts_.beats},
                                  sent_at));
    overlooked = !parts_.attempts.add(claimed.attempts.back()) || overlooked;
  }
  // A cancel of one of them may have been what the watch was woken for.
  if (overlooked && parts_.overlooked) parts_.overlooked->ring();
  if (reserved && !suspect) parts_.suspects.release();
  forget_unused(locks, claimed.attempts);
  claimed.step.worked = claimed.attempts.size() == locks.size();
  claimed.step.next_at = fetched->next_at;
  if (!reserved) {
    // There may be a suspect that this claim was not allowed to bring.
    const TimePoint again = add(fetched->now, kLookForSuspects);
    claimed.step.next_at = std::min(claimed.step.next_at.value_or(again), again);
  }
  return claimed;
}

void WorkClaimer::forget_unused(const std::vector<LockToken>& locks,
                                const std::vector<std::shared_ptr<Attempt>>& claimed) {
  std::unordered_set<LockToken> unused(locks.begin(), locks.end());
  for (const std::shared_ptr<Attempt>& attempt : claimed) unused.erase(attempt->item().lock);
  parts_.attempts.remove({unused.begin(), unused.end()});
}

}  // namespace perdure::runtime
