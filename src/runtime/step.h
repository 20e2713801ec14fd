#pragma once

#include <optional>

#include "base/error.h"
#include "base/time.h"

namespace perdure::runtime {

/// What one call of `poll_once()` did. True in a condition when it did something, so that a loop
/// goes on without waiting.
struct Step {
  bool worked = false;
  /// Nothing more to do now: when there will be, by the store's clock; nothing when only a commit
  /// of somebody brings more.
  std::optional<TimePoint> next_at;
  /// The store did not answer as it should. Busy, Unavailable, CommitUnknown: pause and go on.
  /// LockLost: the registration of this process has ended, register anew.
  std::optional<Error> trouble;

  explicit operator bool() const { return worked; }
};

}  // namespace perdure::runtime
