#include "cli/printable.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace perdure::cli {

namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::string hex(std::uint32_t value, int digits) {
  std::string text(static_cast<std::size_t>(digits), '0');
  for (auto at = text.rbegin(); at != text.rend(); ++at, value >>= 4U) *at = kDigits[value & 0xFU];
  return text;
}

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// The bytes of the code point at the front; one for a byte that begins none.
std::string_view front_of(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && size < 4 && continues(text[size])) ++size;
  const std::string_view front = text.substr(0, size);
  return is_valid_utf8(front) ? front : text.substr(0, 1);
}

/// Requires: valid, as `front_of` gives it.
std::uint32_t code_point(std::string_view bytes) {
  constexpr std::array<std::uint32_t, 5> kMasks = {0, 0x7F, 0x1F, 0x0F, 0x07};
  std::uint32_t value = static_cast<unsigned char>(bytes[0]) & kMasks[bytes.size()];
  for (const char byte : bytes.substr(1)) {
    value = (value << 6U) | (static_cast<unsigned char>(byte) & 0x3FU);
  }
  return value;
}

/// Controls of the terminal, separators of lines, marks that turn or hide text.
bool must_be_escaped(std::uint32_t point) {
  return point < 0x20 || (point >= 0x7F && point <= 0x9F) || point == 0x061C ||
         (point >= 0x200B && point <= 0x200F) || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069) || point == 0xFEFF;
}

std::string escaped(std::uint32_t point) {
  switch (point) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return point < 0x80 ? "\\x" + hex(point, 2) : "\\u" + hex(point, 4);
  }
}

std::string made_printable(std::string_view text, bool one_line) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::string_view front = front_of(text);
    text.remove_prefix(front.size());
    if (!is_valid_utf8(front)) {
      shown += "\\x" + hex(static_cast<unsigned char>(front[0]), 2);
    } else if (front == "\n" && !one_line) {
      shown += front;
    } else if (const std::uint32_t point = code_point(front); must_be_escaped(point)) {
      shown += escaped(point);
    } else {
      shown += front;
    }
  }
  return shown;
}

}  // namespace

std::string printable(std::string_view text) {
  return made_printable(text, true);
}

std::string printable_lines(std::string_view text) {
  return made_printable(text, false);
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (const char byte : text) columns += continues(byte) ? 0 : 1;
  return columns;
}

std::string shortened(const std::string& text, std::size_t columns) {
  constexpr std::string_view kCut = "..";
  if (columns_of(text) <= columns) return text;
  std::size_t end = 0;
  for (std::size_t kept = 0; end < text.size(); ++end) {
    if (continues(text[end])) continue;
    if (kept++ == columns - kCut.size()) break;
  }
  return text.substr(0, end).append(kCut);
}

}  // namespace perdure::cli
