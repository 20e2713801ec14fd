#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// External events: first come, first served for each name, never lost.
namespace perdure::test::events_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

TEST(Events, AnEventThatCameBeforeTheWaitIsThere) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_await ctx.timer(1h);
              co_return co_await ctx.wait_for(number);
            }),
            [](ScriptedRun& run) {
              run.start();
              run.raise("number", "7");
              run.fire();
              EXPECT_EQ(run.output(), "7");
            });
}

TEST(Events, EventsOfANameAreTakenInTheOrderOfArrival) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_await ctx.timer(1h);
              int sum = 0;
              for (int i = 0; i < 3; ++i) sum = 10 * sum + co_await ctx.wait_for(number);
              co_return sum;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.raise("number", "1");
              run.turn({run.raised("number", "2"), run.raised("number", "3")});
              run.fire();
              EXPECT_EQ(run.output(), "123");
            });
}

TEST(Events, WaitsOfANameAreServedInTheirOrder) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              auto first = ctx.wait_for(number);
              auto second = ctx.wait_for(number);
              const int late = co_await second;
              co_return 10 * first.get() + late;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.raise("number", "1");
              EXPECT_EQ(run.status(), ExecutionStatus::kRunning);
              run.raise("number", "2");
              EXPECT_EQ(run.output(), "12");
            });
}

TEST(Events, NamesDoNotMix) {
  both_ways(
      demo([](OrchestrationContext& ctx) -> Task<int> {
        const int first = co_await ctx.wait_for(number);
        co_return 10 * first + co_await ctx.wait_for(other);
      }),
      [](ScriptedRun& run) {
        run.start();
        run.turn({run.raised("other", "1"), run.raised("nobody", "5"), run.raised("number", "2")});
        EXPECT_EQ(run.output(), "21");
      });
}

TEST(Events, ADroppedWaitLeavesItsEventInPlace) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              auto patience = ctx.timer(1h);
              {
                auto wait = ctx.wait_for(number);
                co_await when_any(wait, patience);
              }
              co_return co_await ctx.wait_for(number);
            }),
            [](ScriptedRun& run) {
              run.start();
              run.fire();
              EXPECT_THAT(
                  run.lines(3),
                  ElementsAre("timer_fired of 2", "event_subscribed number", "event_dropped of 3"));
              run.raise("number", "4");
              EXPECT_EQ(run.output(), "4");
            });
}

TEST(Events, AnEventThatTheCodeNeverSawGoesBackToItsPlace) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              {
                auto first = ctx.wait_for(number);
                co_await ctx.wait_for(other);
              }
              const int a = co_await ctx.wait_for(number);
              const int b = co_await ctx.wait_for(number);
              co_return 10 * a + b;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.turn({run.raised("number", "1"), run.raised("other", "0")});
              EXPECT_THAT(run.lines(), testing::Contains("event_dropped of 2"));
              run.raise("number", "2");
              EXPECT_EQ(run.output(), "12") << "the first event was not lost with its wait";
            });
}

TEST(Events, AnEventThatWonARaceIsTaken) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              {
                auto wait = ctx.wait_for(number);
                auto patience = ctx.timer(1h);
                if (co_await when_any(wait, patience) == 1) co_return -1;
              }
              co_return co_await ctx.wait_for(number);
            }),
            [](ScriptedRun& run) {
              run.start();
              run.raise("number", "1");
              EXPECT_EQ(run.status(), ExecutionStatus::kRunning) << "it is not given twice";
              run.raise("number", "2");
              EXPECT_EQ(run.output(), "2");
            });
}

TEST(Events, ADetachedWaitIsGivenUp) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              ctx.wait_for(number).detach();
              co_return co_await ctx.wait_for(number);
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.lines().back(), "event_dropped of 2");
              run.raise("number", "3");
              EXPECT_EQ(run.output(), "3");
            });
}

TEST(Events, AnEventOfTheWrongShapeIsAnErrorOfTheWait) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              auto wrong = ctx.wait_for(number);
              int got = 0;
              try {
                got = co_await wrong;
              } catch (const Failed& failed) {
                got = failed.failure().type == kBadInputFailure ? 1 : 2;
              }
              co_return got * 10 + co_await ctx.wait_for(number);
            }),
            [](ScriptedRun& run) {
              run.start();
              run.raise("number", "\"text\"");
              run.raise("number", "5");
              EXPECT_EQ(run.output(), "15");
            });
}

}  // namespace
}  // namespace perdure::test::events_test
