#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "model/failure.h"

namespace perdure {

/// When a failed attempt is made again. Belongs to a call and is stored with its work row: all
/// attempts of a call share one row. A value; pure functions.
struct RetryPolicy {
  int max_attempts = 1;                            ///< attempts in all; 0 = without limit
  Duration first_delay = std::chrono::seconds(1);  ///< before the second attempt
  double backoff = 2.0;                            ///< each further delay is this much longer
  Duration max_delay = std::chrono::minutes(1);
  double jitter = 0.0;                     ///< 0 .. 1: the delay is cut by up to this part
  std::vector<std::string> non_retryable;  ///< failure types that are final at once

  bool operator==(const RetryPolicy&) const = default;
};

/// InvalidArgument that names the field and its range.
Status check(const RetryPolicy& policy);

/// The delay before the next attempt after `failures` failed ones (1 = the first has failed), or
/// nullopt when the failure is final: not retryable, its type is listed, or attempts are used up.
std::optional<Duration> next_delay(const RetryPolicy& policy,
                                   int failures,
                                   const Failure& failure,
                                   Random& random);

}  // namespace perdure
