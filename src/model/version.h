#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace perdure {

/// A version of an orchestration: one to three numbers. Missing ones are zero: "1.2" is "1.2.0".
struct Version {
  std::array<int, 3> parts{};

  auto operator<=>(const Version&) const = default;
};

/// "1", "1.4", "1.4.2"; the empty text, of something registered without a version, is 0.0.0.
/// nullopt for anything else.
std::optional<Version> parse_version(std::string_view text);

/// Ok for what parses and a store can keep; otherwise InvalidArgument that names `field`.
Status check_version(std::string_view field, std::string_view text);

}  // namespace perdure
