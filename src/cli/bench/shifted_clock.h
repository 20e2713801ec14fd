#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "base/clock.h"

namespace perdure::bench {

/// The system's time, some hours ahead once it is told so: what sleeps until then wakes at once.
/// Threading: any thread.
class ShiftedClock final : public Clock {
 public:
  TimePoint now() const override;
  std::optional<Duration> sleep_until(TimePoint until) const override;
  [[nodiscard]] Subscription on_advance(std::function<void()> callback) override;

  /// Moves all later times ahead and tells those who wait. Requires: `step` is not negative.
  void shift(Duration step);

 private:
  std::atomic<std::int64_t> ahead_micros_{0};
  VirtualClock moves_;  // for those who want to be told; its time is of no use
};

}  // namespace perdure::bench
