#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace perdure::bench {

/// How much was done in how much time.
struct Rate {
  std::int64_t units = 0;
  std::chrono::duration<double> spent{};

  void add(const Rate& other) {
    units += other.units;
    spent += other.spent;
  }
  /// Zero when no time was spent.
  double per_second() const {
    return spent.count() > 0 ? static_cast<double>(units) / spent.count() : 0;
  }
};

/// The middle value; of an even number the mean of both. Zero for none.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

}  // namespace perdure::bench
