#include "base/clock.h"

#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace perdure {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST(Subscription, EndsOnceHoweverItIsMoved) {
  int ends = 0;
  {
    Subscription first([&] { ++ends; });
    Subscription second(std::move(first));
    Subscription third;
    third = std::move(second);
    EXPECT_EQ(ends, 0);
  }
  EXPECT_EQ(ends, 1);
}

TEST(Subscription, AssigningEndsWhatItHeld) {
  int ends = 0;
  Subscription subscription([&] { ++ends; });
  subscription = Subscription();
  EXPECT_EQ(ends, 1);
  subscription.reset();
  EXPECT_EQ(ends, 1);
}

TEST(SystemClock, TellsTheSystemsTime) {
  const auto before = std::chrono::system_clock::now() - seconds(60);
  const auto after = std::chrono::system_clock::now() + seconds(60);
  EXPECT_GT(system_clock().now(), before);
  EXPECT_LT(system_clock().now(), after);
}

TEST(SystemClock, SleepsNotAtAllForThePast) {
  EXPECT_EQ(system_clock().sleep_until(time_from_micros(0)), Duration::zero());
}

TEST(SystemClock, NeverSleepsLongerThanAnyWaitFunctionCanCount) {
  EXPECT_EQ(system_clock().sleep_until(kForever), Duration(hours(1)));
  const auto soon = system_clock().sleep_until(add(system_clock().now(), seconds(50)));
  ASSERT_TRUE(soon.has_value());
  EXPECT_LE(*soon, seconds(50));
}

TEST(SteadyClock, DoesNotGoBackwards) {
  const auto first = steady_now();
  EXPECT_GE(steady_now(), first);
}

TEST(VirtualClock, StandsStillUntilAdvanced) {
  VirtualClock clock;
  EXPECT_EQ(to_string(clock.now()), "2026-01-01T00:00:00.000000Z");
  clock.advance(seconds(90));
  EXPECT_EQ(to_string(clock.now()), "2026-01-01T00:01:30.000000Z");
}

TEST(VirtualClock, StopsAtForever) {
  VirtualClock clock(kForever);
  clock.advance(hours(1));
  EXPECT_EQ(clock.now(), kForever);
}

TEST(VirtualClock, OnlyAnAdvanceBringsALaterTime) {
  VirtualClock clock;
  const TimePoint until = add(clock.now(), seconds(1));
  EXPECT_EQ(clock.sleep_until(until), std::nullopt);
  clock.advance(seconds(1));
  EXPECT_EQ(clock.sleep_until(until), Duration::zero());
}

TEST(VirtualClock, CallsBackInOrderAfterTimeMoved) {
  VirtualClock clock;
  std::vector<int> order;
  TimePoint seen;
  const auto first = clock.on_advance([&] {
    order.push_back(1);
    seen = clock.now();
  });
  const auto second = clock.on_advance([&] { order.push_back(2); });
  clock.advance(seconds(5));
  EXPECT_EQ(order, (std::vector{1, 2}));
  EXPECT_EQ(seen, add(VirtualClock::kStart, seconds(5)));
}

TEST(VirtualClock, DoesNotCallBackAfterTheSubscriptionEnded) {
  VirtualClock clock;
  int calls = 0;
  {
    const auto subscription = clock.on_advance([&] { ++calls; });
    clock.advance(seconds(1));
  }
  clock.advance(seconds(1));
  EXPECT_EQ(calls, 1);
}

TEST(VirtualClock, ACallbackMayUseTheClockAndEndAnySubscription) {
  VirtualClock clock;
  int own_calls = 0;
  int other_calls = 0;
  Subscription own;
  Subscription other;
  Subscription added;
  own = clock.on_advance([&] {
    ++own_calls;
    own.reset();
    other.reset();
    added = clock.on_advance([] {});
  });
  other = clock.on_advance([&] { ++other_calls; });
  clock.advance(seconds(1));
  clock.advance(seconds(1));
  EXPECT_EQ(own_calls, 1);
  EXPECT_EQ(other_calls, 0);
}

TEST(VirtualClock, ASubscriptionMayOutliveTheClock) {
  auto clock = std::make_unique<VirtualClock>();
  Subscription subscription = clock->on_advance([] {});
  clock.reset();
  subscription.reset();
}

TEST(VirtualClock, EndingASubscriptionWaitsForItsRunningCallback) {
  VirtualClock clock;
  std::latch entered(1);
  std::latch may_leave(1);
  std::atomic<bool> left = false;
  std::atomic<bool> left_before_end_returned = false;
  Subscription subscription = clock.on_advance([&] {
    entered.count_down();
    may_leave.wait();
    left = true;
  });
  std::jthread advancer([&] { clock.advance(seconds(1)); });
  entered.wait();
  std::jthread ender([&] {
    subscription.reset();
    left_before_end_returned = left.load();
  });
  may_leave.count_down();
  ender.join();
  EXPECT_TRUE(left_before_end_returned);
}

TEST(VirtualClock, NeverTouchesWhatACallbackUsedOnceItsSubscriptionEnded) {
  constexpr int kRounds = 2'000;
  VirtualClock clock;
  std::atomic<bool> done = false;
  std::jthread advancer([&] {
    while (!done) clock.advance(Duration(1));
  });
  for (int i = 0; i < kRounds; ++i) {
    // A call after the end writes to freed memory, which the sanitizers see.
    auto calls = std::make_unique<int>(0);
    Subscription subscription = clock.on_advance([target = calls.get()] { ++*target; });
    subscription.reset();
    EXPECT_GE(*calls, 0);
  }
  done = true;
}

TEST(VirtualClock, AdvancesOfSeveralThreadsAddUp) {
  constexpr int kThreads = 4;
  constexpr int kSteps = 500;
  VirtualClock clock;
  int calls = 0;  // unguarded: calls of one callback never overlap
  const auto subscription = clock.on_advance([&] { ++calls; });
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kSteps; ++i) clock.advance(Duration(1));
      });
    }
  }
  EXPECT_EQ(clock.now(), add(VirtualClock::kStart, Duration(kThreads * kSteps)));
  EXPECT_EQ(calls, kThreads * kSteps);
}

TEST(VirtualClockDeathTest, RefusesToGoBackwards) {
  VirtualClock clock;
  EXPECT_DEATH(clock.advance(Duration(-1)), "time does not go backwards");
}

}  // namespace
}  // namespace perdure
