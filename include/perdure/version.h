#pragma once

#include <string_view>

namespace perdure {

/// Version of these headers and of the library built with them. The build refuses to configure
/// when its own version differs.
inline constexpr int kVersionMajor = 0;
inline constexpr int kVersionMinor = 1;
inline constexpr int kVersionPatch = 0;
inline constexpr std::string_view kVersionString = "0.1.0";

}  // namespace perdure
