#include "base/time.h"

#include <array>
#include <cstdio>

namespace perdure {

namespace {

struct Date {
  std::int64_t year;
  int month;
  int day;
};

// std::chrono::year holds 16 bits, and a TimePoint may lie 146,000 years away. This is the usual
// conversion over eras of 400 years that begin on March 1st, so that leap days come last.
Date date_of(std::int64_t days_since_1970) {
  const std::int64_t days = days_since_1970 + 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const auto day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  const auto month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

}  // namespace

std::string to_string(TimePoint time) {
  if (time >= kForever) return "forever";
  const auto days = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::hh_mm_ss<Duration> of_day{time - days};
  const Date date = date_of(days.time_since_epoch().count());
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(),
                                   text.size(),
                                   "%04lld-%02d-%02dT%02d:%02d:%02d.%06dZ",
                                   static_cast<long long>(date.year),
                                   date.month,
                                   date.day,
                                   static_cast<int>(of_day.hours().count()),
                                   static_cast<int>(of_day.minutes().count()),
                                   static_cast<int>(of_day.seconds().count()),
                                   static_cast<int>(of_day.subseconds().count()));
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace perdure
