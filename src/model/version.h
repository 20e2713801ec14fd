#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// The text to store for a version that was asked for: without leading zeros, 0.0.0 as "0", empty
/// as empty. How many numbers it has stays, so "1.0" is stored as "1.0": stores have all three
/// forms, and during an upgrade older workers fetch by just the text that they registered.
/// Requires that it parses.
std::string stored_version(std::string_view text);

/// A fetch compares texts, so code that is registered with `text` asks for all of these: what
/// stored_version gives for the versions equal to it ("1", "1.0", "1.0.0"), and `text` as it is,
/// which older stores may have. For the empty text just "0": runs without a version are not meant.
/// Each once. Requires that it parses.
///
/// So runs that a release before stored are found as well, but for two kinds, which that release
/// never ran either: with leading zeros other than those of the registration, and "0.0" or "0.0.0"
/// for code that is registered otherwise.
std::vector<std::string> served_versions(std::string_view text);

}  // namespace perdure
