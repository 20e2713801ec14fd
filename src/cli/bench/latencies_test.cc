#include "cli/bench/latencies.h"

#include <gtest/gtest.h>

namespace perdure::bench {
namespace {

using namespace std::chrono_literals;

TEST(Latencies, TellPercentilesInMilliseconds) {
  Latencies latencies;
  for (int i = 100; i >= 1; --i) latencies.add(i * 1ms);
  EXPECT_EQ(latencies.count(), 100);
  EXPECT_EQ(latencies.percentile(0.5), 50);
  EXPECT_EQ(latencies.percentile(0.99), 99);
  EXPECT_EQ(latencies.percentile(0.991), 100);
  EXPECT_EQ(latencies.percentile(0.001), 1);
  EXPECT_EQ(latencies.max(), 100);
}

TEST(Latencies, OfOneOrNoCall) {
  Latencies latencies;
  EXPECT_EQ(latencies.percentile(0.5), 0);
  EXPECT_EQ(latencies.max(), 0);
  latencies.add(1500us);
  EXPECT_EQ(latencies.percentile(0.01), 1.5);
  EXPECT_EQ(latencies.percentile(0.99), 1.5);
}

TEST(Latencies, AreAddedUp) {
  Latencies one;
  one.add(1ms);
  Latencies other;
  other.add(3ms);
  other.add(2ms);
  one.add(other);
  EXPECT_EQ(one.count(), 3);
  EXPECT_EQ(one.percentile(0.5), 2);
  EXPECT_EQ(one.max(), 3);
}

}  // namespace
}  // namespace perdure::bench
