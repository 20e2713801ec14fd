#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace perdure::runtime {

/// The one moment at which a runtime that was told to stop stops waiting. Ownership: shared by the
/// runtime and those who wait for its turns. Threading: any thread.
class StopDeadline {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// From now on it is known.
  void set(Time at) { at_.store(at.time_since_epoch().count(), std::memory_order_release); }

  /// `Time::max()`: nobody has told the runtime to stop.
  Time at() const { return Time(Time::duration(at_.load(std::memory_order_acquire))); }

 private:
  std::atomic<std::int64_t> at_{Time::max().time_since_epoch().count()};
};

}  // namespace perdure::runtime
