#include "runtime/zombie_reaper.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"

namespace perdure::test::zombie_reaper_test {

namespace {

using namespace std::chrono_literals;
using runtime::Stray;
using runtime::ZombieCount;
using runtime::ZombieReaper;

class Reaper : public ::testing::Test {
 protected:
  Stray stray() const {
    Stray stray;
    stray.count = queue_;
    stray.what = [] { return std::string("a test"); };
    return stray;
  }
  ZombieReaper::Id watch() { return reaper_.watch(stray(), begin_); }
  /// When the next thing is due, in seconds after the begin; -1: never.
  double poll(std::chrono::milliseconds after) {
    const auto next = reaper_.poll_once(begin_ + after);
    return next ? std::chrono::duration<double>(*next - begin_).count() : -1;
  }

  const ZombieReaper::Time begin_ = steady_now();
  const std::shared_ptr<ZombieCount> queue_ = std::make_shared<ZombieCount>(0);
  ZombieReaper reaper_;
};

TEST_F(Reaper, TriesAgainAfterIntervalsThatDoubleUpToTheLongest) {
  watch();
  std::vector<double> tries;
  for (double next = poll(0ms); tries.size() < 10; next = poll(std::chrono::milliseconds(
                                                       static_cast<int>(next * 1'000)))) {
    if (next != 10) tries.push_back(next);  // there it becomes a zombie
  }
  EXPECT_EQ(tries, (std::vector<double>{1, 3, 7, 15, 31, 63, 123, 183, 243, 303}));
}

TEST_F(Reaper, CountsAfterTheGraceAndNotBefore) {
  watch();
  poll(9'999ms);
  EXPECT_EQ(reaper_.count(), 0U);
  poll(10s);
  EXPECT_EQ(reaper_.count(), 1U);
  EXPECT_EQ(*queue_, 1);
  poll(60s);
  EXPECT_EQ(reaper_.count(), 1U) << "once";
}

TEST_F(Reaper, ForgetsOneThatReturnsInTime) {
  reaper_.returned(watch());
  poll(10s);
  EXPECT_EQ(reaper_.count(), 0U);
  EXPECT_EQ(poll(20s), -1) << "nothing is left to do";
}

TEST_F(Reaper, DoesNotCountOneAnyMoreThatReturns) {
  const ZombieReaper::Id id = watch();
  poll(10s);
  reaper_.returned(id);
  EXPECT_EQ(reaper_.count(), 0U);
  EXPECT_EQ(*queue_, 0);
  EXPECT_TRUE(reaper_.wait_until_none({queue_}, steady_now()));
}

TEST_F(Reaper, CountsOneThatWasGivenUpForEver) {
  const ZombieReaper::Id id = watch();
  EXPECT_EQ(poll(1h), -1) << "it is left to itself";
  EXPECT_EQ(reaper_.count(), 1U);
  reaper_.returned(id);
  EXPECT_EQ(reaper_.count(), 1U);
  EXPECT_FALSE(reaper_.wait_until_none({queue_}, steady_now()));
}

TEST_F(Reaper, TellsThoseWhoListenOfEachThatComes) {
  std::vector<std::size_t> heard;
  watch();
  poll(10s);
  {
    const ZombieReaper::Listening listening(reaper_, [&](std::size_t count) {
      heard.push_back(count);
    });
    watch();
    poll(10s);
    watch();
    poll(10s);
  }
  watch();
  poll(10s);
  EXPECT_EQ(heard, (std::vector<std::size_t>{1, 2, 3}));
}

TEST_F(Reaper, IsWokenByWhatIsEarlierThanAllElse) {
  const auto far = reaper_.poll_once(begin_);
  EXPECT_FALSE(far);
  watch();
  reaper_.wait(begin_ + 1h);  // returns at once
  EXPECT_EQ(poll(0ms), 1);
}

}  // namespace

}  // namespace perdure::test::zombie_reaper_test
