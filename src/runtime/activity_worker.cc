#include "runtime/activity_worker.h"

#include <memory>
#include <utility>

#include "base/log.h"
#include "runtime/run_attempt.h"

namespace perdure::runtime {

ActivityWorker::ActivityWorker(Parts parts, WorkerOptions options)
    : parts_(parts),
      options_(std::move(options)),
      claimer_({parts.provider,
                parts.tokens,
                parts.handlers,
                parts.attempts,
                suspects_,
                parts.sleeper,
                std::make_shared<DirectFirer>(),
                "here",
                nullptr},
               options_),
      settler_({parts.provider, parts.attempts, suspects_}) {}

Step ActivityWorker::poll_once() {
  bool worked = settle();
  WorkClaimer::Claimed claimed = claimer_.claim(options_.slots);
  for (const std::shared_ptr<Attempt>& attempt : claimed.attempts) {
    WorkOutcome outcome =
        run_registered(parts_.handlers, *attempt, parts_.random, options_.missing_handler_delay);
    if (attempt->settle()) settler_.add(attempt, std::move(outcome));
  }
  worked = settle() || worked;
  claimed.step.worked = worked || !claimed.attempts.empty();
  return claimed.step;
}

bool ActivityWorker::settle() {
  bool worked = false;
  for (;;) {
    const Step step = settler_.poll_once();
    if (step.trouble) {
      log::warning("the outcomes of activities could not be stored yet",
                   {{"error", step.trouble->message}});
    }
    worked = worked || step.worked;
    if (!step.worked || step.trouble) return worked;
  }
}

}  // namespace perdure::runtime
