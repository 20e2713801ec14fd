#pragma once

#include <stop_token>

#include "base/time.h"

namespace perdure::runtime {

/// How a handler sleeps: in real time, or by a clock that a test moves. Threading: any thread.
class Sleeper {
 public:
  Sleeper() = default;
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  virtual ~Sleeper() = default;

  /// Returns when the time is over or the token has fired.
  virtual void sleep_for(Duration time, const std::stop_token& stop) = 0;
};

/// Blocks the calling thread.
class RealSleeper final : public Sleeper {
 public:
  void sleep_for(Duration time, const std::stop_token& stop) override;
};

/// One for the process; never destroyed, so that any handler may use it to its end.
Sleeper& real_sleeper();

}  // namespace perdure::runtime
