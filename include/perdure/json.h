#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include <perdure/errors.h>
#include <perdure/outcome.h>

/// Payloads. Inputs, results and events are JSON text in the store; user types say how with
/// `PERDURE_JSON(Type, field, ...)`, at namespace scope beside the type, or with nlohmann's own
/// `to_json` and `from_json`.
#define PERDURE_JSON(Type, ...) NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Type, __VA_ARGS__)

namespace perdure {

using Json = nlohmann::json;

namespace detail {

/// Throws InvalidArgument when JSON text cannot carry `value`: NaN, infinity, NUL. `what` names the
/// field.
inline void check_json(const Json& value, std::string_view what) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    throw InvalidArgument(std::string(what) + ": NaN and infinity have no JSON form");
  }
  if (value.is_string() && value.get_ref<const std::string&>().find('\0') != std::string::npos) {
    throw InvalidArgument(std::string(what) + ": a text holds a NUL character");
  }
  if (!value.is_structured()) return;
  for (auto item = value.begin(); item != value.end(); ++item) {
    if (value.is_object() && item.key().find('\0') != std::string::npos) {
      throw InvalidArgument(std::string(what) + ": a key holds a NUL character");
    }
    check_json(*item, what);
  }
}

inline std::string dump(const Json& value, std::string_view what, std::size_t max_bytes) {
  check_json(value, what);
  std::string text;
  try {
    text = value.dump();
  } catch (const Json::exception&) {
    throw InvalidArgument(std::string(what) + ": a text is not valid UTF-8");
  }
  if (text.size() > max_bytes) {
    throw InvalidArgument(std::string(what) + ": " + std::to_string(text.size()) +
                          " bytes of JSON, the limit is " + std::to_string(max_bytes) +
                          ": store large data elsewhere and pass a reference");
  }
  return text;
}

/// JSON text of a value. Throws InvalidArgument naming `what`; nothing was stored then.
template <class T>
std::string encode(const T& value, std::string_view what, std::size_t max_bytes) {
  Json json;
  try {
    json = value;
  } catch (const Json::exception& error) {
    throw InvalidArgument(std::string(what) + ": " + error.what());
  }
  return dump(json, what, max_bytes);
}

/// The value behind JSON text; Failed with type `bad_input` naming `what` when the shape is wrong.
template <class T>
Stored<T> decode(const std::string& text, std::string_view what) {
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    try {
      return Json::parse(text).template get<T>();
    } catch (const Json::exception& error) {
      throw Failed(kBadInputFailure, std::string(what) + ": " + error.what(), false);
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
