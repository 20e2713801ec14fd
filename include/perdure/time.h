#pragma once

#include <chrono>

namespace perdure {

using Duration = std::chrono::microseconds;

/// A moment in UTC. Microseconds are what every store keeps, so a stored time reads back equal.
using TimePoint = std::chrono::time_point<std::chrono::system_clock, Duration>;

}  // namespace perdure
