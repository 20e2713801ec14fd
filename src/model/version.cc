#include "model/version.h"

#include <charconv>

namespace perdure {

std::optional<Version> parse_version(std::string_view text) {
  Version version;
  if (text.empty()) return version;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int& part : version.parts) {
    if (at == end || *at < '0' || *at > '9') return std::nullopt;
    const auto [next, error] = std::from_chars(at, end, part);
    if (error != std::errc()) return std::nullopt;
    if (next == end) return version;
    if (*next != '.') return std::nullopt;
    at = next + 1;
  }
  return std::nullopt;
}

}  // namespace perdure
