#include "runtime/own_time.h"

#include <gtest/gtest.h>

namespace perdure::runtime {

namespace {

using namespace std::chrono_literals;

/// A thread as one sees it from outside, at times counted from the begin of its first piece.
class OwnTimeTest : public ::testing::Test {
 protected:
  /// A look that came in time, `at` after the begin.
  std::chrono::nanoseconds look(std::chrono::milliseconds at, ThreadTimes times = {}) {
    return time_.at({piece_, begin_ + since_, begin_ + at, begin_ + at, times});
  }
  std::chrono::nanoseconds late_look(std::chrono::milliseconds meant,
                                     std::chrono::milliseconds at,
                                     ThreadTimes times = {}) {
    return time_.at({piece_, begin_ + since_, begin_ + meant, begin_ + at, times});
  }

  const OwnTime::Clock::time_point begin_ = OwnTime::Clock::time_point(1h);
  std::size_t piece_ = 0;
  std::chrono::milliseconds since_{0};
  OwnTime time_;
};

TEST_F(OwnTimeTest, IsRealTimeWhenNothingIsInTheWay) {
  EXPECT_EQ(look(10ms), 10ms);
  EXPECT_EQ(look(250ms), 250ms);
}

TEST_F(OwnTimeTest, BeginsAnewWithEachPiece) {
  look(100ms);
  piece_ = 1;
  since_ = 130ms;
  EXPECT_EQ(look(200ms), 70ms);
  EXPECT_EQ(look(300ms), 170ms);
}

TEST_F(OwnTimeTest, LeavesOutTheWaitForAProcessor) {
  look(10ms);
  EXPECT_EQ(look(1010ms, {.running = 100ms, .starved = 900ms}), 110ms);
  EXPECT_EQ(look(2010ms, {.running = 300ms, .starved = 1700ms}), 310ms);
}

TEST_F(OwnTimeTest, DoesNotCountTheFirstLookOfAThreadThatWasStarvedBefore) {
  EXPECT_EQ(look(10ms, {.starved = 5min}), 0ms);
  EXPECT_EQ(look(50ms, {.starved = 5min}), 40ms);
}

TEST_F(OwnTimeTest, BecomesLessWhenAWaitIsToldLater) {
  look(10ms);
  EXPECT_EQ(look(510ms), 510ms);
  EXPECT_EQ(look(511ms, {.starved = 400ms}), 111ms);
  EXPECT_EQ(look(512ms, {.starved = 9s}), 0ms) << "never less than nothing";
}

TEST_F(OwnTimeTest, LeavesOutWhatStoppedTheWholeProcess) {
  look(10ms);
  EXPECT_EQ(late_look(20ms, 60s), 20ms);
  EXPECT_EQ(look(60s + 10ms), 30ms);
}

TEST_F(OwnTimeTest, LeavesOutTheSameTimeOnce) {
  look(10ms);
  EXPECT_EQ(late_look(100ms, 150ms, {.starved = 80ms}), 70ms);
}

TEST_F(OwnTimeTest, TellsABusyThreadFromABlockedOne) {
  look(10ms, {.running = 7s});
  look(110ms, {.running = 7s});
  EXPECT_FALSE(time_.is_busy());
  look(410ms, {.running = 7s + 290ms});
  EXPECT_TRUE(time_.is_busy());
}

TEST_F(OwnTimeTest, CanBeForgiven) {
  look(500ms);
  time_.forgive();
  EXPECT_EQ(look(600ms), 100ms);
}

}  // namespace

}  // namespace perdure::runtime
