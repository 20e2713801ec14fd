#include "base/error.h"

#include <array>
#include <sstream>

#include <gtest/gtest.h>

namespace perdure {
namespace {

constexpr std::array kCodes = {ErrorCode::kLockLost,
                               ErrorCode::kConflict,
                               ErrorCode::kNotFound,
                               ErrorCode::kInvalidArgument,
                               ErrorCode::kBusy,
                               ErrorCode::kUnavailable,
                               ErrorCode::kCommitUnknown,
                               ErrorCode::kCorrupt};

TEST(Error, EachCodeSaysWhatToDoNext) {
  static_assert(reaction(ErrorCode::kLockLost) == Reaction::kDropWork);
  static_assert(reaction(ErrorCode::kConflict) == Reaction::kRereadAndRedo);
  static_assert(reaction(ErrorCode::kNotFound) == Reaction::kGiveUp);
  static_assert(reaction(ErrorCode::kInvalidArgument) == Reaction::kFixInput);
  static_assert(reaction(ErrorCode::kBusy) == Reaction::kRetryLater);
  static_assert(reaction(ErrorCode::kUnavailable) == Reaction::kRetryLater);
  static_assert(reaction(ErrorCode::kCommitUnknown) == Reaction::kLookThenDecide);
  static_assert(reaction(ErrorCode::kCorrupt) == Reaction::kIsolate);
}

TEST(Error, EachCodeReadsBackFromItsName) {
  for (const ErrorCode code : kCodes) {
    EXPECT_EQ(parse_error_code(to_string(code)), code);
  }
  EXPECT_EQ(parse_error_code("locklost"), std::nullopt);
  EXPECT_EQ(parse_error_code(""), std::nullopt);
}

TEST(Error, EachFactoryGivesItsCode) {
  EXPECT_EQ(lock_lost("m"), (Error{ErrorCode::kLockLost, "m"}));
  EXPECT_EQ(conflict("m"), (Error{ErrorCode::kConflict, "m"}));
  EXPECT_EQ(not_found("m"), (Error{ErrorCode::kNotFound, "m"}));
  EXPECT_EQ(invalid_argument("m"), (Error{ErrorCode::kInvalidArgument, "m"}));
  EXPECT_EQ(busy("m"), (Error{ErrorCode::kBusy, "m"}));
  EXPECT_EQ(unavailable("m"), (Error{ErrorCode::kUnavailable, "m"}));
  EXPECT_EQ(commit_unknown("m"), (Error{ErrorCode::kCommitUnknown, "m"}));
  EXPECT_EQ(corrupt("m"), (Error{ErrorCode::kCorrupt, "m"}));
}

TEST(Error, DiffersByCodeAndByMessage) {
  EXPECT_NE(busy("m"), unavailable("m"));
  EXPECT_NE(busy("m"), busy("n"));
}

TEST(Error, PrintsItsCodeAndMessage) {
  std::ostringstream out;
  out << conflict("version 3 is gone");
  EXPECT_EQ(out.str(), "Conflict: version 3 is gone");
}

}  // namespace
}  // namespace perdure
