#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <perdure/detail/safe_argument.h>
#include <perdure/errors.h>
#include <perdure/json.h>

/// What a caller gives for a contract: inputs and payloads. The same rules hold in an
/// orchestration, for a client and in a test: a type that would lose something (a fraction for an
/// integer, a text for a boolean) is refused when compiled, a number that does not fit when called.
namespace perdure::detail {

template <class T>
inline constexpr bool kIsInteger =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> &&
    !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char8_t> && !std::is_same_v<T, char16_t> &&
    !std::is_same_v<T, char32_t>;

/// The type of a payload; `Event<void>` has none.
template <class T>
concept Payload = !std::is_void_v<T>;

/// True when an `In` may be given for a `T`. A `T` itself is only read: it need not be copyable.
template <class T, class In>
inline constexpr bool kMayBeGiven =
    std::is_same_v<std::remove_cvref_t<In>, T> || kStandsFor<In&&, T>;

template <class A, class In>
constexpr void check_input() {
  static_assert(kMayBeGiven<A, In>, "perdure: the input has not the type that the contract names");
}

template <class T, class In>
constexpr void check_payload() {
  static_assert(kMayBeGiven<T, In>, "perdure: the payload has not the type that the contract names");
}

inline std::string input_of(std::string_view called) {
  return "the input of '" + std::string(called) + "'";
}

inline std::string payload_of_event(std::string_view name) {
  return "the payload of event '" + std::string(name) + "'";
}

/// Of a signal, update or query: "the input of update 'add_note'".
inline std::string input_of_message(std::string_view kind, std::string_view name) {
  return "the input of " + std::string(kind) + " '" + std::string(name) + "'";
}

inline std::string result_of_message(std::string_view kind, std::string_view name) {
  return "the result of " + std::string(kind) + " '" + std::string(name) + "'";
}

template <class T, class In>
void check_fits(const In& given, const std::string& what) {
  if constexpr (kIsInteger<T> && kIsInteger<In>) {
    if (std::in_range<T>(given)) return;
    throw InvalidArgument(what + ": " + std::to_string(given) + " does not fit its type");
  }
}

template <class T, class In>
T converted(In&& given) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(std::forward<In>(given));
  } else {
    return std::forward<In>(given);
  }
}

/// JSON text of what was given for a `T`. Throws InvalidArgument that begins with `what`.
template <class T, class In>
std::string encode_given(In&& given, const std::string& what, std::size_t max_bytes) {
  if constexpr (std::is_same_v<std::remove_cvref_t<In>, T>) {
    return encode<T>(given, what, max_bytes);
  } else {
    check_fits<T>(given, what);
    const T value = converted<T>(std::forward<In>(given));
    return encode<T>(value, what, max_bytes);
  }
}

}  // namespace perdure::detail
