#include "cli/bench/in_threads.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace perdure::bench {
namespace {

TEST(InThreads, CallsEachNumberOnce) {
  std::vector<std::atomic<int>> calls(100);
  in_threads(7, 10, 100, [&calls](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
  for (std::size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(calls[i], i < 10 ? 0 : 1) << i;
}

TEST(InThreads, ThrowsTheFirstErrorOnAndBeginsNoFurtherCall) {
  std::atomic<int> calls{0};
  const auto run = [&calls] {
    in_threads(1, 0, 100, [&calls](std::int64_t i) {
      ++calls;
      if (i == 3) throw std::runtime_error("three");
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_EQ(calls, 4);
}

}  // namespace
}  // namespace perdure::bench
