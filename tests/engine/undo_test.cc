#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Undo: what completed is undone when the run fails or is canceled.
namespace perdure::test::undo_test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

/// Two calls with undos, then a call that may fail.
Registry two_undos() {
  return demo([](OrchestrationContext& ctx) -> Task<int> {
    const int a = co_await ctx.call(twice, 1).undo_with(undo_twice);
    const int b = co_await ctx.call(thrice, a).undo_with(undo_thrice);
    co_await ctx.call(ping);
    co_return a + b;
  });
}

void do_both_calls(ScriptedRun& run) {
  run.start();
  run.complete("twice", "2");
  run.complete("thrice", "6");
}

TEST(Undo, ACallWithAnUndoWaitsWhenItIsCanceled) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    run.start();
    EXPECT_EQ(run.work().begin()->second.on_cancel, OnCancel::kWait);
    EXPECT_THAT(run.lines(1), ElementsAre("activity_scheduled twice", "undo_owed undo_twice of 2"));
  });
}

TEST(Undo, NothingIsUndoneWhenTheRunCompletes) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    do_both_calls(run);
    run.complete("ping");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
    EXPECT_TRUE(run.work().empty());
  });
}

TEST(Undo, UndosRunInReverseAfterAFailure) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    do_both_calls(run);
    const auto& decisions = run.fail("ping", {"broken", "no", true, {}});
    EXPECT_EQ(run.status(), ExecutionStatus::kFailing);
    ASSERT_EQ(decisions.work.size(), 1u) << "one after the other";
    EXPECT_EQ(decisions.work[0].name, "undo_thrice");
    EXPECT_EQ(decisions.work[0].input, "6") << "the result of the call";
    EXPECT_TRUE(decisions.work[0].shielded);
    run.complete("undo_thrice");
    EXPECT_EQ(run.status(), ExecutionStatus::kFailing);
    EXPECT_EQ(run.work().begin()->second.input, "2");
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
    EXPECT_EQ(run.failure().type, "broken");
    EXPECT_THAT(run.lines(9),
                ElementsAre("undo_scheduled undo_thrice of 5",
                            "undo_completed of 10",
                            "undo_scheduled undo_twice of 2",
                            "undo_completed of 12",
                            "failed"));
  });
}

TEST(Undo, UndosRunInReverseAfterACancel) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    do_both_calls(run);
    run.cancel("stop");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
    run.complete("undo_thrice");
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
    EXPECT_EQ(run.history().back().text, "stop");
    EXPECT_EQ(run.failure(), Failure{});
  });
}

TEST(Undo, ACallThatFailedHasNothingToUndo) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    run.start();
    run.complete("twice", "2");
    run.fail("thrice", {"broken", "no", true, {}});
    EXPECT_EQ(run.open_call("undo_thrice"), EventId{});
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
  });
}

TEST(Undo, AFailureTheCodeHandlesUndoesNothing) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_await ctx.call(twice, 1).undo_with(undo_twice);
              auto call = ctx.call(ping);
              const auto outcome = co_await call.outcome();
              co_return outcome.ok() ? 1 : 2;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("twice", "2");
              run.fail("ping", {"broken", "no", true, {}});
              EXPECT_EQ(run.output(), "2");
              EXPECT_TRUE(run.work().empty());
            });
}

TEST(Undo, ACancelWaitsForTheRealOutcomeOfAPendingCall) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    run.start();
    run.cancel();
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
    EXPECT_EQ(run.open_call("undo_twice"), EventId{})
        << "not known yet whether there is something to undo";
    run.complete("twice", "2");
    EXPECT_EQ(run.work().begin()->second.input, "2");
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
    EXPECT_THAT(run.lines(), Not(Contains("activity_scheduled thrice")));
  });
}

TEST(Undo, ACancelWhosePendingCallEndsAsCanceledUndoesNothing) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    run.start();
    run.cancel();
    run.turn({run.canceled_answer(EventId{2})});
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
    EXPECT_TRUE(run.work().empty());
  });
}

/// Fails while a call with an undo is still under way.
Registry fails_with_a_call_under_way() {
  return demo([](OrchestrationContext& ctx) -> Task<int> {
    auto call = ctx.call(twice, 1).undo_with(undo_twice);
    co_await ctx.call(ping);
    co_return co_await call;
  });
}

TEST(Undo, AFailureTellsAPendingCallToStopAndWaitsForItsOutcome) {
  both_ways(fails_with_a_call_under_way(), [](ScriptedRun& run) {
    run.start();
    const auto& decisions = run.fail("ping", {"broken", "no", true, {}});
    EXPECT_THAT(decisions.canceled_work, ElementsAre(EventId{2}));
    EXPECT_EQ(run.status(), ExecutionStatus::kFailing);
    run.complete("twice", "2");
    EXPECT_NE(run.open_call("undo_twice"), EventId{});
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
    EXPECT_EQ(run.failure().type, "broken");
  });
}

TEST(Undo, WhatAFailedRunLeftOpenIsGivenUpBeforeItsUndosRun) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_await ctx.call(twice, 1).undo_with(undo_twice);
              ctx.call(thrice, 1).detach();
              ctx.timer(1h).detach();
              co_await ctx.call(ping);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("twice", "2");
              const auto& decisions = run.fail("ping", {"broken", "no", true, {}});
              EXPECT_THAT(decisions.canceled_work, ElementsAre(EventId{5}));
              EXPECT_THAT(decisions.canceled_timers, ElementsAre(EventId{6}));
              EXPECT_EQ(run.work().size(), 1u) << "the undo alone";
              run.complete("undo_twice");
              EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
            });
}

TEST(Undo, ACancelWhileFailingEndsCanceled) {
  both_ways(fails_with_a_call_under_way(), [](ScriptedRun& run) {
    run.start();
    run.fail("ping", {"broken", "no", true, {}});
    run.cancel("meanwhile");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
    run.complete("twice", "2");
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
    EXPECT_EQ(run.history().back().text, "meanwhile");
  });
}

TEST(Undo, ACancelWhileAnUndoRunsLeavesItAlone) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    do_both_calls(run);
    run.fail("ping", {"broken", "no", true, {}});
    const auto& decisions = run.cancel();
    EXPECT_TRUE(decisions.canceled_work.empty());
    EXPECT_TRUE(decisions.work.empty());
    run.complete("undo_thrice");
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
  });
}

TEST(Undo, AnUndoThatFailsForGoodEndsTheRunWithCompensationFailedAndTheOthersStillRun) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    do_both_calls(run);
    run.fail("ping", {"broken", "first cause", true, {}});
    run.fail("undo_thrice", {"bank", "closed", false, "{\"a\":1}"});
    EXPECT_EQ(run.status(), ExecutionStatus::kFailing) << "the other undo still runs";
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
    EXPECT_EQ(run.failure().type, kCompensationFailure);
    EXPECT_THAT(run.failure().message, testing::HasSubstr("undo_thrice"));
    EXPECT_THAT(run.failure().message, testing::HasSubstr("closed"));
    EXPECT_THAT(run.failure().message, testing::HasSubstr("first cause"));
    EXPECT_EQ(run.failure().details, "{\"a\":1}");
  });
  both_ways(two_undos(), [](ScriptedRun& run) {
    do_both_calls(run);
    run.cancel("stop");
    run.complete("undo_thrice");
    run.fail("undo_twice", {"bank", "closed", false, {}});
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
    EXPECT_EQ(run.failure().type, kCompensationFailure);
    EXPECT_EQ(run.history().back().text, "stop");
  });
}

TEST(Undo, TheCleanupDeadlineDoesNotCutUndos) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    do_both_calls(run);
    run.cancel();
    EXPECT_TRUE(run.turn({run.cleanup_deadline()}).events.empty())
        << "no user code is left to stop";
    run.complete("undo_thrice");
    EXPECT_TRUE(run.turn({run.cleanup_deadline()}).events.empty());
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
  });
}

TEST(Undo, UndosAreOwedAlsoWhenTheCleanupDeadlineStoppedTheCode) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<int> endless(OrchestrationContext& c) {
                  co_return co_await c.wait_for(number);
                }
              };
              co_await ctx.call(twice, 1).undo_with(undo_twice);
              co_return co_await ctx.shield(Parts::endless(ctx));
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("twice", "2");
              run.cancel();
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
              run.turn({run.cleanup_deadline()});
              EXPECT_EQ(run.work().begin()->second.name, "undo_twice");
              EXPECT_TRUE(run.turn({run.raised("number", "1")}).work.empty());
              run.complete("undo_twice");
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
            });
}

TEST(Undo, TheCleanupDeadlineWaitsForAPendingCallWithAnUndo) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    run.start();
    run.cancel();
    run.turn({run.cleanup_deadline()});
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
    run.complete("twice", "2");
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
  });
}

TEST(Undo, CleanupRunsBeforeUndos) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<void> clean(OrchestrationContext& c) { co_await c.call(ping); }
              };
              co_await ctx.call(twice, 1).undo_with(undo_twice);
              auto timer = ctx.timer(1h);
              const auto outcome = co_await timer.outcome();
              (void)outcome;
              co_await ctx.shield(Parts::clean(ctx));
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("twice", "2");
              run.cancel();
              EXPECT_EQ(run.open_call("undo_twice"), EventId{});
              run.complete("ping");
              EXPECT_NE(run.open_call("undo_twice"), EventId{});
            });
}

TEST(Undo, ADroppedCallThatCompletedIsUndone) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              { auto call = ctx.call(twice, 1).undo_with(undo_twice); }
              co_await ctx.call(ping);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              EXPECT_THAT(run.start().canceled_work, ElementsAre(EventId{2}));
              run.complete("twice", "2");
              EXPECT_EQ(run.lines().back(), "activity_completed of 2") << "its outcome counts";
              run.fail("ping", {"broken", "no", true, {}});
              run.complete("undo_twice");
              EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
            });
}

TEST(Undo, AnUndoHasItsOwnOptions) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_await ctx.call(twice, 1, {.retry = retry(2, 5s)})
                  .undo_with(undo_twice,
                             {.queue = "refunds",
                              .priority = 7,
                              .retry = retry(4, 250ms).except("odd \"type\" 100%", "t\xc3\xa4ter"),
                              .timeout = 1h});
              co_await ctx.call(ping);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("twice", "2");
              run.fail("ping", {"broken", "no", true, {}});
              const NewWork& undo = run.work().begin()->second;
              EXPECT_EQ(undo.queue, "refunds");
              EXPECT_EQ(undo.priority, 7);
              EXPECT_EQ(undo.retry.max_attempts, 4);
              EXPECT_EQ(undo.retry.first_delay, 250ms);
              EXPECT_THAT(undo.retry.non_retryable,
                          ElementsAre("odd \"type\" 100%", "t\xc3\xa4ter"));
              EXPECT_EQ(undo.timeouts.schedule_to_close, 1h);
            });
}

TEST(Undo, LateAndDuplicateAnswersOfUndosAreConsumedWithoutATrace) {
  both_ways(two_undos(), [](ScriptedRun& run) {
    do_both_calls(run);
    run.cancel();
    const EventId undo = run.open_call("undo_thrice");
    run.turn({run.completed(undo), run.completed(undo), run.failed(undo, {"late", "", true, {}})});
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
    EXPECT_EQ(run.failure(), Failure{});
  });
}

TEST(Undo, ABadUndoIsAnErrorAtTheCallAndNothingIsStored) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              int refused = 0;
              try {
                auto call = ctx.call(twice, 1).undo_with(undo_twice, {.timeout = -1s});
                co_return 0;
              } catch (const InvalidArgument&) {
                ++refused;
              }
              try {
                auto call = ctx.call(twice, 1).undo_with(undo_twice, {.retry = retry(3, -1s)});
                co_return 0;
              } catch (const InvalidArgument&) {
                ++refused;
              }
              co_return refused + co_await ctx.call(thrice, refused).undo_with(undo_thrice);
            }),
            [](ScriptedRun& run) {
              EXPECT_EQ(run.start().work.size(), 1U);
              EXPECT_THAT(run.lines(1),
                          ElementsAre("activity_scheduled thrice", "undo_owed undo_thrice of 2"));
              run.complete("thrice", "6");
              EXPECT_EQ(run.output(), "8");
            });
}

TEST(Undo, ABadUndoThatTheCodeDoesNotCatchFailsTheRun) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_return co_await ctx.call(twice, 1).undo_with(undo_twice, {.timeout = -1s});
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_THAT(run.lines(1), ElementsAre("failed"));
              EXPECT_EQ(run.failure().type, "invalid_argument");
            });
}

TEST(Undo, UndoWithAfterTheCallIsAnErrorOfTheCode) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              auto call = ctx.call(twice, 1);
              auto later = ctx.timer(1h);
              co_return co_await std::move(call).undo_with(undo_twice);
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.failure().type, "invalid_argument");
            });
}

}  // namespace
}  // namespace perdure::test::undo_test
