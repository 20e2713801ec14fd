#include "runtime/attempt_timer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/time.h"
#include "runtime/run_attempt.h"

namespace perdure::runtime {

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
    if (watched_.size() >= drop_at_) drop_ended();
    watched_.push_back({attempt->begun_at() + std::min(limit, kLongestWait), attempt});
    std::push_heap(watched_.begin(), watched_.end(), Later{});
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
    if (const auto until = watched_.front().until; steady_now() < until) {
      changed_.wait_until(lock, until);
      continue;
    }
    std::pop_heap(watched_.begin(), watched_.end(), Later{});
    const std::shared_ptr<Attempt> attempt = watched_.back().attempt.lock();
    watched_.pop_back();
    if (!attempt) continue;
    lock.unlock();
    time_out(attempt);
    lock.lock();
  }
}

/// Most attempts end long before their time: what is kept must not grow with how many there were.
void AttemptTimer::drop_ended() {
  std::erase_if(watched_, [](const Watched& each) { return each.attempt.expired(); });
  std::make_heap(watched_.begin(), watched_.end(), Later{});
  drop_at_ = std::max(kFewest, 2 * watched_.size());
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
