#include "replay/wind_down.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// A canceled run whose code cannot run ends from its history alone.
namespace perdure::test::wind_down_test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;

/// Two calls with undos, then a call that is open beside a timer.
Registry two_undos() {
  return demo([](OrchestrationContext& ctx) -> Task<int> {
    const int a = co_await ctx.call(twice, 1).undo_with(undo_twice, {.retry = retry(7, 3s)});
    const int b = co_await ctx.call(thrice, a).undo_with(undo_thrice, {.queue = "refunds"});
    auto limit = ctx.timer(1h);
    co_await ctx.call(ping);
    co_return a + b;
  });
}

/// Cleans up under a shield and never comes to an end.
Registry endless_cleanup() {
  return demo([](OrchestrationContext& ctx) -> Task<int> {
    struct Parts {
      static Task<void> clean(OrchestrationContext& c) {
        auto side = c.call(twice, 5).undo_with(undo_twice);
        co_await c.call(ping);
        co_await side;
      }
    };
    co_await ctx.call(thrice, 1).undo_with(undo_thrice);
    auto timer = ctx.timer(1h);
    const auto outcome = co_await timer.outcome();
    (void)outcome;
    co_await ctx.shield(Parts::clean(ctx));
    co_return 1;
  });
}

void do_both_calls(ScriptedRun& run) {
  run.start();
  run.complete("twice", "2");
  run.complete("thrice", "6");
}

TEST(WindDown, GivesUpWhatIsOpenAndEndsARunThatOwesNothing) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              auto limit = ctx.timer(1h);
              auto child = ctx.call(helper, 1, {.timeout = 2h});
              co_await ctx.call(ping);
              co_return co_await child;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.lose_code();
              const auto& decisions = run.turn({run.cleanup_deadline(), run.cancel_message("old")});
              EXPECT_THAT(run.lines(5),
                          ElementsAre("cancel_requested", "cleanup_expired", "canceled"));
              EXPECT_THAT(decisions.canceled_work, ElementsAre(EventId{5}));
              EXPECT_THAT(decisions.canceled_timers, ElementsAre(EventId{2}, EventId{4}));
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
              EXPECT_EQ(run.history().back().text, "old");
              EXPECT_EQ(run.failure(), Failure{});
            });
}

TEST(WindDown, RecordsWhatTheCodeTookPartInBeforeItDecidesAnything) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    do_both_calls(run);
    const EventId last = run.history().back().id;
    EXPECT_EQ(replay::wound_down_after(run.history()), std::nullopt);
    run.lose_code();
    run.cancel();
    EXPECT_EQ(replay::wound_down_after(run.history()), last);
    EXPECT_THAT(
        run.lines(last.value),
        ElementsAre("cancel_requested", "cleanup_expired", "undo_scheduled undo_thrice of 5"));
  });
}

TEST(WindDown, RunsOwedUndosInReverseWithTheirOwnOptions) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    do_both_calls(run);
    run.lose_code();
    run.cancel("stop");
    ASSERT_EQ(run.work().size(), 1U) << "one after the other, and the open call given up";
    const NewWork first = run.work().begin()->second;
    EXPECT_EQ(first.name, "undo_thrice");
    EXPECT_EQ(first.input, "6") << "the result of the call";
    EXPECT_EQ(first.queue, "refunds");
    EXPECT_TRUE(first.shielded);
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
    run.complete("undo_thrice");
    EXPECT_EQ(run.work().begin()->second.retry.max_attempts, 7);
    EXPECT_EQ(run.work().begin()->second.queue, "default") << "that of the run";
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
    EXPECT_EQ(run.history().back().text, "stop");
  });
}

TEST(WindDown, AnUndoThatFailsForGoodEndsTheRunWithCompensationFailedAndTheOthersStillRun) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    do_both_calls(run);
    run.lose_code();
    run.cancel("stop");
    run.fail("undo_thrice", {"bank", "closed", false, {}});
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
    EXPECT_EQ(run.failure().type, kCompensationFailure);
    EXPECT_THAT(run.failure().message, testing::HasSubstr("closed"));
  });
}

TEST(WindDown, WaitsForTheOutcomeOfACallWithAnUndo) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    run.start();
    run.lose_code();
    EXPECT_THAT(run.cancel().canceled_work, ElementsAre(EventId{2})) << "told to stop";
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
    EXPECT_TRUE(run.turn({run.raised("number", "1")}).canceled_work.empty()) << "told once";
    run.complete("twice", "2");
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
  });
  both_ways(two_undos(), [](ScriptedRun& run) {
    run.start();
    run.lose_code();
    run.cancel();
    run.turn({run.canceled_answer(EventId{2})});
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled) << "nothing to undo";
  });
}

TEST(WindDown, CutsTheCleanupOfCodeThatSawTheCancel) {
  both_ways(endless_cleanup(), [](ScriptedRun& run) {
    run.start();
    run.complete("thrice", "3");
    run.cancel();
    EXPECT_NE(run.open_call("ping"), EventId{}) << "cleanup has begun";
    const EventId ping_call = run.open_call("ping");
    const EventId side = run.open_call("twice");
    run.lose_code();
    EXPECT_THAT(run.turn({run.cleanup_deadline()}).canceled_work, ElementsAre(ping_call, side));
    run.turn({run.completed(ping_call)});
    EXPECT_NE(run.lines().back(), "activity_completed of " + std::to_string(ping_call.value));
    run.complete("twice", "4");
    run.complete("undo_twice");
    run.complete("undo_thrice");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
  });
}

TEST(WindDown, GoesOnWhereUndosOfTheCodeStand) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    do_both_calls(run);
    run.fail("ping", {"broken", "no", true, {}});
    run.complete("undo_thrice");
    EXPECT_EQ(run.status(), ExecutionStatus::kFailing);
    run.lose_code();
    EXPECT_TRUE(run.cancel("meanwhile").work.empty()) << "the other undo runs already";
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
    EXPECT_EQ(run.history().back().text, "meanwhile");
  });
}

TEST(WindDown, GoesOnWhereTheDeadlineStoppedTheCode) {
  both_ways(endless_cleanup(), [](ScriptedRun& run) {
    run.start();
    run.complete("thrice", "3");
    run.cancel();
    run.turn({run.cleanup_deadline()});
    EXPECT_EQ(replay::wound_down_after(run.history()), std::nullopt);
    const std::int64_t seen = run.history().back().id.value;
    run.lose_code();
    run.complete("twice", "4");
    EXPECT_EQ(replay::wound_down_after(run.history()), EventId{seen});
    run.complete("undo_twice");
    run.complete("undo_thrice");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
  });
}

TEST(WindDown, IsNotTakenBackWhenTheCodeIs) {
  both_ways(endless_cleanup(), [](ScriptedRun& run) {
    run.start();
    run.complete("thrice", "3");
    run.lose_code();
    run.cancel();
    EXPECT_EQ(run.open_call("ping"), EventId{}) << "no code, no cleanup";
    run.deploy(endless_cleanup());
    run.complete("undo_thrice");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
    EXPECT_EQ(run.open_call("ping"), EventId{});
  });
}

TEST(WindDown, TakesNoPastThatDoesNotFit) {
  ScriptedRun run(two_undos(), "demo");
  do_both_calls(run);
  run.lose_code();
  const auto result = run.try_turn({run.cleanup_deadline()});
  ASSERT_TRUE(result.mismatch) << "nobody has canceled it";
  EXPECT_EQ(result.mismatch->expected, "a cancel of the run");
}

}  // namespace
}  // namespace perdure::test::wind_down_test
