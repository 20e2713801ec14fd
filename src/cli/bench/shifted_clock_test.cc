#include "cli/bench/shifted_clock.h"

#include <gtest/gtest.h>

namespace perdure::bench {
namespace {

using namespace std::chrono_literals;

TEST(ShiftedClock, IsTheSystemsTimeUntilItIsMovedAhead) {
  ShiftedClock clock;
  const TimePoint before = system_clock().now();
  const TimePoint seen = clock.now();
  EXPECT_GE(seen, before);
  EXPECT_LE(seen, system_clock().now());
  const TimePoint later = add(clock.now(), 30min);
  EXPECT_GT(clock.sleep_until(later), Duration(29min));

  int told = 0;
  const Subscription listener = clock.on_advance([&told] { ++told; });
  clock.shift(1h);
  EXPECT_EQ(told, 1);
  EXPECT_GE(clock.now(), add(before, 1h));
  EXPECT_EQ(clock.sleep_until(later), Duration(0)) << "its time has come";
}

}  // namespace
}  // namespace perdure::bench
