#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

namespace perdure::test::execution_test {
namespace {

using namespace std::chrono_literals;

inline constexpr perdure::Event<bool> approved{"approved"};
inline constexpr Orchestration<int(int)> adder{"adder"};

Task<int> add_two(OrchestrationContext& ctx, int value) {
  const int first = co_await ctx.call(twice, value);
  const int second = co_await ctx.call(twice, first);
  co_return first + second;
}

Task<int> run_adder(OrchestrationContext& ctx, int value) {
  auto patience = ctx.timer(48h);
  auto decision = ctx.wait_for(approved);
  if (co_await when_any(decision, patience) == 1) co_return -1;
  const int sum = co_await add_two(ctx, value);
  const int kept = co_await ctx.call(twice, sum).undo_with(undo_twice);
  co_await ctx.timer(1h);
  co_return kept;
}

Registry registry() {
  Registry all;
  all.add(adder, run_adder);
  return all;
}

TEST(Execution, RunsToItsResultThroughManyTurns) {
  ScriptedRun run(registry(), "adder", "5");
  run.start();
  EXPECT_EQ(run.open_timers().size(), 1u);
  run.raise("approved", "true");
  EXPECT_EQ(run.open_timers().size(), 1u) << "patience lives until main ends";
  run.complete("twice", "10");
  run.complete("twice", "20");
  run.complete("twice", "60");
  run.fire(1);
  EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
  EXPECT_EQ(run.output(), "60");
}

TEST(Execution, SleepsForDaysAndTakesTheTimer) {
  ScriptedRun run(registry(), "adder", "5");
  run.start();
  run.fire();
  EXPECT_EQ(run.output(), "-1");
}

TEST(Execution, UndoesWhatWasDoneWhenItIsCanceled) {
  ScriptedRun run(registry(), "adder", "5");
  run.start();
  run.raise("approved", "true");
  run.complete("twice", "10");
  run.complete("twice", "20");
  run.complete("twice", "60");
  run.cancel("enough");
  EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
  ASSERT_NE(run.open_call("undo_twice"), EventId{});
  EXPECT_EQ(run.work().begin()->second.input, "60");
  run.complete("undo_twice");
  EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
  EXPECT_EQ(run.history().back().text, "enough");
}

}  // namespace
}  // namespace perdure::test::execution_test
