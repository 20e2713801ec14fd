#include "runtime/pooled_worker.h"

#include <exception>
#include <utility>

#include "base/log.h"
#include "runtime/run_attempt.h"

namespace perdure::runtime {

PooledWorker::PooledWorker(WorkClaimer::Parts parts,
                           Shared shared,
                           HandlerPool& pool,
                           AttemptTimer& timer,
                           WorkerOptions options)
    : shared_(std::move(shared)),
      pool_(pool),
      timer_(timer),
      options_(std::move(options)),
      slots_(std::make_shared<Slots>(options_.slots)),
      claimer_(parts, options_) {}

Step PooledWorker::poll_once() {
  const std::size_t free = slots_->wait_for_free();
  if (free == 0) return {};
  WorkClaimer::Claimed claimed = claimer_.claim(free);
  slots_->take(claimed.attempts.size());
  for (std::shared_ptr<Attempt>& attempt : claimed.attempts) start(std::move(attempt));
  return claimed.step;
}

void PooledWorker::start(std::shared_ptr<Attempt> attempt) {
  timer_.watch(attempt);
  auto task = [shared = shared_, slots = slots_, delay = options_.missing_handler_delay, attempt] {
    WorkOutcome outcome = run_registered(*shared.handlers, *attempt, *shared.random, delay);
    // First the place, so that the next claim is not committed behind this outcome.
    slots->release();
    if (attempt->settle()) shared.settler->add(attempt, std::move(outcome));
  };
  try {
    pool_.run(std::move(task));
  } catch (const std::exception& error) {
    log::error("no thread for an activity: it is given back", {{"error", error.what()}});
    WorkOutcome outcome;
    outcome.kind = WorkOutcome::Kind::kGivenBack;
    outcome.delay = options_.missing_handler_delay;
    if (attempt->settle()) shared_.settler->add(attempt, std::move(outcome));
    slots_->release();
  }
}

}  // namespace perdure::runtime
