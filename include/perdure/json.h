#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include <perdure/detail/json_check.h>
#include <perdure/errors.h>
#include <perdure/outcome.h>

/// Payloads. Inputs, results and events are JSON text in the store; user types say how with
/// `PERDURE_JSON(Type, field, ...)`, at namespace scope beside the type, or with nlohmann's own
/// `to_json` and `from_json`.
///
/// Writing refuses what JSON text cannot carry: NaN, infinity, NUL, invalid UTF-8, more than 500
/// levels, more bytes than the limit of a payload (2 MiB unless configured).
/// Reading is stricter than nlohmann: a number that would be cut (1.5 for an `int`) or wrapped
/// (300 for an `std::uint8_t`, -1 for an unsigned type), or a boolean in place of a number, is a
/// wrong shape, also deep inside a value. It is found by writing the value that was read again and
/// comparing the numbers, so it needs a `to_json` that puts each number where `from_json` found
/// it; numbers elsewhere are not compared. A `float` may round. Fields that a type does not name
/// are ignored, fields that it names must be there.
#define PERDURE_JSON(Type, ...)                                                         \
  inline void to_json(nlohmann::json& nlohmann_json_j, const Type& nlohmann_json_t) {   \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))            \
  }                                                                                     \
  inline void from_json(const nlohmann::json& nlohmann_json_j, Type& nlohmann_json_t) { \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(PERDURE_DETAIL_READ_FIELD, __VA_ARGS__))   \
  }

#define PERDURE_DETAIL_READ_FIELD(field) \
  ::perdure::detail::read_field(nlohmann_json_j, #field, nlohmann_json_t.field);

namespace perdure {

using Json = nlohmann::json;

namespace detail {

/// "the input of 'charge': field 'card.number': "
inline std::string at_field(std::string_view what, const JsonFlaw& flaw) {
  const std::string path = flaw.path.starts_with('.') ? flaw.path.substr(1) : flaw.path;
  return std::string(what) + ": " + (path.empty() ? "" : "field '" + path + "': ") + flaw.why;
}

inline std::string dump(const Json& value, std::string_view what, std::size_t max_bytes) {
  if (const JsonFlaw flaw = unstorable(value)) throw InvalidArgument(at_field(what, flaw));
  std::string text;
  try {
    text = value.dump();
  } catch (const Json::exception&) {
    throw InvalidArgument(at_field(what, invalid_text(value)));
  }
  if (text.size() > max_bytes) {
    throw InvalidArgument(std::string(what) + ": " + std::to_string(text.size()) +
                          " bytes of JSON, the limit is " + std::to_string(max_bytes) +
                          ": store large data elsewhere and pass a reference");
  }
  return text;
}

/// JSON text of a value. Throws InvalidArgument naming `what` and the field; nothing was stored
/// then.
template <class T>
std::string encode(const T& value, std::string_view what, std::size_t max_bytes) {
  Json json;
  try {
    json = value;
  } catch (const Json::exception& error) {
    throw InvalidArgument(std::string(what) + ": " + reason_of(error));
  }
  return dump(json, what, max_bytes);
}

/// True for types whose numbers can be compared with the text that they were read from.
template <class T>
inline constexpr bool kChecksNumbers =
    std::is_convertible_v<const T&, Json> && !std::is_same_v<T, Json> && !std::is_same_v<T, bool> &&
    !std::is_same_v<T, std::string>;

[[noreturn]] inline void refuse(std::string_view what, const JsonFlaw& flaw) {
  throw Failed(kBadInputFailure, at_field(what, flaw), false);
}

/// The value behind JSON text; Failed with type `bad_input` naming `what` and the field when the
/// shape is wrong.
template <class T>
Stored<T> decode(const std::string& text, std::string_view what) {
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    if (depth_of(text) > kMaxJsonDepth) {
      refuse(what, {"", "nested deeper than " + std::to_string(kMaxJsonDepth) + " levels"});
    }
    try {
      const Json json = Json::parse(text);
      T value = json.template get<T>();
      if constexpr (kChecksNumbers<T>) {
        if (const JsonFlaw flaw = changed_number(Json(value), json)) refuse(what, flaw);
      }
      return value;
    } catch (const Json::exception& error) {
      refuse(what, {"", reason_of(error)});
    }
  }
}

}  // namespace detail
}  // namespace perdure

// From nlohmann 3.12 on the library brings its own.
#if NLOHMANN_JSON_VERSION_MAJOR == 3 && NLOHMANN_JSON_VERSION_MINOR < 12
template <class T>
struct nlohmann::adl_serializer<std::optional<T>> {
  static void to_json(json& out, const std::optional<T>& value) {
    if (value) {
      out = *value;
    } else {
      out = nullptr;
    }
  }
  static void from_json(const json& in, std::optional<T>& value) {
    if (in.is_null()) {
      value.reset();
    } else {
      value = in.template get<T>();
    }
  }
};
#endif
