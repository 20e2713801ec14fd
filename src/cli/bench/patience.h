#pragma once

#include <chrono>

namespace perdure::bench {

/// How long a workload waits for something that does not come before it ends with an error.
inline constexpr auto kPatience = std::chrono::minutes(2);

}  // namespace perdure::bench
