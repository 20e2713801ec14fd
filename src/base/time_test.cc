#include "base/time.h"

#include <limits>

#include <gtest/gtest.h>

namespace perdure {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST(Time, ReadsBackFromItsMicroseconds) {
  for (const std::int64_t micros : {std::int64_t{0}, std::int64_t{-1}, to_micros(kForever)}) {
    EXPECT_EQ(to_micros(time_from_micros(micros)), micros);
  }
  EXPECT_EQ(to_micros(seconds(2)), 2'000'000);
}

TEST(Time, AddsDurations) {
  EXPECT_EQ(add(time_from_micros(5), Duration(7)), time_from_micros(12));
  EXPECT_EQ(add(time_from_micros(5), Duration(-7)), time_from_micros(-2));
}

TEST(Time, AddingNeverOverflows) {
  EXPECT_EQ(add(kForever, hours(1)), kForever);
  EXPECT_EQ(add(time_from_micros(1), Duration::max()), kForever);
  EXPECT_EQ(add(TimePoint::max(), Duration::max()), kForever);
  EXPECT_EQ(add(TimePoint::min(), Duration::min()), time_from_micros(-to_micros(kForever)));
  EXPECT_EQ(add(kForever, Duration::min()), time_from_micros(0));
  static_assert(add(kForever, Duration::max()) == kForever);
}

TEST(Time, PrintsIsoInUtcWithMicroseconds) {
  EXPECT_EQ(to_string(time_from_micros(0)), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(to_string(time_from_micros(-1)), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(to_string(time_from_micros(1'767'225'600'000'001)), "2026-01-01T00:00:00.000001Z");
  EXPECT_EQ(to_string(time_from_micros(1'709'210'096'789'012)), "2024-02-29T12:34:56.789012Z");
  EXPECT_EQ(to_string(time_from_micros(-62'135'596'800'000'000)), "0001-01-01T00:00:00.000000Z");
}

TEST(Time, PrintsDatesLikeTheStandardCalendar) {
  using std::chrono::day;
  using std::chrono::sys_days;
  using std::chrono::year;
  for (const int y : {1600, 1900, 1999, 2000, 2023, 2024, 2100, 9999}) {
    for (auto date = sys_days(year(y) / 1 / 1); date < sys_days(year(y + 1) / 1 / 1);
         date += std::chrono::days(1)) {
      const std::chrono::year_month_day calendar(date);
      char expected[64];
      std::snprintf(expected,
                    sizeof expected,
                    "%04d-%02u-%02uT00:00:00.000000Z",
                    static_cast<int>(calendar.year()),
                    static_cast<unsigned>(calendar.month()),
                    static_cast<unsigned>(calendar.day()));
      ASSERT_EQ(to_string(TimePoint(date)), expected);
    }
  }
}

TEST(Time, PrintsTheFarFuture) {
  EXPECT_EQ(to_string(kForever), "forever");
  EXPECT_EQ(to_string(TimePoint::max()), "forever");
  EXPECT_EQ(to_string(kForever - Duration(1)), "148108-07-06T14:00:27.387903Z");
}

}  // namespace
}  // namespace perdure
