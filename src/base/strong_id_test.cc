#include "base/strong_id.h"

#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_set>

#include <gtest/gtest.h>

namespace perdure {
namespace {

using RunId = StrongId<struct RunIdTag, std::string>;
using StepSeq = StrongId<struct StepSeqTag, std::int64_t>;
using EventSeq = StrongId<struct EventSeqTag, std::int64_t>;

TEST(StrongId, DoesNotMixWithOtherIdsOrBareValues) {
  static_assert(!std::is_convertible_v<StepSeq, EventSeq>);
  static_assert(!std::is_convertible_v<std::int64_t, StepSeq>);
  static_assert(!std::is_convertible_v<StepSeq, std::int64_t>);
}

TEST(StrongId, ComparesByValue) {
  EXPECT_EQ(StepSeq{3}, StepSeq{3});
  EXPECT_NE(StepSeq{3}, StepSeq{4});
  EXPECT_LT(StepSeq{3}, StepSeq{4});
  EXPECT_EQ(StepSeq{}.value, 0);
  EXPECT_LT(RunId{"a"}, RunId{"b"});
}

TEST(StrongId, IsAKeyOfHashedAndOrderedContainers) {
  const std::unordered_set<RunId> hashed{RunId{"a"}, RunId{"b"}, RunId{"a"}};
  EXPECT_EQ(hashed.size(), 2U);
  const std::map<StepSeq, int> ordered{{StepSeq{2}, 20}, {StepSeq{1}, 10}};
  EXPECT_EQ(ordered.begin()->second, 10);
}

TEST(StrongId, PrintsItsValue) {
  std::ostringstream out;
  out << RunId{"order-7"} << '/' << StepSeq{3};
  EXPECT_EQ(out.str(), "order-7/3");
}

}  // namespace
}  // namespace perdure
