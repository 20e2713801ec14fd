#include "runtime/forced_exit.h"

#include <future>
#include <memory>

#include <gtest/gtest.h>

#include "base/clock.h"

namespace perdure::test::forced_exit_test {

namespace {

using namespace std::chrono_literals;
using runtime::ForcedExit;

TEST(ForcedExit, ActsWhenItsTimeIsOverAndNotBefore) {
  std::promise<std::chrono::steady_clock::time_point> acted;
  const auto begin = steady_now();
  const ForcedExit exit(100ms, [&] { acted.set_value(steady_now()); });
  EXPECT_GE(acted.get_future().get() - begin, 100ms);
}

TEST(ForcedExit, DoesNotActWhenItIsDestroyedBefore) {
  bool acted = false;
  {
    const ForcedExit exit(1h, [&] { acted = true; });
  }
  EXPECT_FALSE(acted) << "its thread has ended";
}

TEST(ForcedExit, NeverActsWithATimeOfZero) {
  const auto used = std::make_shared<int>(1);
  const ForcedExit exit(0s, [used] { ADD_FAILURE(); });
  EXPECT_EQ(used.use_count(), 1) << "nobody is left who could";
}

}  // namespace

}  // namespace perdure::test::forced_exit_test
