#include "runtime/pooled_worker.h"

#include <exception>
#include <utility>

#include "base/failpoint.h"
#include "base/log.h"
#include "runtime/run_attempt.h"

namespace perdure::runtime {

namespace {

std::string_view message_of(const WorkOutcome& outcome, bool counts) {
  if (!counts) return "an activity that was given up has returned: its outcome is dropped";
  switch (outcome.kind) {
    case WorkOutcome::Kind::kFailed:
    case WorkOutcome::Kind::kRetryAt:
      return "an activity failed after it was told to stop";
    case WorkOutcome::Kind::kCompleted:
      return "an activity completed after it was told to stop";
    default:
      return "an activity has stopped as it was told";
  }
}

/// What became of a handler that was told to stop. An exception of it is a warning. `counts`:
/// nobody else has settled the attempt before.
void log_end(const Attempt& attempt, const WorkOutcome& outcome, bool counts) {
  const auto cause = attempt.stopped_by();
  if (!cause || cause == StopCause::kShutdown) return;
  const bool failed =
      outcome.kind == WorkOutcome::Kind::kFailed || outcome.kind == WorkOutcome::Kind::kRetryAt;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(attempt.told_for());
  const log::Field instance{"instance", attempt.instance_id()};
  const log::Field activity{"activity", attempt.activity()};
  const log::Field reason{"reason", attempt.cancel_reason()};
  const log::Field after{"after_ms", ms.count()};
  if (failed) {
    log::warning(message_of(outcome, counts),
                 {instance, activity, reason, after, {"failure", outcome.failure.message}});
  } else {
    log::info(message_of(outcome, counts), {instance, activity, reason, after});
  }
}

}  // namespace

PooledWorker::PooledWorker(WorkClaimer::Parts parts,
                           Shared shared,
                           HandlerPool& pool,
                           WorkerOptions options)
    : shared_(std::move(shared)),
      pool_(pool),
      options_(std::move(options)),
      slots_(std::make_shared<Slots>(options_.slots)),
      claimer_(parts, options_) {}

Step PooledWorker::poll_once() {
  const std::size_t free = slots_->wait_for_free();
  if (free == 0) return {};
  WorkClaimer::Claimed claimed = claimer_.claim(free);
  slots_->take(claimed.attempts.size());
  for (const std::shared_ptr<Attempt>& attempt : claimed.attempts) {
    try {
      start(attempt);
    } catch (const std::exception& error) {
      log::error("no thread for an activity: it is given back", {{"error", error.what()}});
      slots_->release();
      give_back(attempt);
    }
  }
  return claimed.step;
}

void PooledWorker::start(const std::shared_ptr<Attempt>& attempt) {
  auto slot = std::make_shared<HeldSlot>(slots_);
  auto outcome = std::make_shared<WorkOutcome>();
  auto handle = [shared = shared_,
                 delay = options_.missing_handler_delay,
                 processes = options_.processes,
                 slot,
                 attempt,
                 outcome] {
    {
      const std::stop_callback told(attempt->alarm(), [&]() noexcept {
        if (attempt->stopped_by() == StopCause::kShutdown) return;
        try {
          shared.timer->watch_grace(attempt, slot);
        } catch (const std::exception&) {  // no memory: its slot is free when it returns
        }
      });
      *outcome = run_registered(*shared.handlers, *attempt, *shared.random, delay, &processes);
    }
    static_cast<void>(failpoint::hit("runtime.handler_returned"));
  };
  auto settle = [settler = shared_.settler, slot, attempt, outcome] {
    const bool in_time = slot->end();
    // First the place, so that the next claim is not committed behind this outcome.
    if (in_time) slot->free();
    const bool counts = in_time && attempt->settle();
    log_end(*attempt, *outcome, counts);
    if (counts) settler->add(attempt, std::move(*outcome));
  };
  shared_.timer->watch(attempt);
  pool_.run(std::move(handle), std::move(settle));
}

void PooledWorker::give_back(const std::shared_ptr<Attempt>& attempt) {
  WorkOutcome outcome;
  outcome.kind = WorkOutcome::Kind::kGivenBack;
  outcome.delay = options_.missing_handler_delay;
  if (attempt->settle()) shared_.settler->add(attempt, std::move(outcome));
}

}  // namespace perdure::runtime
