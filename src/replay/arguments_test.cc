#include "replay/arguments.h"

#include <gtest/gtest.h>

#include <perdure/errors.h>

namespace perdure::replay {
namespace {

using namespace std::chrono_literals;

template <class Options>
std::string error_of(const Options& options) {
  try {
    require_options(options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "none";
}

TEST(Arguments, DefaultsAreFine) {
  EXPECT_EQ(error_of(ActivityOptions{}), "none");
  EXPECT_EQ(error_of(UndoOptions{}), "none");
  EXPECT_EQ(error_of(ChildOptions{}), "none");
  EXPECT_EQ(error_of(DetachedOptions{}), "none");
}

TEST(Arguments, AnErrorNamesItsField) {
  const auto names = [](const std::string& error, std::string_view field) {
    return error.find(field) != std::string::npos;
  };
  EXPECT_TRUE(names(error_of(ActivityOptions{.queue = "\xff"}), "queue"));
  EXPECT_TRUE(names(error_of(ActivityOptions{.retry = retry(-1)}), "max_attempts"));
  EXPECT_TRUE(names(error_of(ActivityOptions{.start_to_close = -1us}), "start_to_close"));
  EXPECT_TRUE(names(error_of(UndoOptions{.timeout = -1us}), "undo timeout"));
  EXPECT_TRUE(names(error_of(ChildOptions{.version = "one"}), "version"));
  EXPECT_TRUE(names(error_of(DetachedOptions{.run_timeout = -1us}), "run_timeout"));
}

TEST(Arguments, TextMustBeStorable) {
  EXPECT_NO_THROW(require_text("reason", ""));
  EXPECT_NO_THROW(require_text("reason", "t\xc3\xa4ter"));
  EXPECT_THROW(require_text("reason", "\xff"), InvalidArgument);
  EXPECT_THROW(require_text("reason", std::string_view("\0", 1)), InvalidArgument);
}

TEST(Arguments, ALongFirstDelayIsNoMistakeUnlessALongestIsGiven) {
  ActivityOptions options;
  options.retry = retry(3, 5min);
  EXPECT_NO_THROW(require_options(options));
  EXPECT_EQ(stored_policy(options.retry).max_delay, 5min);
  options.retry.max_delay = 2min;
  EXPECT_THROW(require_options(options), InvalidArgument);
}

TEST(Arguments, TypesOfAPolicyAreKeptInOrder) {
  const RetryPolicy policy = stored_policy(retry(3, 2s).except("a", "b"));
  EXPECT_EQ(policy.max_attempts, 3);
  EXPECT_EQ(policy.first_delay, 2s);
  EXPECT_EQ(policy.non_retryable, (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace perdure::replay
