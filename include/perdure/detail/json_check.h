#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <perdure/errors.h>

/// What nlohmann lets pass and Perdure does not.
namespace perdure::detail {

/// Deeper JSON is refused: the library copies and prints it by recursion.
inline constexpr std::size_t kMaxJsonDepth = 500;

/// A field whose value has the wrong shape; tells its path. Thrown by `from_json` of types that
/// were declared with `PERDURE_JSON`.
class FieldError : public nlohmann::json::exception {
 public:
  FieldError(std::string path, std::string why)
      : exception(302, ("field '" + path + "': " + why).c_str()),
        path_(std::move(path)),
        why_(std::move(why)) {}
  FieldError under(const std::string& key) const {
    return {path_.empty() ? key : key + "." + path_, why_};
  }

 private:
  std::string path_;
  std::string why_;
};

/// The library's message without its catalogue number.
inline std::string reason_of(const nlohmann::json::exception& error) {
  const std::string_view text = error.what();
  const std::size_t end = text.find("] ");
  const bool numbered = text.starts_with("[json.exception") && end != text.npos;
  return std::string(numbered ? text.substr(end + 2) : text);
}

template <class T>
void read_field(const nlohmann::json& object, const char* key, T& value) {
  if (!object.is_object()) {
    throw FieldError(key,
                     std::string("wants an object around it, but found ") + object.type_name());
  }
  const auto found = object.find(key);
  if (found == object.end()) throw FieldError(key, "it is missing");
  try {
    found->get_to(value);
  } catch (const FieldError& error) {
    throw error.under(key);
  } catch (const nlohmann::json::exception& error) {
    throw FieldError(key, reason_of(error));
  }
}

/// A place inside a JSON value that is not in order: the path with its leading dot, and why.
struct JsonFlaw {
  std::string path;
  std::string why;

  explicit operator bool() const { return !why.empty(); }
};

inline bool is_utf8(const std::string& text) {
  try {
    return !nlohmann::json(text).dump().empty();
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

/// One step of a path; a key that cannot be shown is left out of it.
inline std::string step_to(const nlohmann::json& value,
                           const nlohmann::json::const_iterator& item) {
  if (value.is_array()) return "[" + std::to_string(item - value.begin()) + "]";
  return is_utf8(item.key()) ? "." + item.key() : ".?";
}

template <class Visit>
JsonFlaw first_flaw(const nlohmann::json& value, const Visit& visit) {
  for (auto item = value.begin(); item != value.end(); ++item) {
    JsonFlaw flaw = visit(item);
    if (!flaw) continue;
    flaw.path.insert(0, step_to(value, item));
    return flaw;
  }
  return {};
}

inline const char* nul_flaw(const std::string& text) {
  return text.find('\0') == std::string::npos ? "" : "a text holds a NUL character";
}

/// The first text in `value` that is not UTF-8; asked when printing has failed.
inline JsonFlaw invalid_text(const nlohmann::json& value) {
  constexpr const char* kWhy = "a text is not valid UTF-8";
  if (value.is_string()) {
    return {"", is_utf8(value.get_ref<const std::string&>()) ? "" : kWhy};
  }
  if (!value.is_structured()) return {};
  return first_flaw(value, [&](const auto& item) -> JsonFlaw {
    if (value.is_object() && !is_utf8(item.key())) return {"", kWhy};
    return invalid_text(*item);
  });
}

/// The first thing in `value` that a store cannot carry; whether texts are UTF-8 is found when it
/// is printed.
inline JsonFlaw unstorable(const nlohmann::json& value, std::size_t depth = 0) {
  if (depth > kMaxJsonDepth) {
    return {"", "nested deeper than " + std::to_string(kMaxJsonDepth) + " levels"};
  }
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    return {"", "NaN and infinity have no JSON form"};
  }
  if (value.is_string()) return {"", nul_flaw(value.get_ref<const std::string&>())};
  if (!value.is_structured()) return {};
  return first_flaw(value, [&](const auto& item) -> JsonFlaw {
    if (value.is_object() && item.key().find('\0') != std::string::npos) {
      return {"", nul_flaw(item.key())};
    }
    return unstorable(*item, depth + 1);
  });
}

inline bool same_integer(const nlohmann::json& read, const nlohmann::json& text) {
  if (text.is_number_float()) return text.get<double>() == read.get<double>();
  const auto negative = [](const nlohmann::json& number) {
    return !number.is_number_unsigned() && number.get<std::int64_t>() < 0;
  };
  return negative(read) == negative(text) && read.get<std::uint64_t>() == text.get<std::uint64_t>();
}

/// `read` is a number that was taken out of `text`.
inline bool same_number(const nlohmann::json& read, const nlohmann::json& text) {
  if (!text.is_number()) return !text.is_boolean();  // other forms are the author's own
  if (!read.is_number_float()) return same_integer(read, text);
  // A `float` rounds, which is what its author chose; it must not overflow.
  const double wanted = text.get<double>();
  return std::isfinite(read.get<double>()) &&
         std::abs(read.get<double>() - wanted) <= 1e-6 * std::abs(wanted) + 1e-37;
}

/// The first number that was cut or wrapped when `text` was read into a value whose own JSON form
/// is `read`. Looks only at numbers that stand at the same place in both.
inline JsonFlaw changed_number(const nlohmann::json& read, const nlohmann::json& text) {
  if (read.is_number() && !same_number(read, text)) {
    return {"", text.dump() + " does not fit its type"};
  }
  if (read.is_object() && text.is_object()) {
    return first_flaw(read, [&](const auto& item) -> JsonFlaw {
      const auto other = text.find(item.key());
      return other == text.end() ? JsonFlaw{} : changed_number(*item, *other);
    });
  }
  if (read.is_array() && text.is_array() && read.size() == text.size()) {
    return first_flaw(read, [&](const auto& item) {
      return changed_number(*item, text[static_cast<std::size_t>(item - read.begin())]);
    });
  }
  return {};
}

/// How deep the brackets of a JSON text go; texts in quotes do not count.
inline std::size_t depth_of(std::string_view text) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '[' || c == '{')) {
      deepest = std::max(deepest, ++depth);
    } else if (!quoted && (c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace perdure::detail
