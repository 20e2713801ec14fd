#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Code that makes the same commands with other arguments than history has: told, and blocked only
/// when asked for.
namespace perdure::test::changed_arguments_test {
namespace {

using namespace std::chrono_literals;
using replay::ArgumentCheck;
using testing::HasSubstr;

Task<int> argued(OrchestrationContext& ctx) {
  auto a = ctx.call(twice, 1);
  auto t = ctx.timer(1h);
  auto c = ctx.call(helper, 1);
  ctx.start_detached(helper, "d", 1);
  ctx.set_status(1);
  co_await ctx.call(thrice, 1).undo_with(undo_thrice);
  co_return 1;
}

Task<int> argued_otherwise(OrchestrationContext& ctx) {
  auto a = ctx.call(twice, 2);
  auto t = ctx.timer(2h);
  auto c = ctx.call(helper, 2);
  ctx.start_detached(helper, "d", 2);
  ctx.set_status(2);
  co_await ctx.call(thrice, 1, {.queue = "elsewhere"}).undo_with(undo_thrice, {.priority = 2});
  co_return 1;
}

TEST(ChangedArguments, AreAWarningByDefault) {
  ScriptedRun run(demo(&argued), "demo");
  run.start();
  run.deploy(demo(&argued_otherwise));
  const auto result = run.try_turn({run.completed(EventId{7}, "3")});
  EXPECT_FALSE(result.mismatch);
  ASSERT_EQ(result.warnings.size(), 7u) << "one for each command";
  EXPECT_THAT(result.warnings[0], HasSubstr("'twice' with other arguments"));
  EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
}

TEST(ChangedArguments, BlockWhenStrict) {
  ScriptedRun run(demo(&argued), "demo");
  run.set_arguments(ArgumentCheck::kStrict);
  run.start();
  run.deploy(demo(&argued_otherwise));
  const auto result = run.try_turn({run.completed(EventId{7}, "3")});
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->position, EventId{2});
  EXPECT_THAT(result.mismatch->actual, HasSubstr("with other arguments"));
  run.deploy(demo(&argued));
  run.complete("thrice", "3");
  EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
}

TEST(ChangedArguments, AreSilentWhenTheCheckIsOff) {
  ScriptedRun run(demo(&argued), "demo");
  run.set_arguments(ArgumentCheck::kOff);
  run.start();
  run.deploy(demo(&argued_otherwise));
  const auto result = run.try_turn({run.completed(EventId{7}, "3")});
  EXPECT_FALSE(result.mismatch);
  EXPECT_TRUE(result.warnings.empty());
}

TEST(ChangedArguments, TheSameOnesAreSilentWhenStrict) {
  ScriptedRun run(demo(&argued), "demo");
  run.set_arguments(ArgumentCheck::kStrict);
  run.start();
  run.complete("thrice", "3");
  EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
  EXPECT_TRUE(run.replays());
}

}  // namespace
}  // namespace perdure::test::changed_arguments_test
