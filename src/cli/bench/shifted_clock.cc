#include "cli/bench/shifted_clock.h"

#include <utility>

namespace perdure::bench {

TimePoint ShiftedClock::now() const {
  return add(system_clock().now(), Duration(ahead_micros_));
}

std::optional<Duration> ShiftedClock::sleep_until(TimePoint until) const {
  return system_clock().sleep_until(add(until, Duration(-ahead_micros_)));
}

Subscription ShiftedClock::on_advance(std::function<void()> callback) {
  return moves_.on_advance(std::move(callback));
}

void ShiftedClock::shift(Duration step) {
  ahead_micros_ += to_micros(step);
  moves_.advance(step);
}

}  // namespace perdure::bench
