#include "cli/bench/soak_plan.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

namespace perdure::bench::soak_plan_test {
namespace {

using Kind = SoakDeed::Kind;

constexpr std::size_t kTrees = 200;

std::vector<SoakDeed> plan_of(std::uint64_t seed) {
  SeededRandom random(seed);
  return plan_batch(kTrees, random);
}

auto parts_of(const SoakDeed& deed) {
  return std::tuple(deed.kind, deed.tree, deed.at, deed.luck);
}

bool are_same(const std::vector<SoakDeed>& one, const std::vector<SoakDeed>& other) {
  return std::equal(
      one.begin(), one.end(), other.begin(), other.end(), [](const SoakDeed& a, const SoakDeed& b) {
        return parts_of(a) == parts_of(b);
      });
}

TEST(PlanOfRandomCancels, IsTheSameForTheSameSeed) {
  EXPECT_TRUE(are_same(plan_of(7), plan_of(7)));
  EXPECT_FALSE(are_same(plan_of(7), plan_of(8)));
}

TEST(PlanOfRandomCancels, StartsEachTreeOnceBeforeAnythingElseIsDoneToIt) {
  std::map<std::size_t, int> starts;
  for (const SoakDeed& deed : plan_of(7)) {
    if (deed.kind == Kind::kStart) {
      ++starts[deed.tree];
    } else {
      EXPECT_EQ(starts[deed.tree], 1);
    }
  }
  EXPECT_EQ(starts.size(), kTrees);
  for (const auto& [tree, count] : starts) EXPECT_EQ(count, 1) << tree;
}

TEST(PlanOfRandomCancels, GoesByTimeAndHasEveryKind) {
  const auto plan = plan_of(7);
  std::map<Kind, int> kinds;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    ++kinds[plan[i].kind];
    EXPECT_LE(plan[i == 0 ? 0 : i - 1].at, plan[i].at);
  }
  EXPECT_EQ(kinds.size(), 4U);
  EXPECT_LT(kinds[Kind::kDelete], kinds[Kind::kCancelRoot]);
}

}  // namespace
}  // namespace perdure::bench::soak_plan_test
