#include "runtime/run_attempt.h"

#include <exception>
#include <utility>

#include <perdure/detail/user_error.h>

#include "model/retry_policy.h"

namespace perdure::runtime {

namespace {

WorkOutcome canceled() {
  WorkOutcome outcome;
  outcome.kind = WorkOutcome::Kind::kCanceled;
  return outcome;
}

WorkOutcome failed(const WorkItem& item, Failure failure, Random& random) {
  WorkOutcome outcome;
  const auto delay = next_delay(item.work.retry, item.failures + 1, failure, random);
  outcome.kind = delay ? WorkOutcome::Kind::kRetryAt : WorkOutcome::Kind::kFailed;
  outcome.delay = delay.value_or(Duration{});
  outcome.failure = std::move(failure);
  return outcome;
}

}  // namespace

WorkOutcome run_attempt(const detail::ActivityHandler& handler, Attempt& attempt, Random& random) {
  if (attempt.stop_token().stop_requested()) return canceled();
  try {
    WorkOutcome outcome;
    outcome.result = handler(attempt, attempt.item().work.input);
    return outcome;
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    if (detail::is_cancellation(error) && attempt.stop_token().stop_requested()) return canceled();
    return failed(attempt.item(), detail::failure_of(error), random);
  }
}

}  // namespace perdure::runtime
