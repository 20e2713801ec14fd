#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace perdure::bench {

/// What `perdure bench` was asked for. Ranges are checked by whoever reads the command line.
struct Options {
  std::string provider;                   ///< URL of the store
  std::optional<std::string> durability;  ///< "full" or "relaxed"; unset: what the URL says
  std::chrono::duration<double> seconds{5};
  std::chrono::duration<double> warmup{1};
  std::int64_t in_flight = 2'048;  ///< instances in the loop
  std::vector<int> threads{1, 8, 64};
  std::int64_t count = 1'000'000;
  int repeat = 1;
  std::chrono::milliseconds slow_fsync{0};
  bool keep = false;
};

}  // namespace perdure::bench
