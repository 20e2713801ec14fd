#include "runtime/pooled_worker.h"

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
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

Stray stray_of(const PooledWorker::Shared& shared,
               const std::shared_ptr<Attempt>& attempt,
               const std::shared_ptr<KickGate>& gate) {
  Stray stray;
  stray.gate = gate;
  stray.kicks = shared.handlers->activity_options(attempt->activity()).interruptible;
  stray.times = shared.zombie_times;
  stray.count = shared.zombies;
  stray.what = [attempt] {
    return "activity '" + attempt->activity() + "' of run '" + attempt->instance_id() +
           "', attempt " + std::to_string(attempt->attempt()) +
           ", told: " + attempt->cancel_reason();
  };
  return stray;
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
  auto gate = std::make_shared<KickGate>();
  const bool on_thread = shared_.handlers->activity_options(attempt->activity()).isolation ==
                         Isolation::kThread;
  auto handle = [shared = shared_,
                 gate,
                 on_thread,
                 delay = options_.missing_handler_delay,
                 processes = options_.processes,
                 slot,
                 attempt,
                 outcome] {
    std::optional<ZombieReaper::Id> stray;
    {
      const std::stop_callback told(attempt->alarm(), [&]() noexcept {
        try {
          if (on_thread) {
            stray = shared.reaper->watch(stray_of(shared, attempt, gate), steady_now());
          }
          if (attempt->stopped_by() == StopCause::kShutdown) return;
          shared.timer->watch_grace(attempt, slot);
        } catch (const std::exception&) {  // no memory: its slot is free when it returns
        }
      });
      const KickGate::Inside inside(*gate);
      *outcome = run_registered(*shared.handlers, *attempt, *shared.random, delay, &processes);
    }
    if (stray) shared.reaper->returned(*stray);
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
