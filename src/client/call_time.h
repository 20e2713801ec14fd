#pragma once

#include <chrono>

#include "base/time.h"

namespace perdure::client {

/// How long a call of a client may last: real time, from its beginning. A value.
class CallTime {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  explicit CallTime(Duration timeout);

  Duration timeout() const { return timeout_; }
  SteadyTime end() const { return end_; }
  bool passed() const;
  /// What is left, at least `least`.
  std::chrono::milliseconds left(std::chrono::milliseconds least = {}) const;

 private:
  Duration timeout_;
  SteadyTime end_;
};

/// Pauses between tries, each twice as long as the one before, up to a quarter of a second.
class Backoff {
 public:
  /// Sleeps, but not beyond the time.
  void pause(const CallTime& time);

 private:
  std::chrono::milliseconds next_{2};
};

}  // namespace perdure::client
