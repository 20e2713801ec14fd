#include "base/clock.h"

#include <algorithm>

#include "base/check.h"

namespace perdure {

Clock::~Clock() = default;

TimePoint SystemClock::now() const {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

std::optional<Duration> SystemClock::sleep_until(TimePoint until) const {
  // Bounded because wait functions count in nanoseconds and would overflow at kForever, and because
  // the system's time may be set while the thread sleeps.
  constexpr Duration kLongest = std::chrono::hours(1);
  const TimePoint current = now();
  if (until <= current) return Duration::zero();
  return std::min(kLongest, Duration{until - current});
}

Subscription SystemClock::on_advance(std::function<void()> /*callback*/) {
  return {};
}

struct VirtualClock::Listener {
  const std::function<void()> callback;
  // Held while the callback runs: an end from another thread waits for it, and one from inside the
  // callback passes because the mutex is recursive.
  std::recursive_mutex running;
  bool ended = false;  // guarded by running

  explicit Listener(std::function<void()> fn) : callback(std::move(fn)) {}
};

struct VirtualClock::Listeners {
  std::mutex mutex;
  std::vector<std::shared_ptr<Listener>> all;  // guarded by mutex
};

VirtualClock::VirtualClock(TimePoint start)
    : now_micros_(to_micros(start)), listeners_(std::make_shared<Listeners>()) {}

VirtualClock::~VirtualClock() = default;

TimePoint VirtualClock::now() const {
  return time_from_micros(now_micros_.load());
}

std::optional<Duration> VirtualClock::sleep_until(TimePoint until) const {
  if (until <= now()) return Duration::zero();
  return std::nullopt;
}

Subscription VirtualClock::on_advance(std::function<void()> callback) {
  PERDURE_CHECK(callback != nullptr, "a subscription to the clock needs a callback");
  auto listener = std::make_shared<Listener>(std::move(callback));
  {
    const std::lock_guard lock(listeners_->mutex);
    listeners_->all.push_back(listener);
  }
  return Subscription([listeners = listeners_, listener] {
    {
      const std::lock_guard lock(listeners->mutex);
      std::erase(listeners->all, listener);
    }
    const std::lock_guard lock(listener->running);
    listener->ended = true;
  });
}

void VirtualClock::advance(Duration step) {
  PERDURE_CHECK(step >= Duration::zero(), "time does not go backwards");
  std::int64_t before = now_micros_.load();
  while (
      !now_micros_.compare_exchange_weak(before, to_micros(add(time_from_micros(before), step)))) {
  }
  std::vector<std::shared_ptr<Listener>> listeners;
  {
    const std::lock_guard lock(listeners_->mutex);
    listeners = listeners_->all;
  }
  for (const auto& listener : listeners) {
    const std::lock_guard lock(listener->running);
    if (!listener->ended) listener->callback();
  }
}

Clock& system_clock() {
  // Threads may still ask for the time while statics are destroyed.
  static auto* const clock = new SystemClock;
  return *clock;
}

std::chrono::steady_clock::time_point steady_now() {
  return std::chrono::steady_clock::now();
}

}  // namespace perdure
