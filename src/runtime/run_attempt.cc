#include "runtime/run_attempt.h"

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <perdure/detail/user_error.h>

#include "base/log.h"
#include "model/retry_policy.h"
#include "runtime/isolation/not_started.h"
#include "runtime/isolation/run_isolated.h"

namespace perdure::runtime {

/// Only a cancel ends the call: a claim that seems lost may still be ours, and then the call must
/// go on elsewhere.
WorkOutcome stopped(const Attempt& attempt) {
  WorkOutcome outcome;
  outcome.kind = attempt.stopped_by() == StopCause::kCanceled ? WorkOutcome::Kind::kCanceled
                                                              : WorkOutcome::Kind::kGivenBack;
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

WorkOutcome run_attempt(const detail::ActivityHandler& handler, Attempt& attempt, Random& random) {
  if (attempt.stopped_by()) return stopped(attempt);
  try {
    WorkOutcome outcome;
    outcome.result = handler(attempt, attempt.item().work.input);
    return outcome;
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    if (detail::is_cancellation(error) && attempt.stopped_by()) return stopped(attempt);
    Failure failure = detail::failure_of(error);
    // Most likely it could not go on because it was told to stop: nothing is charged for that.
    if (attempt.stopped_by() == StopCause::kShutdown) {
      log::warning("an activity failed while its worker shuts down: it is given back",
                   {{"instance", attempt.instance_id()},
                    {"activity", attempt.activity()},
                    {"failure", failure.message}});
      return stopped(attempt);
    }
    return failed(attempt.item(), std::move(failure), random);
  }
}

namespace {

WorkOutcome given_back(Duration delay) {
  WorkOutcome outcome;
  outcome.kind = WorkOutcome::Kind::kGivenBack;
  outcome.delay = delay;
  return outcome;
}

WorkOutcome run_in_process(Attempt& attempt,
                           Random& random,
                           Duration no_process_delay,
                           const ProcessLimits& limits) {
  std::optional<std::string> lack;
  const auto spawning = [&](detail::AttemptApi&, const std::string&) {
    try {
      return run_isolated(attempt, limits);
    } catch (const NotStarted& error) {
      lack = error.what();
      throw;
    }
  };
  WorkOutcome outcome = run_attempt(spawning, attempt, random);
  if (!lack) return outcome;
  log::error("no process for an activity: it is given back",
             {{"instance", attempt.instance_id()},
              {"activity", attempt.activity()},
              {"error", *lack}});
  return attempt.stopped_by() ? stopped(attempt) : given_back(no_process_delay);
}

}  // namespace

WorkOutcome run_registered(const detail::HandlerTable& handlers,
                           Attempt& attempt,
                           Random& random,
                           Duration missing_handler_delay,
                           const ProcessLimits* processes) {
  const detail::ActivityHandler* handler = handlers.find_activity(attempt.activity());
  if (handler == nullptr) return given_back(missing_handler_delay);
  const HandlerOptions options = handlers.activity_options(attempt.activity());
  if (processes != nullptr && options.isolation == Isolation::kProcess) {
    return run_in_process(attempt, random, missing_handler_delay, *processes);
  }
  return run_attempt(*handler, attempt, random);
}

}  // namespace perdure::runtime
