#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

/// One line per event on stderr: `message key=value key="with spaces"`.
///
/// Control characters are escaped, so an event never spans lines. Threading: any thread. Nothing
/// here throws or fails: a broken log must not stop the work it describes.
namespace perdure::log {

enum class Level : std::uint8_t { kTrace, kDebug, kInfo, kWarning, kError, kOff };

/// "trace", "debug", "info", "warning", "error", "off".
std::string_view to_string(Level level);
/// The inverse of `to_string`; nothing for any other text.
std::optional<Level> parse_level(std::string_view text);

/// A named value of an event. `key` must outlive the call it is passed to.
struct Field {
  std::string_view key;
  std::string value;

  Field(std::string_view name, std::string_view text) : key(name), value(text) {}
  Field(std::string_view name, const std::string& text) : key(name), value(text) {}
  Field(std::string_view name, const char* text) : key(name), value(text) {}
  template <std::same_as<bool> Bool>
  Field(std::string_view name, Bool flag) : key(name), value(flag ? "true" : "false") {}
  template <std::integral Int>
  requires(!std::same_as<Int, bool>) Field(std::string_view name, Int number)
      : key(name), value(std::to_string(number)) {}
};

using Fields = std::initializer_list<Field>;

void write(Level level, std::string_view message, Fields fields = {}) noexcept;

inline void trace(std::string_view message, Fields fields = {}) noexcept {
  write(Level::kTrace, message, fields);
}
inline void debug(std::string_view message, Fields fields = {}) noexcept {
  write(Level::kDebug, message, fields);
}
inline void info(std::string_view message, Fields fields = {}) noexcept {
  write(Level::kInfo, message, fields);
}
inline void warning(std::string_view message, Fields fields = {}) noexcept {
  write(Level::kWarning, message, fields);
}
inline void error(std::string_view message, Fields fields = {}) noexcept {
  write(Level::kError, message, fields);
}

/// Events below `level` are dropped; `kInfo` at the start.
void set_level(Level level);

/// Whether an event of `level` would be written; ask before building costly fields.
bool enabled(Level level);

using Sink = std::function<void(Level level, std::string_view line)>;

/// Sends lines to `sink` instead of stderr; an empty one restores stderr. Calls of the sink never
/// overlap, and after `set_sink` returns the former sink is not running and never will. The sink
/// must not call `set_sink`; what it logs itself is dropped.
void set_sink(Sink sink);

}  // namespace perdure::log
