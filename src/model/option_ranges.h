#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "base/time.h"

/// Checks of settings that people give: each throws the public InvalidArgument, naming the field,
/// its range and its value.
namespace perdure::option_ranges {

inline constexpr Duration kMostTime = std::chrono::hours(24) * 365;
inline constexpr std::size_t kMostSize = std::numeric_limits<std::size_t>::max() / 2;

[[noreturn]] void refuse(const std::string& field, const std::string& range, const std::string& is);
void check_count(const std::string& field, long long value, long long least, long long most);
void check_size(const std::string& field,
                std::size_t value,
                std::size_t least,
                std::size_t most = kMostSize);
void check_time(const std::string& field,
                Duration value,
                Duration least,
                Duration most = kMostTime);
/// 0 to 1.
void check_fraction(const std::string& field, double value);

}  // namespace perdure::option_ranges
