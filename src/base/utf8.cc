#include "base/utf8.h"

#include <cstddef>

namespace perdure {

namespace {

struct Sequence {
  std::size_t length;  // 0: no sequence begins with this byte
  unsigned char second_min;
  unsigned char second_max;
};

// Table 3-7 of the Unicode standard: the bounds of the second byte are what excludes overlong
// forms, surrogates and values above U+10FFFF.
constexpr Sequence sequence_of(unsigned char first) {
  if (first < 0x80) return {1, 0, 0};
  if (first >= 0xC2 && first <= 0xDF) return {2, 0x80, 0xBF};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first >= 0xE1 && first <= 0xEF) return {3, 0x80, 0xBF};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  if (first >= 0xF1 && first <= 0xF3) return {4, 0x80, 0xBF};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t at = 0; at < text.size();) {
    const Sequence sequence = sequence_of(byte(at));
    if (sequence.length == 0 || text.size() - at < sequence.length) return false;
    if (sequence.length > 1 &&
        (byte(at + 1) < sequence.second_min || byte(at + 1) > sequence.second_max)) {
      return false;
    }
    for (std::size_t i = at + 2; i < at + sequence.length; ++i) {
      if (byte(i) < 0x80 || byte(i) > 0xBF) return false;
    }
    at += sequence.length;
  }
  return true;
}

}  // namespace perdure
