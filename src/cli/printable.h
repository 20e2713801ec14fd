#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Text from a store or a caller on its way to a terminal: whatever it holds moves no cursor and
/// spans no lines. Pure.
namespace perdure::cli {

/// Escapes control characters, those that turn the direction of writing or take no room, and bytes
/// that are no UTF-8: `\n`, `\x1b`, `\u202e`. Backslashes stay as they are, so that JSON and paths
/// can be copied.
std::string printable(std::string_view text);

/// The same, but line breaks stay: for messages of several lines.
std::string printable_lines(std::string_view text);

/// How many columns a printable text takes: one for each code point.
std::size_t columns_of(std::string_view text);

/// At most so many columns; a text that is cut ends with "..".
std::string shortened(const std::string& text, std::size_t columns);

}  // namespace perdure::cli
