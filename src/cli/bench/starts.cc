#include "cli/bench/starts.h"

#include "base/clock.h"

namespace perdure::bench {

Starts::Starts(std::int64_t handlers) : times_(static_cast<std::size_t>(handlers)) {}

void Starts::note(std::int64_t handler) {
  const std::lock_guard lock(mutex_);
  const SteadyTime now = steady_now();
  const int times = ++times_.at(static_cast<std::size_t>(handler));
  if (times > 1) {
    if (times == 2) ++begun_again_;
    return;
  }
  if (!first_at_) first_at_ = now;
  last_at_ = now;
  if (++begun_ == wanted_) moved_.notify_all();
}

std::optional<Starts::SteadyTime> Starts::wait_for(std::int64_t handlers,
                                                   std::chrono::nanoseconds at_most) {
  std::unique_lock lock(mutex_);
  wanted_ = handlers;
  const bool all = moved_.wait_for(lock, at_most, [&] { return begun_ >= handlers; });
  if (!all) return std::nullopt;
  return last_at_;
}

std::int64_t Starts::begun() const {
  const std::lock_guard lock(mutex_);
  return begun_;
}

std::int64_t Starts::begun_again() const {
  const std::lock_guard lock(mutex_);
  return begun_again_;
}

std::optional<Starts::SteadyTime> Starts::first_at() const {
  const std::lock_guard lock(mutex_);
  return first_at_;
}

}  // namespace perdure::bench
