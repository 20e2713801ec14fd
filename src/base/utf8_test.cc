#include "base/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace perdure {
namespace {

TEST(Utf8, AcceptsTextOfEveryLength) {
  EXPECT_TRUE(is_valid_utf8(""));
  EXPECT_TRUE(is_valid_utf8("order-7"));
  EXPECT_TRUE(is_valid_utf8("größe"));
  EXPECT_TRUE(is_valid_utf8("日本"));
  EXPECT_TRUE(is_valid_utf8("\xF0\x9F\x9A\x80 launch"));
  EXPECT_TRUE(is_valid_utf8(std::string_view("a\0b", 3)));
}

TEST(Utf8, AcceptsTheEdgesOfEachLength) {
  EXPECT_TRUE(is_valid_utf8("\x7F"));
  EXPECT_TRUE(is_valid_utf8("\xC2\x80"));
  EXPECT_TRUE(is_valid_utf8("\xDF\xBF"));
  EXPECT_TRUE(is_valid_utf8("\xE0\xA0\x80"));
  EXPECT_TRUE(is_valid_utf8("\xED\x9F\xBF"));
  EXPECT_TRUE(is_valid_utf8("\xEE\x80\x80"));
  EXPECT_TRUE(is_valid_utf8("\xEF\xBF\xBF"));
  EXPECT_TRUE(is_valid_utf8("\xF0\x90\x80\x80"));
  EXPECT_TRUE(is_valid_utf8("\xF4\x8F\xBF\xBF"));
}

TEST(Utf8, RefusesOverlongForms) {
  EXPECT_FALSE(is_valid_utf8("\xC0\x80"));
  EXPECT_FALSE(is_valid_utf8("\xC1\xBF"));
  EXPECT_FALSE(is_valid_utf8("\xE0\x9F\xBF"));
  EXPECT_FALSE(is_valid_utf8("\xF0\x8F\xBF\xBF"));
}

TEST(Utf8, RefusesSurrogatesAndWhatLiesBeyondUnicode) {
  EXPECT_FALSE(is_valid_utf8("\xED\xA0\x80"));
  EXPECT_FALSE(is_valid_utf8("\xED\xBF\xBF"));
  EXPECT_FALSE(is_valid_utf8("\xF4\x90\x80\x80"));
  EXPECT_FALSE(is_valid_utf8("\xF5\x80\x80\x80"));
  EXPECT_FALSE(is_valid_utf8("\xFF"));
}

TEST(Utf8, RefusesSequencesThatStopShortOrContinueWrongly) {
  EXPECT_FALSE(is_valid_utf8("\x80"));
  EXPECT_FALSE(is_valid_utf8("abc\xC3"));
  EXPECT_FALSE(is_valid_utf8("\xE2\x82"));
  EXPECT_FALSE(is_valid_utf8("\xF0\x9F\x9A"));
  EXPECT_FALSE(is_valid_utf8("\xC3x"));
  EXPECT_FALSE(is_valid_utf8("\xE2\x82x"));
  EXPECT_FALSE(is_valid_utf8("\xF0\x9F\x9Ax"));
}

}  // namespace
}  // namespace perdure
