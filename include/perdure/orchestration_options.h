#pragma once

#include <optional>

#include <perdure/time.h>

namespace perdure {

/// Settings of one orchestration, given when it is registered. Unset: those of the queue.
struct OrchestrationOptions {
  /// How long its code may take for a turn before the turn is given up as blocked: deadlock. Zero:
  /// for ever, and then a turn that does not return holds up its dispatcher and `stop()`.
  std::optional<Duration> deadlock_timeout = {};
};

}  // namespace perdure
