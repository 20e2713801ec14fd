#include "runtime/step_options.h"

#include "base/random.h"
#include "model/ids.h"
#include "model/retry_policy.h"

namespace perdure::runtime {

namespace {

constexpr std::size_t kMostAtOnce = 10'000;
constexpr std::size_t kMostPayloadBytes = std::size_t{1} << 30U;

Status check_count(const char* field, std::size_t value, std::size_t most) {
  if (value >= 1 && value <= most) return {};
  return invalid_argument(std::string(field) + " must be 1 to " + std::to_string(most) +
                          ", but it is " + std::to_string(value));
}

Status check_positive(const char* field, Duration value) {
  if (value > Duration::zero()) return {};
  return invalid_argument(std::string(field) + " must be longer than zero, but it is " +
                          std::to_string(to_micros(value)) + " us");
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

Status check(const DispatcherOptions& options) {
  PERDURE_RETURN_IF_ERROR(check_id("queue", options.queue));
  PERDURE_RETURN_IF_ERROR(check_count("batch", options.batch, kMostAtOnce));
  PERDURE_RETURN_IF_ERROR(check_positive("lock_timeout", options.lock_timeout));
  PERDURE_RETURN_IF_ERROR(check_positive("cleanup_timeout", options.cleanup_timeout));
  PERDURE_RETURN_IF_ERROR(check_positive("backoff.first", options.backoff.first));
  if (options.backoff.longest < options.backoff.first) {
    return invalid_argument("backoff.longest must be backoff.first or longer, but it is " +
                            std::to_string(to_micros(options.backoff.longest)) + " us");
  }
  PERDURE_RETURN_IF_ERROR(
      check_count("max_payload_bytes", options.max_payload_bytes, kMostPayloadBytes));
  return check_count("history_page", options.history_page, std::size_t{1} << 20U);
}

Status check(const WorkerOptions& options) {
  PERDURE_RETURN_IF_ERROR(check_id("queue", options.queue));
  PERDURE_RETURN_IF_ERROR(check_count("slots", options.slots, kMostAtOnce));
  PERDURE_RETURN_IF_ERROR(check_positive("lock_timeout", options.lock_timeout));
  PERDURE_RETURN_IF_ERROR(check_positive("missing_handler_delay", options.missing_handler_delay));
  return check_count("max_payload_bytes", options.max_payload_bytes, kMostPayloadBytes);
}

}  // namespace perdure::runtime
