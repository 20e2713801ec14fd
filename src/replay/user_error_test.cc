#include <gtest/gtest.h>

#include <perdure/detail/user_error.h>
#include <perdure/errors.h>

#include "base/utf8.h"

namespace perdure::detail {
namespace {

template <class E>
Failure failure_from(E error) {
  return failure_of(std::make_exception_ptr(std::move(error)));
}

TEST(UserError, AFailedIsKeptWhole) {
  const Failure failure{"no_stock", "none left", false, "{\"sku\":1}"};
  EXPECT_EQ(failure_from(Failed(failure)), failure);
  EXPECT_EQ(failure_from(ActivityFailed("charge", failure)), failure);
}

TEST(UserError, AFailedWithoutATypeGetsOne) {
  EXPECT_EQ(failure_from(Failed("", "text")).type, "error");
}

TEST(UserError, AnExceptionIsItsTypeAndItsText) {
  EXPECT_EQ(failure_from(std::out_of_range("too far")),
            (Failure{"std::out_of_range", "too far", true, {}}));
  EXPECT_EQ(failure_from(InvalidArgument("bad")).type, "invalid_argument");
}

TEST(UserError, ACanceledIsItsReason) {
  EXPECT_EQ(failure_from(Canceled("enough")), (Failure{kCanceledFailure, "enough", false, {}}));
  EXPECT_TRUE(is_cancellation(std::make_exception_ptr(Canceled("x"))));
  EXPECT_FALSE(is_cancellation(std::make_exception_ptr(std::runtime_error("x"))));
  EXPECT_FALSE(is_cancellation(std::make_exception_ptr(1)));
}

TEST(UserError, WhatIsNoExceptionIsUnknown) {
  EXPECT_EQ(failure_from(42).type, "unknown");
}

TEST(UserError, TextThatNoStoreCanCarryIsMadePrintable) {
  using namespace std::string_literals;
  const Failure failure = failure_from(Failed(Failure{"t\xff", "a\0b"s, true, "\xff{}"}));
  EXPECT_EQ(failure.type, "t?");
  EXPECT_EQ(failure.message, "a?b");
  EXPECT_EQ(failure.details, "?{}");
  EXPECT_EQ(failure_from(std::runtime_error("caf\xc3\xa9\n")).message, "caf\xc3\xa9\n");
  EXPECT_EQ(failure_from(std::runtime_error("caf\xe9")).message, "caf?");
}

TEST(UserError, CutsTextsThatAreTooLongBetweenCharacters) {
  std::string text;
  while (text.size() <= kMostFailureBytes) text += "\u00e4\u20ac";
  const Failure failure = failure_from(Failed("card", text));
  EXPECT_LE(failure.message.size(), kMostFailureBytes);
  EXPECT_GT(failure.message.size(), kMostFailureBytes - 100);
  EXPECT_TRUE(is_valid_utf8(failure.message));
  EXPECT_EQ(failure.message.substr(failure.message.size() - 5), "(cut)");
  const std::string fits(kMostFailureBytes, 'x');
  EXPECT_EQ(failure_from(Failed("card", fits)).message, fits);
}

}  // namespace
}  // namespace perdure::detail
