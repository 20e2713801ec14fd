#include "model/version.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "model/ids.h"

namespace perdure {

namespace {

Version valid_version(std::string_view text) {
  const auto version = parse_version(text);
  PERDURE_CHECK(version, "versions are checked where they come in");
  return *version;
}

/// The first `count` numbers, with dots between.
std::string leading_numbers(const Version& version, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ".") + std::to_string(version.parts[i]);
  }
  return text;
}

}  // namespace

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

std::string stored_version(std::string_view text) {
  if (text.empty()) return {};
  const Version version = valid_version(text);
  if (version == Version{}) return "0";
  const auto dots = std::count(text.begin(), text.end(), '.');
  return leading_numbers(version, static_cast<std::size_t>(dots) + 1);
}

std::vector<std::string> served_versions(std::string_view text) {
  const Version version = valid_version(text);
  std::vector<std::string> all;
  if (version == Version{}) {
    all.emplace_back("0");
  } else {
    std::size_t count = version.parts.size();
    while (version.parts[count - 1] == 0) --count;
    for (; count <= version.parts.size(); ++count) all.push_back(leading_numbers(version, count));
  }
  if (!text.empty() && std::find(all.begin(), all.end(), text) == all.end()) {
    all.emplace_back(text);
  }
  return all;
}

}  // namespace perdure
