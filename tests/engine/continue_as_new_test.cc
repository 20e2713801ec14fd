#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// One execution closes, the next begins.
namespace perdure::test::continue_as_new_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

inline constexpr Orchestration<int(int)> self{"demo"};

/// Sums numbers, two for each execution; ends at -1.
Registry summing() {
  return demo([](OrchestrationContext& ctx, int sum) -> Task<int> {
    for (int i = 0; i < 2; ++i) {
      const int next = co_await ctx.wait_for(number);
      if (next < 0) co_return sum;
      sum = 10 * sum + next;
    }
    co_await ctx.continue_as_new(self, sum);
    co_return -1;
  });
}

TEST(ContinueAsNew, ItClosesTheExecutionAndSaysHowTheNextBegins) {
  both_ways(summing(), "0", [](ScriptedRun& run) {
    run.start();
    run.turn({run.raised("number", "1"), run.raised("number", "2")});
    EXPECT_EQ(run.status(), ExecutionStatus::kContinuedAsNew);
    EXPECT_EQ(run.lines().back(), "continued_as_new");
    ASSERT_TRUE(run.next());
    EXPECT_EQ(run.next()->input, "12");
    EXPECT_EQ(run.next()->version, std::nullopt) << "keeps its version";
    EXPECT_TRUE(run.next()->carried.empty());
  });
}

TEST(ContinueAsNew, UnreadEventsAreCarriedOverInOrder) {
  both_ways(summing(), "0", [](ScriptedRun& run) {
    run.start();
    run.raise("other", "\"x\"");
    run.turn({run.raised("number", "1"),
              run.raised("other", "\"y\""),
              run.raised("number", "2"),
              run.raised("number", "3"),
              run.raised("other", "\"z\"")});
    ASSERT_TRUE(run.next());
    std::vector<std::string> carried;
    for (const HistoryEvent& event : run.next()->carried)
      carried.push_back(event.name + event.payload);
    EXPECT_THAT(carried, ElementsAre("other\"x\"", "other\"y\"", "number3", "other\"z\""));
    EXPECT_EQ(run.lines().back(), "continued_as_new") << "nothing follows the end";
  });
}

TEST(ContinueAsNew, CarriedEventsAreThereAtTheFirstWaitOfTheNext) {
  both_ways(summing(), "0", [](ScriptedRun& run) {
    run.start();
    run.turn({run.raised("number", "1"), run.raised("number", "2"), run.raised("number", "3")});
    ASSERT_TRUE(run.next());
    for (const bool kept : {false, true}) {
      ScriptedRun next(run, *run.next());
      next.keep_frames(kept);
      next.advance(1h);
      next.start();
      EXPECT_THAT(next.lines(),
                  ElementsAre("started demo",
                              "event_received number",
                              "event_subscribed number",
                              "event_subscribed number"));
      next.raise("number", "-1");
      EXPECT_EQ(next.output(), "123");
      EXPECT_TRUE(next.replays());
    }
  });
}

TEST(ContinueAsNew, NowOfAnExecutionWithCarriedEventsIsThatOfItsTurn) {
  const Registry registry = demo([](OrchestrationContext& ctx, int round) -> Task<std::int64_t> {
    if (round == 0) {
      co_await ctx.wait_for(number);
      co_await ctx.continue_as_new(Orchestration<std::int64_t(int)>("demo"), 1);
    }
    const auto began = ctx.now();
    co_await ctx.wait_for(other);
    co_await ctx.timer(1h);
    co_return began.time_since_epoch().count();
  });
  both_ways(registry, "0", [](ScriptedRun& run) {
    run.start();
    run.turn({run.raised("number", "1"), run.raised("other", "2")});
    ASSERT_TRUE(run.next());
    for (const bool kept : {false, true}) {
      ScriptedRun next(run, *run.next());
      next.keep_frames(kept);
      next.advance(3h);
      const TimePoint first = next.now();
      next.start();
      next.fire();
      EXPECT_EQ(next.output(), std::to_string(first.time_since_epoch().count()));
      EXPECT_TRUE(next.replays());
    }
  });
}

TEST(ContinueAsNew, AnEventOfAWaitThatTheCodeDidNotReadIsCarried) {
  both_ways(demo([](OrchestrationContext& ctx, int round) -> Task<int> {
              auto unread = ctx.wait_for(number);
              co_await ctx.wait_for(other);
              co_await ctx.continue_as_new(self, round + 1);
              co_return 0;
            }),
            "0",
            [](ScriptedRun& run) {
              run.start();
              run.turn({run.raised("number", "5"), run.raised("other", "1")});
              ASSERT_TRUE(run.next());
              ASSERT_EQ(run.next()->carried.size(), 1u);
              EXPECT_EQ(run.next()->carried[0].payload, "5");
            });
}

TEST(ContinueAsNew, WhatIsOpenEndsWithTheExecutionWithoutDrops) {
  both_ways(demo([](OrchestrationContext& ctx, int round) -> Task<int> {
              auto call = ctx.call(twice, 1);
              auto timer = ctx.timer(1h);
              co_await ctx.wait_for(other);
              co_await ctx.continue_as_new(self, round + 1);
              co_return 0;
            }),
            "0",
            [](ScriptedRun& run) {
              run.start();
              run.raise("other", "1");
              EXPECT_THAT(run.lines(4), ElementsAre("event_received other", "continued_as_new"));
            });
}

TEST(ContinueAsNew, CodeBehindItDoesNotCount) {
  both_ways(demo([](OrchestrationContext& ctx, int round) -> Task<int> {
              auto never = ctx.continue_as_new(self, round + 1);
              ctx.call(twice, 1).detach();
              ctx.set_status(1);
              (void)never;
              co_return 5;
            }),
            "0",
            [](ScriptedRun& run) {
              const auto& decisions = run.start();
              EXPECT_THAT(run.lines(), ElementsAre("started demo", "continued_as_new"));
              EXPECT_TRUE(decisions.work.empty());
              EXPECT_FALSE(decisions.custom_status);
            });
}

TEST(ContinueAsNew, AnotherVersionCanFollow) {
  both_ways(demo([](OrchestrationContext& ctx, int round) -> Task<int> {
              co_await ctx.continue_as_new(self, round + 1, "2.0");
              co_return 0;
            }),
            "0",
            [](ScriptedRun& run) {
              run.start();
              ASSERT_TRUE(run.next());
              EXPECT_EQ(run.next()->version, "2.0");
            });
}

TEST(ContinueAsNew, ARunWithoutInputContinuesWithoutOne) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              constexpr Orchestration<int()> same{"demo"};
              if (co_await ctx.wait_for(number) == 1) co_await ctx.continue_as_new(same);
              co_await ctx.continue_as_new(same, "2.0");
              co_return 0;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.raise("number", "1");
              ASSERT_TRUE(run.next());
              EXPECT_EQ(run.next()->input, "null");
              EXPECT_EQ(run.next()->version, std::nullopt) << "keeps its version";
              ScriptedRun next(run, *run.next());
              next.start();
              next.raise("number", "2");
              ASSERT_TRUE(next.next());
              EXPECT_EQ(next.next()->version, "2.0");
            });
}

TEST(ContinueAsNew, AVersionThatDoesNotParseOrAnotherContractIsAnErrorAtTheCall) {
  both_ways(demo([](OrchestrationContext& ctx, int round) -> Task<int> {
              int errors = 0;
              try {
                co_await ctx.continue_as_new(self, round + 1, "newest");
              } catch (const InvalidArgument&) {
                ++errors;
              }
              try {
                co_await ctx.continue_as_new(helper, round + 1);
              } catch (const InvalidArgument&) {
                ++errors;
              }
              co_return errors;
            }),
            "0",
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.output(), "2");
            });
}

TEST(ContinueAsNew, ACanceledRunDoesNotContinueNotEvenUnderAShield) {
  both_ways(demo([](OrchestrationContext& ctx, int round) -> Task<int> {
              struct Parts {
                static Task<void> again(OrchestrationContext& c, int next) {
                  co_await c.continue_as_new(self, next);
                }
              };
              auto timer = ctx.timer(1h);
              const auto outcome = co_await timer.outcome();
              (void)outcome;
              co_await ctx.shield(Parts::again(ctx, round + 1));
              co_return 0;
            }),
            "0",
            [](ScriptedRun& run) {
              run.start();
              run.cancel("stop");
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
              EXPECT_FALSE(run.next());
            });
}

TEST(ContinueAsNew, AnAnswerToTheExecutionBeforeIsConsumedWithoutATrace) {
  both_ways(summing(), "0", [](ScriptedRun& run) {
    run.start();
    run.turn({run.raised("number", "1"), run.raised("number", "2")});
    ASSERT_TRUE(run.next());
    ScriptedRun next(run, *run.next());
    next.start();
    EXPECT_TRUE(next.turn({run.completed(EventId{2}, "1")}).events.empty());
  });
}

}  // namespace
}  // namespace perdure::test::continue_as_new_test
