#include "cli/printable.h"

#include <gtest/gtest.h>

namespace perdure::cli {
namespace {

TEST(Printable, LeavesOrdinaryTextAlone) {
  const std::string text = R"(order-42 "ä" {"path":"C:\\x"} 日本 🎉)";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, EscapesWhatMovesTheCursorOrTurnsTheText) {
  EXPECT_EQ(printable("a\nb\r\tc\x1b[31m\x7f"), "a\\nb\\r\\tc\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\u009b31m");
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b\xE2\x80\xA8"),
            "a\\u202eb\\u2028");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("a\xFF"
                      "b"),
            "a\\xffb");
  EXPECT_EQ(printable("\xC3"), "\\xc3");
  EXPECT_EQ(printable("\xE2\x80"), "\\xe2\\x80");
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");
}

TEST(Printable, KeepsTheLinesOfMessages) {
  EXPECT_EQ(printable_lines("a\nb\x1b"), "a\nb\\x1b");
}

TEST(Shortened, CutsBetweenCodePoints) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abcd..");
  EXPECT_EQ(shortened("ääääää", 6), "ääääää");
  EXPECT_EQ(shortened("äääääää", 6), "ääää..");
  EXPECT_EQ(columns_of("日本"), 2U);
}

}  // namespace
}  // namespace perdure::cli
