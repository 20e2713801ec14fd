#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Dropping a future cancels it: in the same commit, recorded, sorted by event id.
namespace perdure::test::drops_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

TEST(Drops, DroppingACallTakesItsRowInTheSameCommit) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              { auto call = ctx.call(twice, 1); }
              co_await ctx.timer(1h);
              co_return 0;
            }),
            [](ScriptedRun& run) {
              const auto& decisions = run.start();
              EXPECT_EQ(decisions.work.size(), 1u);
              EXPECT_THAT(decisions.canceled_work, ElementsAre(EventId{2}));
              EXPECT_THAT(run.lines(),
                          ElementsAre("started demo",
                                      "activity_scheduled twice",
                                      "timer_created",
                                      "activity_dropped of 2"));
            });
}

TEST(Drops, DroppingATimerTakesItsRow) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              { auto timer = ctx.timer(1h); }
              co_await ctx.call(twice, 1);
              co_return 0;
            }),
            [](ScriptedRun& run) {
              EXPECT_THAT(run.start().canceled_timers, ElementsAre(EventId{2}));
              EXPECT_TRUE(run.open_timers().empty());
            });
}

TEST(Drops, DroppingAChildCancelsIt) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              { auto child = ctx.call(helper, 1); }
              co_await ctx.timer(1h);
              co_return 0;
            }),
            [](ScriptedRun& run) {
              EXPECT_THAT(run.start().canceled_children, ElementsAre(EventId{2}));
              EXPECT_EQ(run.lines().back(), "child_dropped of 2");
            });
}

TEST(Drops, DroppingAnAbandonedChildLetsItGoOn) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              { auto child = ctx.call(helper, 1, {.on_cancel = OnCancel::kAbandon}); }
              co_await ctx.timer(1h);
              co_return 0;
            }),
            [](ScriptedRun& run) {
              EXPECT_TRUE(run.start().canceled_children.empty());
              EXPECT_EQ(run.lines().back(), "child_dropped of 2");
            });
}

TEST(Drops, DropsOfOneEventAreSortedByEventId) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              {
                std::vector<Future<int>> calls;
                for (int i = 0; i < 4; ++i) calls.push_back(ctx.call(twice, i));
                auto timer = ctx.timer(1h);
                std::swap(calls[0], calls[3]);
                std::swap(calls[1], calls[2]);
              }
              co_await ctx.call(ping);
              co_return 0;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_THAT(run.lines(7),
                          ElementsAre("activity_dropped of 2",
                                      "activity_dropped of 3",
                                      "activity_dropped of 4",
                                      "activity_dropped of 5",
                                      "timer_dropped of 6"));
            });
}

TEST(Drops, DropsAreCollectedForEachAppliedEventByItself) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              auto late = std::make_unique<Future<int>>(ctx.call(twice, 1));
              auto early = std::make_unique<Future<int>>(ctx.call(thrice, 1));
              co_await ctx.wait_for(number);
              early.reset();
              co_await ctx.wait_for(number);
              late.reset();
              co_await ctx.timer(1h);
              co_return 0;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.turn({run.raised("number", "1"), run.raised("number", "2")});
              EXPECT_THAT(run.lines(4),
                          ElementsAre("event_received number",
                                      "event_subscribed number",
                                      "activity_dropped of 3",
                                      "event_received number",
                                      "timer_created",
                                      "activity_dropped of 2"));
            });
}

TEST(Drops, AFutureAssignedOverIsDropped) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              Future<int> call = ctx.call(twice, 1);
              call = ctx.call(thrice, 2);
              co_return co_await call;
            }),
            [](ScriptedRun& run) {
              EXPECT_THAT(run.start().canceled_work, ElementsAre(EventId{2}));
              run.complete("thrice", "6");
              EXPECT_EQ(run.output(), "6");
            });
}

TEST(Drops, AFutureThatIsMovedIsNotDropped) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              std::vector<Future<int>> kept;
              {
                Future<int> call = ctx.call(twice, 1);
                kept.push_back(std::move(call));
              }
              co_return co_await kept.front();
            }),
            [](ScriptedRun& run) {
              EXPECT_TRUE(run.start().canceled_work.empty());
              run.complete("twice", "2");
              EXPECT_EQ(run.output(), "2");
            });
}

TEST(Drops, AwaitingAFutureThatWasMovedFromIsAnErrorOfTheCode) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              Future<int> call = ctx.call(twice, 1);
              Future<int> owner = std::move(call);
              co_return co_await call;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
              EXPECT_EQ(run.failure().type, "std::logic_error");
            });
}

TEST(Drops, DetachGivesUpTheHandleWithoutCanceling) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              ctx.call(twice, 1).detach();
              ctx.timer(1h).detach();
              ctx.call(helper, 1).detach();
              co_return co_await ctx.call(thrice, 2);
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("twice", "2");
              EXPECT_EQ(run.lines().back(), "activity_completed of 2") << "recorded and ignored";
              EXPECT_EQ(run.open_timers().size(), 1u);
              run.complete("thrice", "6");
              EXPECT_EQ(run.output(), "6");
              EXPECT_EQ(run.lines().back(), "completed") << "no drop events for detached ones";
            });
}

TEST(Drops, AResolvedFutureIsNoDrop) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              int sum = 0;
              {
                auto call = ctx.call(twice, 1);
                sum = co_await call;
              }
              sum += co_await ctx.call(twice, sum);
              co_return sum;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("twice", "2");
              run.complete("twice", "4");
              EXPECT_THAT(run.lines(1),
                          ElementsAre("activity_scheduled twice",
                                      "activity_completed of 2",
                                      "activity_scheduled twice",
                                      "activity_completed of 4",
                                      "completed"));
            });
}

TEST(Drops, ATaskParameterThatIsAFutureIsDroppedWithItsTask) {
  both_ways(
      demo([](OrchestrationContext& ctx) -> Task<int> {
        struct Parts {
          static Task<void> hold(Future<int>) { co_return; }
        };
        Future<int> call = ctx.call(twice, 1);
        co_await Parts::hold(std::move(call));
        co_await ctx.timer(1h);
        co_return 0;
      }),
      [](ScriptedRun& run) { EXPECT_THAT(run.start().canceled_work, ElementsAre(EventId{2})); });
}

TEST(Drops, TensOfThousandsOfFuturesAreDroppedInOrder) {
  constexpr int kCalls = 20'000;
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              {
                std::vector<Future<int>> calls;
                for (int i = 0; i < kCalls; ++i) calls.push_back(ctx.wait_for(number));
              }
              co_await ctx.timer(1h);
              co_return 0;
            }),
            [](ScriptedRun& run) {
              run.start();
              ASSERT_EQ(run.history().size(), 2u + 2 * kCalls);
              for (int i = 0; i < kCalls; ++i) {
                const HistoryEvent& drop = run.history()[static_cast<std::size_t>(kCalls + 2 + i)];
                ASSERT_EQ(drop.kind, EventKind::kEventDropped);
                ASSERT_EQ(drop.source, EventId{i + 2});
              }
            });
}

}  // namespace
}  // namespace perdure::test::drops_test
