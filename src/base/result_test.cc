#include "base/result.h"

#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace perdure {
namespace {

template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

struct Opaque {
  int number = 0;
};

TEST(Result, HoldsAValue) {
  const Result<int> result = 7;
  EXPECT_TRUE(result.ok());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(result.value(), 7);
  EXPECT_EQ(*result, 7);
  EXPECT_EQ(result.value_or(1), 7);
}

TEST(Result, HoldsAnError) {
  const Result<int> result = not_found("no run");
  EXPECT_FALSE(result.ok());
  EXPECT_FALSE(static_cast<bool>(result));
  EXPECT_EQ(result.code(), ErrorCode::kNotFound);
  EXPECT_EQ(result.error(), not_found("no run"));
  EXPECT_EQ(result.value_or(1), 1);
}

TEST(Result, TakesWhatConvertsToItsValue) {
  const Result<std::string> text = "literal";
  EXPECT_EQ(text->size(), 7U);
  const Result<std::optional<int>> none = std::nullopt;
  EXPECT_EQ(*none, std::nullopt);
  const Result<std::shared_ptr<const Opaque>> shared = std::make_shared<Opaque>();
  EXPECT_EQ((*shared)->number, 0);
}

TEST(Result, MovesAMoveOnlyValueOut) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(Result, ATemporaryGivesItsValueAwayInsteadOfAReference) {
  static_assert(std::is_same_v<decltype(std::declval<Result<int>>().value()), int>);
  static_assert(std::is_same_v<decltype(*std::declval<Result<int>>()), int>);
  static_assert(std::is_same_v<decltype(std::declval<Result<int>>().error()), Error>);
  static_assert(std::is_same_v<decltype(std::declval<Status>().error()), Error>);
  int sum = 0;
  const auto numbers = [] { return Result<std::vector<int>>(std::vector{1, 2, 3}); };
  for (const int number : numbers().value()) sum += number;
  EXPECT_EQ(sum, 6);
}

TEST(Result, ChangesInPlace) {
  Result<Opaque> result = Opaque{1};
  result->number = 2;
  (*result).number += 1;
  EXPECT_EQ(result.value().number, 3);
}

TEST(Result, PrintsItsValueOrItsError) {
  EXPECT_EQ(printed(Result<int>(3)), "3");
  EXPECT_EQ(printed(Result<Opaque>(Opaque{})), "ok");
  EXPECT_EQ(printed(Result<int>(busy("full"))), "Busy: full");
  EXPECT_EQ(printed(Status()), "ok");
  EXPECT_EQ(printed(Status(busy("full"))), "Busy: full");
}

TEST(Status, IsOkUnlessGivenAnError) {
  EXPECT_TRUE(Status().ok());
  EXPECT_TRUE(Status::success().ok());
  const Status failed = corrupt("bad row");
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.code(), ErrorCode::kCorrupt);
}

TEST(ResultDeathTest, ReadingTheValueOfAFailureAbortsWithItsMessage) {
  const Result<int> result = unavailable("disk gone");
  EXPECT_DEATH((void)result.value(), "Unavailable: disk gone");
  const Status status = unavailable("disk gone");
  EXPECT_DEATH(status.value(), "Unavailable: disk gone");
}

TEST(ResultDeathTest, ReadingTheErrorOfASuccessAborts) {
  const Result<int> result = 1;
  EXPECT_DEATH((void)result.error(), "error of a successful result");
  EXPECT_DEATH((void)Status().code(), "error of a successful result");
}

Status first_failure(Status first, Status second, int& reached) {
  PERDURE_RETURN_IF_ERROR(first);
  ++reached;
  PERDURE_RETURN_IF_ERROR(second);
  ++reached;
  return {};
}

TEST(ReturnIfError, StopsAtTheFirstFailure) {
  int reached = 0;
  EXPECT_TRUE(first_failure({}, {}, reached).ok());
  EXPECT_EQ(reached, 2);
  reached = 0;
  EXPECT_EQ(first_failure({}, conflict("second"), reached).error(), conflict("second"));
  EXPECT_EQ(reached, 1);
  reached = 0;
  EXPECT_EQ(first_failure(busy("first"), {}, reached).error(), busy("first"));
  EXPECT_EQ(reached, 0);
}

Result<std::string> joined(Result<std::string> left, Result<std::unique_ptr<std::string>> right) {
  PERDURE_ASSIGN_OR_RETURN(std::string text, std::move(left));
  std::unique_ptr<std::string> tail;
  PERDURE_ASSIGN_OR_RETURN(tail, std::move(right));
  return text + *tail;
}

TEST(AssignOrReturn, DeclaresOrAssignsTheValue) {
  EXPECT_EQ(joined("a", std::make_unique<std::string>("b")).value(), "ab");
}

TEST(AssignOrReturn, ReturnsTheErrorOfAnotherResultType) {
  EXPECT_EQ(joined(lock_lost("left"), std::make_unique<std::string>("b")).error(),
            lock_lost("left"));
  EXPECT_EQ(joined("a", lock_lost("right")).error(), lock_lost("right"));
}

TEST(CheckDeathTest, NamesThePlaceTheConditionAndTheMessage) {
  EXPECT_DEATH(PERDURE_CHECK(1 + 1 == 3, std::string("sums are ") + "broken"),
               "result_test.cc:[0-9]+: check failed: 1 \\+ 1 == 3: sums are broken");
}

TEST(Check, EvaluatesTheMessageOnlyOnFailure) {
  bool evaluated = false;
  const auto message = [&] {
    evaluated = true;
    return "never";
  };
  PERDURE_CHECK(true, message());
  EXPECT_FALSE(evaluated);
}

}  // namespace
}  // namespace perdure
