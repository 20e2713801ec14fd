#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/time.h"

/// Settings and limits as people read them. Exact: nothing is rounded. Pure.
namespace perdure::cli {

/// In the largest unit in which it is whole: "100 ms", "30 s", "1 h", "365 d"; "0".
/// Requires: not negative.
std::string time_amount(Duration time);

/// The same: "10 B", "256 MiB"; "0".
std::string byte_amount(std::size_t bytes);

/// "25,000". Requires: not negative.
std::string count_amount(std::int64_t count);

}  // namespace perdure::cli
