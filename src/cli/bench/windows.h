#pragma once

#include <chrono>

#include "cli/bench/options.h"

namespace perdure::bench {

/// Windows in which each number is measured; what alternates, alternates so often.
inline constexpr int kWindows = 5;

inline std::chrono::nanoseconds window(const Options& options) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(options.seconds) / kWindows;
}

inline std::chrono::nanoseconds warmup(const Options& options) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(options.warmup);
}

}  // namespace perdure::bench
