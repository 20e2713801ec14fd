#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace perdure::bench {

/// How long each of many calls took. Threading: one thread at a time.
class Latencies {
 public:
  void add(std::chrono::nanoseconds took) {
    milliseconds_.push_back(std::chrono::duration<double, std::milli>(took).count());
  }
  void add(const Latencies& others) {
    milliseconds_.insert(
        milliseconds_.end(), others.milliseconds_.begin(), others.milliseconds_.end());
  }

  std::int64_t count() const { return static_cast<std::int64_t>(milliseconds_.size()); }
  /// In milliseconds: the least time that `part` of all calls did not exceed (nearest rank). Zero
  /// when there are none. Requires: 0 < part <= 1.
  double percentile(double part) const;
  double max() const { return percentile(1); }

 private:
  std::vector<double> milliseconds_;
};

}  // namespace perdure::bench
