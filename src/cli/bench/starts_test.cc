#include "cli/bench/starts.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/clock.h"

namespace perdure::bench {
namespace {

using namespace std::chrono_literals;

TEST(Starts, CountsHandlersOnceAndThoseThatBeganAgain) {
  Starts starts(3);
  EXPECT_FALSE(starts.first_at().has_value());
  starts.note(2);
  starts.note(0);
  starts.note(2);
  starts.note(2);
  EXPECT_EQ(starts.begun(), 2);
  EXPECT_EQ(starts.begun_again(), 1);
  EXPECT_FALSE(starts.wait_for(3, 1ms).has_value());
}

TEST(Starts, TellsWhenTheLastOfThoseThatAreWaitedForBegan) {
  Starts starts(2);
  starts.note(0);
  const auto before = steady_now();
  const std::jthread handler([&starts] { starts.note(1); });
  const auto last = starts.wait_for(2, 60s);
  ASSERT_TRUE(last.has_value());
  EXPECT_GE(*last, before);
  EXPECT_LE(*starts.first_at(), before);
  starts.note(1);
  EXPECT_EQ(starts.wait_for(2, 60s), last) << "a second start of the same handler";
}

}  // namespace
}  // namespace perdure::bench
