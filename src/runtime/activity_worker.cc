#include "runtime/activity_worker.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/log.h"
#include "runtime/attempt.h"
#include "runtime/run_attempt.h"

namespace perdure::runtime {

ActivityWorker::ActivityWorker(Parts parts, WorkerOptions options)
    : parts_(parts), options_(std::move(options)) {}

Step ActivityWorker::poll_once() {
  FetchWorkItems fetch;
  fetch.epoch = parts_.tokens.epoch();
  fetch.queue = options_.queue;
  fetch.names = parts_.handlers.activity_names();
  const std::vector<LockToken> locks = parts_.tokens.next(options_.slots);
  fetch.tokens = locks;
  fetch.lock_for = options_.lock_timeout;
  parts_.attempts.expect(locks);
  Result<FetchedWorkItems> fetched = parts_.provider.fetch_work_items(std::move(fetch));
  if (!fetched.ok()) {
    parts_.attempts.remove(locks);
    return {.trouble = std::move(fetched).error()};
  }
  for (const Error& problem : fetched->problems) {
    log::error("a work row cannot be read and was set aside", {{"error", problem.message}});
  }
  std::vector<std::shared_ptr<Attempt>> attempts;
  for (WorkItem& item : fetched->items) {
    attempts.push_back(
        std::make_shared<Attempt>(std::move(item), parts_.sleeper, options_.max_payload_bytes));
    parts_.attempts.add(attempts.back());
  }
  std::vector<SettledWork> settled;
  for (const std::shared_ptr<Attempt>& attempt : attempts) {
    WorkOutcome outcome = run(*attempt);
    settled.push_back(
        {attempt->item().id, attempt->item().lock, std::move(outcome), attempt->reported()});
  }
  parts_.attempts.remove(locks);
  Step step;
  step.worked = !settled.empty();
  step.next_at = fetched->next_at;
  settle(std::move(settled));
  return step;
}

WorkOutcome ActivityWorker::run(Attempt& attempt) {
  const detail::ActivityHandler* handler = parts_.handlers.find_activity(attempt.activity());
  if (handler != nullptr) return run_attempt(*handler, attempt, parts_.random);
  WorkOutcome outcome;
  outcome.kind = WorkOutcome::Kind::kGivenBack;
  outcome.delay = options_.missing_handler_delay;
  return outcome;
}

void ActivityWorker::settle(std::vector<SettledWork> settled) {
  if (settled.empty()) return;
  const std::size_t count = settled.size();
  const Result<Batch<void>> answer = parts_.provider.ack_work_items({std::move(settled)});
  if (!answer.ok()) {
    // The claims lapse and the attempts are made again; whether they were settled is fenced by
    // their tokens.
    log::warning("the outcomes of activities could not be stored",
                 {{"count", count}, {"error", answer.error().message}});
    return;
  }
  for (const Result<void>& entry : *answer) {
    if (entry.ok() || entry.code() == ErrorCode::kLockLost) continue;
    log::warning("the outcome of an activity could not be stored",
                 {{"error", entry.error().message}});
  }
}

}  // namespace perdure::runtime
