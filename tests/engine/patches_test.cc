#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Code that changes under running instances: patches and versions.
namespace perdure::test::patches_test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

Registry old_code() {
  return demo([](OrchestrationContext& ctx) -> Task<int> {
    co_await ctx.call(ping);
    const int value = co_await ctx.call(twice, 1);
    co_await ctx.call(ping);
    co_return value;
  });
}

Registry patched_code() {
  return demo([](OrchestrationContext& ctx) -> Task<int> {
    co_await ctx.call(ping);
    const bool changed = ctx.patched("use-thrice");
    const int value = changed ? co_await ctx.call(thrice, 1) : co_await ctx.call(twice, 1);
    co_await ctx.call(ping);
    if (ctx.patched("use-thrice") != changed) co_return -1;
    co_return value;
  });
}

TEST(Patches, ARunThatPassedBeforeKeepsTheOldPath) {
  ScriptedRun run(old_code(), "demo");
  run.start();
  run.complete("ping");
  run.deploy(patched_code());
  run.complete("twice", "2");
  run.complete("ping");
  EXPECT_EQ(run.output(), "2");
  EXPECT_THAT(run.lines(), Not(Contains("patch_marked use-thrice")));
}

TEST(Patches, ARunThatComesThereLaterTakesTheNewPath) {
  ScriptedRun run(old_code(), "demo");
  run.start();
  run.deploy(patched_code());
  run.complete("ping");
  EXPECT_THAT(run.lines(), Contains("patch_marked use-thrice"));
  run.complete("thrice", "3");
  run.complete("ping");
  EXPECT_EQ(run.output(), "3");
}

TEST(Patches, ANewRunTakesTheNewPathAndTheAnswerIsRecordedOnce) {
  both_ways(patched_code(), [](ScriptedRun& run) {
    run.start();
    run.complete("ping");
    run.complete("thrice", "3");
    run.complete("ping");
    EXPECT_EQ(run.output(), "3");
    const auto lines = run.lines();
    EXPECT_EQ(std::count(lines.begin(), lines.end(), "patch_marked use-thrice"), 1);
  });
}

TEST(Patches, TheAnswerStaysForTheLifeOfTheExecution) {
  const Registry loop = demo([](OrchestrationContext& ctx) -> Task<int> {
    int rounds = 0;
    for (int i = 0; i < 3; ++i) {
      co_await ctx.call(ping);
      if (ctx.patched("count")) ++rounds;
    }
    co_return rounds;
  });
  const Registry before = demo([](OrchestrationContext& ctx) -> Task<int> {
    for (int i = 0; i < 3; ++i) co_await ctx.call(ping);
    co_return 0;
  });
  ScriptedRun run(before, "demo");
  run.start();
  run.complete("ping");
  run.deploy(loop);
  run.complete("ping");
  run.complete("ping");
  EXPECT_EQ(run.output(), "0") << "false in the first round, so false in all";
}

TEST(Patches, APatchAtTheEdgeOfHistoryIsNotTakenInReplay) {
  const Registry before = demo([](OrchestrationContext& ctx) -> Task<int> {
    auto call = ctx.call(twice, 1);
    co_return co_await call;
  });
  const Registry after = demo([](OrchestrationContext& ctx) -> Task<int> {
    auto call = ctx.call(twice, 1);
    const bool changed = ctx.patched("edge");
    const int value = co_await call;
    co_return changed ? -value : value;
  });
  ScriptedRun run(before, "demo");
  run.start();
  run.deploy(after);
  run.complete("twice", "2");
  EXPECT_EQ(run.output(), "2") << "the turn that passed here was of the old code";
}

TEST(Versions, ARunStaysOnItsVersion) {
  Registry both = demo(
      [](OrchestrationContext& ctx) -> Task<int> { co_return co_await ctx.call(twice, 1); }, "1.0");
  both.add(
      Orchestration<int()>("demo"),
      [](OrchestrationContext& ctx) -> Task<int> { co_return co_await ctx.call(thrice, 1); },
      "2.0");
  ScriptedRun run(both, "demo");
  run.use_version("1.0");
  run.start();
  run.complete("twice", "2");
  EXPECT_EQ(run.output(), "2");
  ScriptedRun newest(both, "demo");
  newest.start();
  newest.complete("thrice", "3");
  EXPECT_EQ(newest.output(), "3");
}

}  // namespace
}  // namespace perdure::test::patches_test
