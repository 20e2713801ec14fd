#include "runtime/step_options.h"

#include <perdure/errors.h>

#include "base/random.h"
#include "model/ids.h"
#include "model/option_ranges.h"
#include "model/retry_policy.h"

namespace perdure::runtime {

namespace {

using option_ranges::check_fraction;
using option_ranges::check_size;
using option_ranges::check_time;

constexpr std::size_t kMostAtOnce = 10'000;
constexpr Duration kTick = std::chrono::milliseconds(1);

void check_queue(const std::string& queue) {
  const Status status = check_id("queue", queue);
  if (!status.ok()) throw InvalidArgument(status.error().message);
}

}  // namespace

Duration Backoff::after(int times) const {
  RetryPolicy policy;
  policy.max_attempts = 0;
  policy.first_delay = first;
  policy.max_delay = longest;
  SeededRandom unused(0);  // no jitter: backoff belongs to one instance, there is no herd
  return next_delay(policy, times, Failure{}, unused).value_or(longest);
}

void check(const DispatcherOptions& options) {
  check_queue(options.queue);
  check_size("batch", options.batch, 1, kMostAtOnce);
  check_time("lock_timeout", options.lock_timeout, kTick);
  check_time("cleanup_timeout", options.cleanup_timeout, kTick);
  check_time("handler_drain_timeout", options.handler_drain_timeout, kTick);
  check_time("backoff.first", options.backoff.first, kTick);
  check_time("backoff.longest", options.backoff.longest, options.backoff.first);
  check_size("max_payload_bytes", options.max_payload_bytes, 1);
  check_size("history_page", options.history_page, 1);
  check_time("deadlock_timeout", options.deadlock_timeout, Duration::zero());
  check_fraction("replay_check_fraction", options.replay_check_fraction);
}

void check(const WorkerOptions& options) {
  check_queue(options.queue);
  check_size("slots", options.slots, 1, kMostAtOnce);
  check_time("lock_timeout", options.lock_timeout, kTick);
  check_time("missing_handler_delay", options.missing_handler_delay, kTick);
  check_size("max_payload_bytes", options.max_payload_bytes, 1);
}

}  // namespace perdure::runtime
