#pragma once

#include <chrono>

#include "base/time.h"

namespace perdure::runtime {

/// How long the process of an isolated handler may live on.
struct ProcessLimits {
  /// From the moment its attempt is told to stop: activity_cancellation_grace_period.
  Duration grace = std::chrono::seconds(10);
  /// The same at a shutdown: less than shutdown_force_timeout.
  Duration shutdown_grace = std::chrono::seconds(4);
  /// From its birth to its first word. A busy machine must not be taken for a missing call.
  Duration silence = std::chrono::seconds(10);
};

}  // namespace perdure::runtime
