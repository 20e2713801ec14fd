#include "model/retry_policy.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"

namespace perdure {

namespace {

constexpr int kMostAttempts = 1'000'000;
constexpr double kMostBackoff = 100.0;

// Comparisons with NaN are false, so a value that is no number lies in no range.
bool within(double value, double least, double most) {
  return value >= least && value <= most;
}

bool is_failure_type(const std::string& type) {
  return !type.empty() && type.find('\0') == std::string::npos && is_valid_utf8(type);
}

// `first_delay * backoff ^ (failures - 1)`, held within [0, max_delay]. Computed in floating point:
// it may reach infinity, but never overflows.
Duration full_delay(const RetryPolicy& policy, int failures) {
  if (policy.first_delay <= Duration::zero() || policy.max_delay <= Duration::zero()) {
    return Duration::zero();
  }
  const double factor = std::pow(policy.backoff, static_cast<double>(std::max(failures, 1)) - 1.0);
  const double micros = static_cast<double>(to_micros(policy.first_delay)) * factor;
  if (!(micros < static_cast<double>(to_micros(policy.max_delay)))) return policy.max_delay;
  if (!(micros > 0.0)) return Duration::zero();
  return std::min(Duration(static_cast<std::int64_t>(micros)), policy.max_delay);
}

}  // namespace

Status check(const RetryPolicy& policy) {
  if (policy.max_attempts < 0 || policy.max_attempts > kMostAttempts) {
    return invalid_argument("max_attempts must be 0 (without limit) to 1000000, but it is " +
                            std::to_string(policy.max_attempts));
  }
  if (policy.first_delay < Duration::zero()) {
    return invalid_argument("first_delay must be zero or longer, but it is " +
                            std::to_string(to_micros(policy.first_delay)) + " us");
  }
  if (!within(policy.backoff, 1.0, kMostBackoff)) {
    return invalid_argument("backoff must be 1 to 100, but it is " +
                            std::to_string(policy.backoff));
  }
  if (policy.max_delay < policy.first_delay) {
    return invalid_argument(
        "max_delay must be first_delay (" + std::to_string(to_micros(policy.first_delay)) +
        " us) or longer, but it is " + std::to_string(to_micros(policy.max_delay)) + " us");
  }
  if (!within(policy.jitter, 0.0, 1.0)) {
    return invalid_argument("jitter must be 0 to 1, but it is " + std::to_string(policy.jitter));
  }
  if (!std::all_of(policy.non_retryable.begin(), policy.non_retryable.end(), is_failure_type)) {
    return invalid_argument(
        "non_retryable must hold failure types: valid UTF-8, not empty, without NUL");
  }
  return {};
}

std::optional<Duration> next_delay(const RetryPolicy& policy,
                                   int failures,
                                   const Failure& failure,
                                   Random& random) {
  if (!failure.retryable) return std::nullopt;
  if (policy.max_attempts != 0 && failures >= policy.max_attempts) return std::nullopt;
  const auto& final_types = policy.non_retryable;
  if (std::find(final_types.begin(), final_types.end(), failure.type) != final_types.end()) {
    return std::nullopt;
  }
  const Duration delay = full_delay(policy, failures);
  if (!(policy.jitter > 0.0)) return delay;
  const double part = std::min(policy.jitter, 1.0) * random.unit();
  return delay - Duration(static_cast<std::int64_t>(static_cast<double>(delay.count()) * part));
}

}  // namespace perdure
