#include "model/work_item.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

TEST(WorkItem, CountsEveryEarlierClaimAsAnAttempt) {
  WorkItem item;
  EXPECT_EQ(item.attempt(), 1);
  item.failures = 2;
  item.losses = 3;
  item.deferrals = 4;
  EXPECT_EQ(item.attempt(), 10);
}

}  // namespace
}  // namespace perdure
