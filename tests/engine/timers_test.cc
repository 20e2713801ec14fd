#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Timers and the time of a turn.
namespace perdure::test::timers_test {
namespace {

using namespace std::chrono_literals;

std::string micros(TimePoint time) {
  return std::to_string(time.time_since_epoch().count());
}

TEST(Timers, ATimerIsDueItsDelayAfterTheTimeOfTheTurn) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_await ctx.timer(30 * 24h);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              const auto& decisions = run.start();
              ASSERT_EQ(decisions.timers.size(), 1u);
              EXPECT_EQ(decisions.timers[0].due, run.now() + 30 * 24h);
              EXPECT_EQ(decisions.events.back().number,
                        decisions.timers[0].due.time_since_epoch().count());
              run.fire();
              EXPECT_EQ(run.output(), "1");
            });
}

TEST(Timers, ATimerAtATimeInThePastIsCreatedAllTheSame) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_await ctx.timer_at(TimePoint{1s});
              co_return 1;
            }),
            [](ScriptedRun& run) {
              EXPECT_EQ(run.start().timers.at(0).due, TimePoint{1s});
              run.fire();
              EXPECT_EQ(run.output(), "1");
            });
}

TEST(Timers, ATimerOfAllTimeDoesNotOverflow) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_await ctx.timer(Duration::max());
              co_return 1;
            }),
            [](ScriptedRun& run) { EXPECT_EQ(run.start().timers.at(0).due, kForever); });
}

TEST(Timers, ANegativeDelayIsAnErrorAtTheCall) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_await ctx.timer(-1s);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.failure().type, "invalid_argument");
              EXPECT_EQ(run.lines().size(), 2u) << "nothing but start and end is recorded";
            });
}

/// The time of every step, in microseconds.
Registry clock_reader() {
  return demo([](OrchestrationContext& ctx) -> Task<std::vector<std::int64_t>> {
    std::vector<std::int64_t> times;
    const auto look = [&] { times.push_back(ctx.now().time_since_epoch().count()); };
    look();
    co_await ctx.wait_for(number);
    look();
    co_await ctx.wait_for(number);
    look();
    co_await ctx.wait_for(number);
    look();
    co_return times;
  });
}

TEST(Timers, NowIsOnePerTurnAndTheSameInReplay) {
  both_ways(clock_reader(), [](ScriptedRun& run) {
    run.start();
    const TimePoint first = run.now();
    run.advance(10s);
    run.turn({run.raised("number", "1"), run.raised("number", "2")});
    const TimePoint second = run.now();
    run.advance(5s);
    run.raise("number", "3");
    EXPECT_EQ(run.output(),
              "[" + micros(first) + "," + micros(second) + "," + micros(second) + "," +
                  micros(run.now()) + "]");
  });
}

TEST(Timers, NowNeverDecreases) {
  both_ways(clock_reader(), [](ScriptedRun& run) {
    run.start();
    const TimePoint first = run.now();
    run.advance(10s);
    run.raise("number", "1");
    const TimePoint highest = run.now();
    run.advance(-1h);
    run.raise("number", "2");
    run.raise("number", "3");
    EXPECT_EQ(run.output(),
              "[" + micros(first) + "," + micros(highest) + "," + micros(highest) + "," +
                  micros(highest) + "]");
  });
}

TEST(Timers, NowOfADelayedFirstTurnIsThatOfTheTurn) {
  both_ways(clock_reader(), [](ScriptedRun& run) {
    run.advance(2h);
    const TimePoint first = run.now();
    run.start();
    run.advance(1s);
    const TimePoint later = run.now();
    run.turn({run.raised("number", "1"), run.raised("number", "2"), run.raised("number", "3")});
    EXPECT_EQ(run.output(),
              "[" + micros(first) + "," + micros(later) + "," + micros(later) + "," +
                  micros(later) + "]");
  });
}

TEST(Timers, ATurnWithoutAnyEventLeavesNoTime) {
  both_ways(clock_reader(), [](ScriptedRun& run) {
    run.start();
    const TimePoint first = run.now();
    run.advance(1h);
    EXPECT_TRUE(run.turn({run.completed(EventId{77})}).events.empty());
    run.advance(1h);
    const TimePoint later = run.now();
    run.turn({run.raised("number", "1"), run.raised("number", "2"), run.raised("number", "3")});
    EXPECT_EQ(run.output(),
              "[" + micros(first) + "," + micros(later) + "," + micros(later) + "," +
                  micros(later) + "]");
  });
}

TEST(Timers, EveryEventHasTheTimeOfItsTurn) {
  both_ways(clock_reader(), [](ScriptedRun& run) {
    run.start();
    run.advance(7s);
    for (const HistoryEvent& event : run.raise("number", "1").events)
      EXPECT_EQ(event.at, run.now());
  });
}

}  // namespace
}  // namespace perdure::test::timers_test
