#include "cli/bench/latencies.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace perdure::bench {

double Latencies::percentile(double part) const {
  PERDURE_CHECK(part > 0 && part <= 1, "a part of all calls");
  if (milliseconds_.empty()) return 0;
  const double rank = std::ceil(part * static_cast<double>(milliseconds_.size()));
  const std::size_t index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  std::vector<double> sorted = milliseconds_;
  std::nth_element(
      sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(index), sorted.end());
  return sorted[index];
}

}  // namespace perdure::bench
