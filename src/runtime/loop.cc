#include "runtime/loop.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace perdure::runtime {

Loop::Loop(Provider& provider,
           LoopOptions options,
           std::function<Step()> step,
           std::function<void()> on_lost)
    : provider_(provider),
      options_(std::move(options)),
      step_(std::move(step)),
      on_lost_(std::move(on_lost)),
      thread_([this] {
        run();
        const std::lock_guard lock(mutex_);
        ended_ = true;
        stopped_.notify_all();
      }) {}

Loop::~Loop() {
  request_stop();
  join();
}

void Loop::join() {
  if (thread_.joinable()) thread_.join();
}

bool Loop::wait_until_ended(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  return stopped_.wait_until(lock, until, [this] { return ended_; });
}

void Loop::nudge() {
  nudged_ = true;
  wake();
}

void Loop::wake() {
  if (options_.wake) {
    options_.wake();
  } else {
    provider_.interrupt_waits();
  }
}

void Loop::request_stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  wake();
}

void Loop::run() {
  while (!stopping_) {
    const ChangeMark mark = provider_.change_mark();
    nudged_ = false;
    if (!step_once()) break;
    if (stopping_ || last_.worked) continue;
    if (last_.trouble) {
      pause_for(backoff_);
      continue;
    }
    pause_for(options_.pause);
    wait(mark);
  }
}

/// False when the loop has to end.
bool Loop::step_once() {
  began_ = steady_now();
  try {
    last_ = step_();
  } catch (const std::exception& error) {
    // Memory ran out, most likely. Steps give back what they had taken before they let it out.
    last_ = {.trouble = unavailable(error.what())};
  } catch (...) {
    last_ = {.trouble = unavailable("an exception that is no std::exception")};
  }
  if (!last_.trouble) {
    backoff_ = std::chrono::milliseconds(0);
    return true;
  }
  if (last_.trouble->code == ErrorCode::kLockLost) {
    on_lost_();
    return false;
  }
  if (options_.on_trouble) options_.on_trouble(*last_.trouble);
  if (backoff_.count() == 0) {
    log::warning("trouble with the store: trying again",
                 {{"loop", options_.name}, {"error", last_.trouble->message}});
  }
  backoff_ = std::min(std::max(2 * backoff_, options_.first_backoff), options_.longest_backoff);
  return true;
}

void Loop::wait(const ChangeMark& mark) {
  if (options_.wait) return options_.wait(options_.bound);
  Interest interest = options_.interest;
  interest.after = mark;
  interest.until = last_.next_at;
  auto end = std::max(began_ + options_.bound, steady_now() + options_.bound / 2);
  while (!stopping_ && !nudged_) {
    interest.bound = std::max(std::chrono::milliseconds(0),
                              std::chrono::ceil<std::chrono::milliseconds>(end - steady_now()));
    const Wake wake = provider_.wait_for_change(interest);
    // For somebody else, or the condition of this loop tells. It does not lengthen the wait.
    if (wake.reason == Wake::Reason::kInterrupted) {
      interest.after.interrupts = wake.mark.interrupts;
      continue;
    }
    if (wake.reason != Wake::Reason::kBound || options_.steps_when_idle) return;
    end = steady_now() + options_.bound;
  }
}

void Loop::pause_for(std::chrono::milliseconds time) {
  if (time.count() == 0) return;
  std::unique_lock lock(mutex_);
  stopped_.wait_for(lock, time, [this] { return stopping_.load(); });
}

}  // namespace perdure::runtime
