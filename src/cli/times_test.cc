#include "cli/times.h"

#include <gtest/gtest.h>

#include <perdure/errors.h>

namespace perdure::cli {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kNow = time_from_micros(1'794'809'650'000'000);  // 2026-11-16T06:14:10Z

TEST(Durations, AreAWholeNumberAndAUnit) {
  EXPECT_EQ(parse_duration("--timeout", "0s"), 0s);
  EXPECT_EQ(parse_duration("--timeout", "500ms"), 500ms);
  EXPECT_EQ(parse_duration("--timeout", "30s"), 30s);
  EXPECT_EQ(parse_duration("--timeout", "5m"), 5min);
  EXPECT_EQ(parse_duration("--timeout", "2h"), 2h);
  EXPECT_EQ(parse_duration("--timeout", "365d"), 365 * 24h);
}

TEST(Durations, OfOtherFormsAreRefusedByName) {
  for (const char* text : {"",
                           "5",
                           "s",
                           "-5s",
                           "+5s",
                           "1.5s",
                           " 5s",
                           "5 s",
                           "5sec",
                           "5S",
                           "366d",
                           "9223372036854775807d",
                           "99999999999999999999s",
                           "0x5s"}) {
    try {
      parse_duration("--timeout", text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(std::string(error.what()).find("--timeout: '" + std::string(text) + "' is no"), 0U);
    }
  }
}

TEST(Moments, AreAgesOrTimes) {
  EXPECT_EQ(parse_moment("--since", "2h", kNow), kNow - 2h);
  EXPECT_EQ(parse_moment("--since", "2026-11-16T06:14:10Z", kNow), kNow);
  EXPECT_EQ(parse_moment("--since", "2026-11-16 06:14Z", kNow), kNow - 10s);
  EXPECT_EQ(parse_moment("--since", "2026-11-16Z", kNow), kNow - 6h - 14min - 10s);
}

TEST(Moments, InLocalTimeReadBackAsTheyArePrinted) {
  EXPECT_EQ(parse_moment("--since", local_time(kNow), kNow), kNow);
}

TEST(Moments, OfOtherFormsAreRefusedByName) {
  for (const char* text : {"yesterday",
                           "2026-11",
                           "2026-02-30",
                           "2026-11-16T25:00",
                           "Z",
                           "",
                           "2026-11-16T06:14:10X",
                           "16.11.2026"}) {
    EXPECT_THROW(parse_moment("--since", text, kNow), InvalidArgument) << text;
  }
}

TEST(Ages, NameTheLargestUnit) {
  EXPECT_EQ(age(kNow, kNow), "now");
  EXPECT_EQ(age(kNow - 59s, kNow), "59s ago");
  EXPECT_EQ(age(kNow - 60s, kNow), "1m ago");
  EXPECT_EQ(age(kNow - 119min, kNow), "1h ago");
  EXPECT_EQ(age(kNow - 50h, kNow), "2d ago");
  EXPECT_EQ(age(kNow + 5min, kNow), "in 5m");
}

TEST(Spans, HaveTwoUnits) {
  EXPECT_EQ(span(0us), "0ms");
  EXPECT_EQ(span(12'345us), "12ms");
  EXPECT_EQ(span(3'456ms), "3.4s");
  EXPECT_EQ(span(184s), "3m 4s");
  EXPECT_EQ(span(125min), "2h 5m");
  EXPECT_EQ(span(76h), "3d 4h");
}

}  // namespace
}  // namespace perdure::cli
