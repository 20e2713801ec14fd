#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// History that goes on where the code has nothing more to do with it.
namespace perdure::test::nondeterminism_of_ends_test {
namespace {

TEST(Nondeterminism, HistoryBehindTheEndOfTheCodeIsAMismatch) {
  ScriptedRun run(demo([](OrchestrationContext& ctx) -> Task<int> {
                    ctx.call(twice, 1).detach();
                    co_await ctx.call(ping);
                    co_return 1;
                  }),
                  "demo");
  run.start();
  run.complete("ping");
  run.write_end(EventKind::kCompleted, "");
  EXPECT_TRUE(run.try_turn({}).mismatch);
}

TEST(Nondeterminism, AnAnswerToWhatTheCodeNoLongerWaitsForIsAMismatch) {
  ScriptedRun run(demo([](OrchestrationContext& ctx) -> Task<int> {
                    co_return co_await ctx.call(twice, 1, {.on_cancel = OnCancel::kWait});
                  }),
                  "demo");
  run.start();
  run.cancel();
  run.deploy(demo([](OrchestrationContext& ctx) -> Task<int> {
    struct Parts {
      static Task<void> forever(OrchestrationContext& c) { co_await c.wait_for(number); }
    };
    auto call = ctx.call(twice, 1);
    const auto outcome = co_await call.outcome();
    (void)outcome;
    co_await ctx.shield(Parts::forever(ctx));
    co_return 1;
  }));
  const auto result = run.try_turn({run.completed(EventId{2}, "2")});
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->expected, "nothing more");
}

}  // namespace
}  // namespace perdure::test::nondeterminism_of_ends_test
