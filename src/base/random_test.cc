#include "base/random.h"

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace perdure {
namespace {

class Constant final : public Random {
 public:
  explicit Constant(std::uint64_t value) : value_(value) {}
  std::uint64_t next() override { return value_; }

 private:
  std::uint64_t value_;
};

TEST(Random, UnitIsAtLeastZeroAndBelowOne) {
  EXPECT_EQ(Constant(0).unit(), 0.0);
  EXPECT_LT(Constant(~std::uint64_t{0}).unit(), 1.0);
  EXPECT_EQ(Constant(std::uint64_t{1} << 63).unit(), 0.5);
}

TEST(SeededRandom, GivesThePinnedNumbersOfItsSeed) {
  SeededRandom random(0);
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafU);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4U);
  EXPECT_EQ(random.next(), 0x06c45d188009454fU);
}

TEST(SeededRandom, DiffersBySeed) {
  EXPECT_NE(SeededRandom(1).next(), SeededRandom(2).next());
}

TEST(SeededRandom, GivesEachNumberToOneThread) {
  constexpr std::size_t kEach = 1'000;
  SeededRandom random(7);
  std::vector<std::vector<std::uint64_t>> got(2);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : got) {
      threads.emplace_back(
          [&] { std::generate_n(std::back_inserter(mine), kEach, [&] { return random.next(); }); });
    }
  }
  std::set<std::uint64_t> all(got[0].begin(), got[0].end());
  all.insert(got[1].begin(), got[1].end());
  std::set<std::uint64_t> expected;
  SeededRandom alone(7);
  for (std::size_t i = 0; i < 2 * kEach; ++i) expected.insert(alone.next());
  EXPECT_EQ(all, expected);
}

TEST(SystemRandom, DiffersFromObjectToObject) {
  SystemRandom first;
  SystemRandom second;
  const std::set<std::uint64_t> numbers{first.next(), first.next(), second.next(), second.next()};
  EXPECT_EQ(numbers.size(), 4U);
}

TEST(SystemBits, AreNeverTheSame) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1'000; ++i) seen.insert(system_bits());
  EXPECT_EQ(seen.size(), 1'000U);
}

TEST(SystemRandom, IsSharedByThreads) {
  SystemRandom random;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1'000; ++i) {
        const double unit = random.unit();
        EXPECT_TRUE(unit >= 0.0 && unit < 1.0);
      }
    });
  }
}

}  // namespace
}  // namespace perdure
