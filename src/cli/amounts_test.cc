#include "cli/amounts.h"

#include <gtest/gtest.h>

namespace perdure::cli {
namespace {

using namespace std::chrono_literals;

TEST(Amounts, OfTimeAreInTheLargestUnitThatIsExact) {
  EXPECT_EQ(time_amount(0s), "0");
  EXPECT_EQ(time_amount(7us), "7 us");
  EXPECT_EQ(time_amount(100ms), "100 ms");
  EXPECT_EQ(time_amount(1'500ms), "1,500 ms");
  EXPECT_EQ(time_amount(30s), "30 s");
  EXPECT_EQ(time_amount(60s), "1 min");
  EXPECT_EQ(time_amount(90s), "90 s");
  EXPECT_EQ(time_amount(1h), "1 h");
  EXPECT_EQ(time_amount(24h * 365), "365 d");
}

TEST(Amounts, OfBytesAreInTheLargestUnitThatIsExact) {
  EXPECT_EQ(byte_amount(0), "0");
  EXPECT_EQ(byte_amount(1), "1 B");
  EXPECT_EQ(byte_amount(1'025), "1,025 B");
  EXPECT_EQ(byte_amount(std::size_t{3} << 10U), "3 KiB");
  EXPECT_EQ(byte_amount(std::size_t{256} << 20U), "256 MiB");
  EXPECT_EQ(byte_amount(std::size_t{1} << 40U), "1,024 GiB");
}

TEST(Amounts, OfThingsHaveTheirThousandsApart) {
  EXPECT_EQ(count_amount(0), "0");
  EXPECT_EQ(count_amount(999), "999");
  EXPECT_EQ(count_amount(1'000), "1,000");
  EXPECT_EQ(count_amount(1'234'567), "1,234,567");
}

}  // namespace
}  // namespace perdure::cli
