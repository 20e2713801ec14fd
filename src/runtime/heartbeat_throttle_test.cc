#include "runtime/heartbeat_throttle.h"

#include <gtest/gtest.h>

namespace perdure::runtime {

namespace {

using namespace std::chrono_literals;

TEST(HeartbeatThrottle, IsFourFifthsOfTheTimeout) {
  const HeartbeatThrottle throttle;
  EXPECT_EQ(throttle.interval(10s), 8s);
  EXPECT_EQ(throttle.interval(1ms), 800us) << "also of a short one";
}

TEST(HeartbeatThrottle, IsTheStandardWithoutOne) {
  EXPECT_EQ(HeartbeatThrottle{}.interval(0s), 30s);
  EXPECT_EQ((HeartbeatThrottle{.standard = 7s}).interval(0s), 7s);
}

TEST(HeartbeatThrottle, IsNeverLongerThanTheLongest) {
  EXPECT_EQ(HeartbeatThrottle{}.interval(75s), 60s);
  EXPECT_EQ(HeartbeatThrottle{}.interval(76s), 60s);
  EXPECT_EQ(HeartbeatThrottle{}.interval(Duration::max()), 60s);
  const HeartbeatThrottle shorter{.standard = 7s, .longest = 5s};
  EXPECT_EQ(shorter.interval(0s), 5s) << "not even the standard";
  EXPECT_EQ(shorter.interval(10s), 5s);
}

}  // namespace

}  // namespace perdure::runtime
