#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Cleanup that a cancel does not reach.
namespace perdure::test::shield_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

Task<int> clean_up(OrchestrationContext& ctx) {
  const int first = co_await ctx.call(thrice, 1);
  co_await ctx.timer(10s);
  co_return first;
}

Registry cleaner() {
  return demo([](OrchestrationContext& ctx) -> Task<std::string> {
    bool canceled = false;
    try {
      co_await ctx.call(twice, 1);
    } catch (const Canceled&) {
      canceled = true;
    }
    if (canceled) {
      const int cleaned = co_await ctx.shield(clean_up(ctx));
      co_return "cleaned " + std::to_string(cleaned);
    }
    co_return "done";
  });
}

TEST(Shield, CleanupRunsAfterACancel) {
  both_ways(cleaner(), [](ScriptedRun& run) {
    run.start();
    const auto& decisions = run.cancel("stop");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
    ASSERT_EQ(decisions.work.size(), 1u);
    EXPECT_TRUE(decisions.work[0].shielded) << "it survives the cancel in the store";
    run.complete("thrice", "3");
    ASSERT_EQ(run.open_timers().size(), 1u);
    run.fire();
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled) << "whatever main returns";
    EXPECT_EQ(run.history().back().text, "stop");
  });
}

TEST(Shield, WorkStartedUnderAShieldBeforeTheCancelGoesOn) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              auto cleanup = ctx.shield(clean_up(ctx));
              co_return co_await cleanup;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_TRUE(run.work().begin()->second.shielded);
              run.cancel();
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceling)
                  << "the await of a shield outlasts it";
              run.complete("thrice", "3");
              run.fire();
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
            });
}

TEST(Shield, TheStoreIsToldWhichChildrenAreUnderOne) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Part {
                static Task<int> with_child(OrchestrationContext& c) {
                  co_return co_await c.call(helper, 1);
                }
              };
              auto bare = ctx.call(helper, 2);
              auto shielded = ctx.shield(Part::with_child(ctx));
              const int result = co_await shielded;
              co_await bare;
              co_return result;
            }),
            [](ScriptedRun& run) {
              const std::vector<NewChild> children = run.start().children;
              ASSERT_EQ(children.size(), 2u);
              EXPECT_EQ(children[0].input, "2");
              EXPECT_FALSE(children[0].shielded);
              EXPECT_EQ(children[1].input, "1");
              EXPECT_TRUE(children[1].shielded);
              run.cancel("stop");
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceling) << "it waits for the shield";
              run.turn({run.child(children[1].event, MessageKind::kChildCompleted, "10")});
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
            });
}

TEST(Shield, WhatIsSpawnedUnderAShieldIsShielded) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<int> fan_out(OrchestrationContext& c) {
                  auto part = c.spawn(clean_up(c));
                  auto scope = c.scope();
                  auto scoped = scope.spawn(clean_up(c));
                  co_return co_await part + co_await scoped;
                }
              };
              co_return co_await ctx.shield(Parts::fan_out(ctx));
            }),
            [](ScriptedRun& run) {
              run.start();
              run.cancel();
              ASSERT_EQ(run.open_calls("thrice").size(), 2u);
              for (const auto& [event, work] : run.work()) EXPECT_TRUE(work.shielded) << event;
              run.complete("thrice", "3");
              run.complete("thrice", "3");
              run.fire();
              run.fire();
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
            });
}

TEST(Shield, DroppingTheFutureOfAShieldCancelsIt) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              {
                auto cleanup = ctx.shield(clean_up(ctx));
                co_await ctx.wait_for(number);
              }
              co_await ctx.wait_for(number);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_THAT(run.raise("number", "1").canceled_work, ElementsAre(EventId{3}));
            });
}

TEST(Shield, AShieldInACanceledScopeRunsOn) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<int> guarded(OrchestrationContext& c) {
                  co_return co_await c.shield(clean_up(c));
                }
              };
              auto scope = ctx.scope();
              auto task = scope.spawn(Parts::guarded(ctx));
              co_await ctx.wait_for(number);
              scope.cancel();
              co_return co_await task;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_TRUE(run.raise("number", "1").canceled_work.empty());
              run.complete("thrice", "3");
              run.fire();
              EXPECT_EQ(run.output(), "3");
            });
}

TEST(Shield, TheCleanupDeadlineStopsUserCodeForGood) {
  both_ways(cleaner(), [](ScriptedRun& run) {
    run.start();
    run.cancel("stop");
    const EventId cleanup = run.open_call("thrice");
    const auto& decisions = run.turn({run.cleanup_deadline(), run.completed(cleanup, "3")});
    EXPECT_THAT(decisions.canceled_work, ElementsAre(cleanup));
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
    EXPECT_EQ(run.lines().back(), "canceled");
    EXPECT_EQ(run.kinds()[run.kinds().size() - 2], EventKind::kCleanupExpired)
        << "the code was not resumed by the answer behind the deadline";
  });
}

TEST(Shield, TheCleanupDeadlineTakesTimersAndChildrenOfTheCleanup) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<int> all(OrchestrationContext& c) {
                  auto timer = c.timer(1h);
                  auto child = c.call(helper, 1, {.timeout = 2h});
                  auto call = c.call(twice, 1).undo_with(undo_twice);
                  co_await timer;
                  co_return 1;
                }
              };
              co_return co_await ctx.shield(Parts::all(ctx));
            }),
            [](ScriptedRun& run) {
              run.start();
              run.cancel();
              const auto& decisions = run.turn({run.cleanup_deadline()});
              EXPECT_THAT(decisions.canceled_timers, ElementsAre(EventId{2}, EventId{4}));
              EXPECT_THAT(decisions.canceled_children, ElementsAre(EventId{3}));
              EXPECT_THAT(decisions.canceled_work, ElementsAre(EventId{5}))
                  << "a shielded call with an undo is told to stop, and its outcome awaited";
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
              run.complete("twice", "2");
              run.complete("undo_twice");
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
            });
}

TEST(Shield, ACleanupDeadlineWithoutACancelOrOfAnotherExecutionIsConsumedWithoutATrace) {
  both_ways(cleaner(), [](ScriptedRun& run) {
    run.start();
    EXPECT_TRUE(run.turn({run.cleanup_deadline()}).events.empty());
    run.cancel();
    Message other_life = run.cleanup_deadline();
    other_life.execution = ExecutionNo{2};
    EXPECT_TRUE(run.turn({other_life}).events.empty());
    run.complete("thrice", "3");
    run.fire();
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
  });
}

}  // namespace
}  // namespace perdure::test::shield_test
