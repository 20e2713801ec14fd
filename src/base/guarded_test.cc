#include "base/guarded.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace perdure {
namespace {

TEST(Guarded, BuildsItsDataFromTheArguments) {
  const Guarded<std::string> text(3, 'x');
  EXPECT_EQ(text.with([](const std::string& data) { return data; }), "xxx");
  const Guarded<std::vector<int>> empty;
  EXPECT_TRUE(empty.with([](const std::vector<int>& data) { return data.empty(); }));
}

TEST(Guarded, GivesAwayWhatTheCallableTakes) {
  Guarded<std::vector<int>> queue(std::vector{1, 2});
  const auto taken = queue.with([](std::vector<int>& ids) { return std::exchange(ids, {}); });
  EXPECT_EQ(taken, (std::vector{1, 2}));
  EXPECT_TRUE(queue.with([](std::vector<int>& ids) { return ids.empty(); }));
}

TEST(Guarded, HoldsDataThatCannotMove) {
  struct Pinned {
    std::mutex unmovable;
    int number = 4;
  };
  Guarded<Pinned> pinned;
  EXPECT_EQ(pinned.with([](Pinned& data) { return data.number; }), 4);
}

TEST(Guarded, ReleasesTheLockWhenTheCallableThrows) {
  Guarded<int> number(1);
  EXPECT_THROW(number.with([](int&) -> void { throw std::string("no"); }), std::string);
  EXPECT_EQ(number.with([](int& data) { return data; }), 1);
}

TEST(Guarded, LetsOneThreadInAtATime) {
  constexpr int kEach = 5'000;
  Guarded<int> count(0);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kEach; ++i) count.with([](int& data) { ++data; });
      });
    }
  }
  EXPECT_EQ(count.with([](int& data) { return data; }), 2 * kEach);
}

}  // namespace
}  // namespace perdure
