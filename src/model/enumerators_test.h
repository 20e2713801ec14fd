#pragma once

#include <array>
#include <cctype>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

/// What a stored enum declares, taken from the compiler and not from a list that somebody keeps.
namespace perdure::testing_support {

template <auto kValue>
constexpr std::string_view spelled_value() {
  return __PRETTY_FUNCTION__;
}

template <class E>
constexpr std::string_view spelled_type() {
  return __PRETTY_FUNCTION__;
}

/// The last part of the qualified name behind `key` in a pretty function name: "kRunning", or
/// something that begins otherwise for a number without an enumerator.
constexpr std::string_view last_name(std::string_view pretty, std::string_view key) {
  pretty.remove_prefix(pretty.find(key) + key.size());
  pretty = pretty.substr(0, pretty.find_first_of(";]"));
  const std::size_t colon = pretty.rfind(':');
  return colon == std::string_view::npos ? pretty : pretty.substr(colon + 1);
}

/// For example "EventKind".
template <class E>
std::string type_name() {
  return std::string(last_name(spelled_type<E>(), "E = "));
}

/// All enumerators of an enum over bytes: code -> spelling, for example 1 -> "kRunning".
template <class E>
std::map<int, std::string> enumerators() {
  static_assert(sizeof(E) == 1);
  const auto spelled = []<std::size_t... kCodes>(std::index_sequence<kCodes...>) {
    return std::array{last_name(spelled_value<static_cast<E>(kCodes)>(), "kValue = ")...};
  }
  (std::make_index_sequence<256>());
  std::map<int, std::string> found;
  for (std::size_t code = 0; code < spelled.size(); ++code) {
    if (spelled[code].starts_with('k')) found.emplace(static_cast<int>(code), spelled[code]);
  }
  return found;
}

/// "kTryCancel" -> "try_cancel".
inline std::string snake_case(std::string_view enumerator) {
  std::string name;
  for (const char letter : enumerator.substr(1)) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isupper(byte) != 0 && !name.empty()) name += '_';
    name += static_cast<char>(std::tolower(byte));
  }
  return name;
}

}  // namespace perdure::testing_support
