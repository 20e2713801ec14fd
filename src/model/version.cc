#include "model/version.h"

#include <charconv>
#include <string>

#include "model/ids.h"

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

Status check_version(std::string_view field, std::string_view text) {
  if (text.empty()) return {};
  PERDURE_RETURN_IF_ERROR(check_id(field, text));
  if (parse_version(text)) return {};
  return invalid_argument(std::string(field) + " '" + std::string(text) +
                          "': use one to three numbers, as in \"1.4.2\"");
}

}  // namespace perdure
