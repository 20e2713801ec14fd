#include "runtime/attempt_timer.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "base/time.h"
#include "runtime/run_attempt.h"

namespace perdure::runtime {

namespace {

std::string milliseconds_of(Duration time) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time);
  return std::to_string(ms.count()) + " ms";
}

}  // namespace

AttemptTimer::AttemptTimer(std::shared_ptr<Settler> settler,
                           std::shared_ptr<Random> random,
                           Duration grace)
    : settler_(std::move(settler)),
      random_(std::move(random)),
      grace_(std::min(grace, kLongestWait)),
      thread_([this] { run_thread(); }) {}

AttemptTimer::~AttemptTimer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void AttemptTimer::watch(const std::shared_ptr<Attempt>& attempt) {
  const WorkTimeouts& limits = attempt->item().work.timeouts;
  if (const Duration limit = limits.start_to_close; limit > Duration::zero()) {
    add({attempt->begun_at() + std::min(limit, kLongestWait), attempt, Limit::kStartToClose, {}});
  }
  if (const Duration limit = limits.heartbeat; limit > Duration::zero()) {
    add({attempt->alive_at() + std::min(limit, kLongestWait), attempt, Limit::kHeartbeat, {}});
  }
}

void AttemptTimer::watch_grace(const std::shared_ptr<Attempt>& attempt,
                               std::shared_ptr<HeldSlot> slot) {
  add({steady_now() + grace_, attempt, Limit::kGrace, std::move(slot)});
}

void AttemptTimer::add(Watched watched) {
  {
    const std::lock_guard lock(mutex_);
    if (watched_.size() >= drop_at_) drop_ended();
    watched_.push_back(std::move(watched));
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
    const Watched over = std::move(watched_.back());
    watched_.pop_back();
    const std::shared_ptr<Attempt> attempt = over.attempt.lock();
    if (!attempt) continue;
    lock.unlock();
    try {
      end(attempt, over);
    } catch (const std::exception& error) {  // no memory: the lease or the handler ends it
      log::error("an attempt could not be ended in time", {{"error", error.what()}});
    }
    lock.lock();
  }
}

/// Most attempts end long before their time: what is kept must not grow with how many there were.
void AttemptTimer::drop_ended() {
  std::erase_if(watched_, [](const Watched& each) { return each.attempt.expired(); });
  std::make_heap(watched_.begin(), watched_.end(), Later{});
  drop_at_ = std::max(kFewest, 2 * watched_.size());
}

void AttemptTimer::end(const std::shared_ptr<Attempt>& attempt, const Watched& over) {
  switch (over.limit) {
    case Limit::kStartToClose:
      return time_out(attempt,
                      "the attempt took longer than its start_to_close of " +
                          milliseconds_of(attempt->item().work.timeouts.start_to_close));
    case Limit::kHeartbeat:
      return look_for_life(attempt);
    case Limit::kGrace:
      return give_up(attempt, *over.slot);
  }
}

void AttemptTimer::look_for_life(const std::shared_ptr<Attempt>& attempt) {
  const Duration limit = attempt->item().work.timeouts.heartbeat;
  const auto until = attempt->alive_at() + std::min(limit, kLongestWait);
  if (until > steady_now()) return add({until, attempt, Limit::kHeartbeat, {}});
  time_out(attempt, "the attempt gave no heartbeat for " + milliseconds_of(limit));
}

void AttemptTimer::time_out(const std::shared_ptr<Attempt>& attempt, const std::string& reason) {
  static_cast<void>(failpoint::hit("runtime.call_timeout"));
  // Told to stop: its limits have ended, and grace or the shutdown ends it. A handler that cleans
  // up for a cancel or a shutdown has not failed.
  if (attempt->stopped_by()) return;
  Failure failure;
  failure.type = kTimeoutFailure;
  failure.message = reason;
  WorkOutcome outcome = failed(attempt->item(), std::move(failure), *random_);
  if (!attempt->settle()) return;
  // Told first: when the outcome is stored, a shutdown does not wait for this attempt any more.
  attempt->stop(StopCause::kTimedOut, reason);
  settler_->add(attempt, std::move(outcome));
}

void AttemptTimer::give_up(const std::shared_ptr<Attempt>& attempt, HeldSlot& slot) {
  static_cast<void>(failpoint::hit("runtime.grace_over"));
  if (!slot.end()) return;  // its handler has returned
  const auto seconds = std::chrono::duration_cast<std::chrono::duration<double>>(grace_).count();
  log::warning(
      "an activity has not stopped within activity_cancellation_grace_period: its slot is free "
      "again, and what it still brings is dropped",
      {{"instance", attempt->instance_id()},
       {"activity", attempt->activity()},
       {"attempt", attempt->attempt()},
       {"reason", attempt->cancel_reason()},
       {"seconds", std::to_string(seconds)}});
  if (attempt->settle()) settler_->add(attempt, stopped(*attempt));
  slot.free();
}

}  // namespace perdure::runtime
