#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <perdure/time.h>

namespace perdure {

constexpr std::int64_t to_micros(Duration duration) {
  return duration.count();
}
constexpr std::int64_t to_micros(TimePoint time) {
  return time.time_since_epoch().count();
}
constexpr TimePoint time_from_micros(std::int64_t micros) {
  return TimePoint{Duration{micros}};
}

/// Later than every real time, and far enough from the edge of its type that the difference to any
/// real time does not overflow.
inline constexpr TimePoint kForever = time_from_micros(std::int64_t{1} << 62);

/// `time + duration`, held within [-kForever, kForever]; never overflows.
constexpr TimePoint add(TimePoint time, Duration duration) {
  constexpr std::int64_t kMax = to_micros(kForever);
  const auto held = [](std::int64_t micros) {
    return micros > kMax ? kMax : (micros < -kMax ? -kMax : micros);
  };
  const std::int64_t base = held(to_micros(time));
  const std::int64_t step = held(to_micros(duration));
  if (step > 0 && base > kMax - step) return kForever;
  if (step < 0 && base < -kMax - step) return time_from_micros(-kMax);
  return time_from_micros(base + step);
}

/// Longer than a process lives, and short enough to be added to any time: what a wait is cut to
/// before it is handed to the system.
inline constexpr Duration kLongestWait = std::chrono::hours(24 * 365 * 10);

/// ISO 8601 in UTC with microseconds, for example "2026-01-01T00:00:00.000000Z"; "forever" for
/// `kForever` and later.
std::string to_string(TimePoint time);

}  // namespace perdure
