#include "runtime/attempt_timer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.h"
#include "runtime/run_attempt.h"

namespace perdure::runtime {

namespace {

/// Longer than a process lives, and short enough to be added to any time.
constexpr Duration kLongest = std::chrono::hours(24 * 365 * 10);

}  // namespace

AttemptTimer::AttemptTimer(std::shared_ptr<Settler> settler, std::shared_ptr<Random> random)
    : settler_(std::move(settler)), random_(std::move(random)), thread_([this] { run_thread(); }) {}

AttemptTimer::~AttemptTimer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void AttemptTimer::watch(const std::shared_ptr<Attempt>& attempt) {
  const Duration limit = attempt->item().work.timeouts.start_to_close;
  if (limit <= Duration::zero()) return;
  {
    const std::lock_guard lock(mutex_);
    watched_.push({attempt->begun_at() + std::min(limit, kLongest), attempt});
  }
  changed_.notify_all();
}

void AttemptTimer::run_thread() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (stopping_) return;
    if (watched_.empty()) {
      changed_.wait(lock);
      continue;
    }
    if (steady_now() < watched_.top().until) {
      changed_.wait_until(lock, watched_.top().until);
      continue;
    }
    const std::shared_ptr<Attempt> attempt = watched_.top().attempt.lock();
    watched_.pop();
    if (!attempt) continue;
    lock.unlock();
    time_out(attempt);
    lock.lock();
  }
}

void AttemptTimer::time_out(const std::shared_ptr<Attempt>& attempt) {
  if (!attempt->settle()) return;
  const Duration limit = attempt->item().work.timeouts.start_to_close;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  const std::string reason =
      "the attempt took longer than its start_to_close of " + std::to_string(ms) + " ms";
  Failure failure;
  failure.type = kTimeoutFailure;
  failure.message = reason;
  settler_->add(attempt, failed(attempt->item(), std::move(failure), *random_));
  attempt->stop(StopCause::kTimedOut, reason);
}

}  // namespace perdure::runtime
