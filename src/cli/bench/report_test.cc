#include "cli/bench/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/bench/rate.h"

namespace perdure::bench {
namespace {

Report report_of(double one, double eight, double plain) {
  Report report;
  report.workload = "provider";
  report.provider = "sqlite";
  report.durability = "full";
  report.seconds = 2;
  report.completed = 10;
  report.figures = {{.key = "turns_per_s", .values = {{"1", one}, {"8", eight}}},
                    single("commit_p50_ms", plain),
                    {.key = "for_people", .values = {{"8", 2}}, .for_people_only = true}};
  return report;
}

TEST(Median, IsTheMiddleOrTheMeanOfBoth) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

TEST(Report, BecomesOneObject) {
  const auto json = nlohmann::json::parse(to_json(report_of(1'234.5678, 2, 0.0123456789), 1));
  EXPECT_EQ(json["workload"], "provider");
  EXPECT_EQ(json["processes"], 1);
  EXPECT_EQ(json["turns_per_s"], (nlohmann::json{{"1", 1'234.57}, {"8", 2.0}}));
  EXPECT_EQ(json["commit_p50_ms"], 0.0123457);
  EXPECT_FALSE(json.contains("for_people"));
  EXPECT_FALSE(json.contains("spread"));
}

TEST(Report, ShowsAListAsAnArray) {
  Report report = report_of(1, 2, 3);
  report.figures.push_back(
      {.key = "by_decile", .values = {{.number = 1.5}, {.number = 2}}, .list = true});
  const auto json = nlohmann::json::parse(to_json(report, 1));
  EXPECT_EQ(json["by_decile"], (nlohmann::json{1.5, 2.0}));
}

TEST(Report, OfSeveralRunsHasMediansAndTheirSpread) {
  const Report merged = merge({report_of(1, 8, 5), report_of(3, 9, 5), report_of(2, 7, 5)});
  EXPECT_EQ(merged.seconds, 6);
  EXPECT_EQ(merged.completed, 30);
  const auto json = nlohmann::json::parse(to_json(merged, 3));
  EXPECT_EQ(json["turns_per_s"], (nlohmann::json{{"1", 2.0}, {"8", 8.0}}));
  EXPECT_EQ(json["spread"]["turns_per_s"]["8"], (nlohmann::json{7.0, 9.0}));
  EXPECT_EQ(json["spread"]["commit_p50_ms"], (nlohmann::json{5.0, 5.0}));
  EXPECT_THAT(to_table(merged, 3), ::testing::HasSubstr("8: 8.00 (7.00..9.00)"));
}

TEST(Report, OfSeveralRunsAddsUpWhatWasWrong) {
  std::vector<Report> runs(3, report_of(1, 2, 3));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].figures.push_back(count_of_wrong("lost", i == 1 ? 2 : 0));
  }
  EXPECT_EQ(nlohmann::json::parse(to_json(merge(runs), 3))["lost"], 2);
}

TEST(Report, ShowsCountsAndNamesWithAllTheirDigits) {
  Report report = report_of(1, 2, 3);
  report.figures.push_back(exact_count("cancels", 1'234'567));
  report.figures.push_back(identity("seed", 987'654'321));
  const auto json = nlohmann::json::parse(to_json(report, 1));
  EXPECT_EQ(json["cancels"].dump(), "1234567");
  EXPECT_EQ(json["seed"].dump(), "987654321");
  const std::string table = to_table(report, 1);
  EXPECT_THAT(table, ::testing::ContainsRegex("cancels +1,234,567\n"));
  EXPECT_THAT(table, ::testing::ContainsRegex("seed +987654321\n"));
}

TEST(Report, OfSeveralRunsIsNamedAfterTheFirst) {
  std::vector<Report> runs(3, report_of(1, 2, 3));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].figures.push_back(identity("seed", 40 + static_cast<std::int64_t>(i)));
  }
  const auto json = nlohmann::json::parse(to_json(merge(runs), 3));
  EXPECT_EQ(json["seed"], 40);
  EXPECT_EQ(json["spread"]["seed"], (nlohmann::json{40, 42}));
}

TEST(Report, ShowsTheFirstProblemsAndCountsAll) {
  Report report = report_of(1'234'567, 12.34, 0.5);
  for (int i = 0; i < 100; ++i) report.fail("row " + std::to_string(i));
  const std::string table = to_table(report, 1);
  EXPECT_THAT(table, ::testing::HasSubstr("1: 1,234,567"));
  EXPECT_THAT(table, ::testing::HasSubstr("8: 12.3"));
  EXPECT_THAT(table, ::testing::HasSubstr("wrong: row 0"));
  EXPECT_THAT(table, ::testing::ContainsRegex("failed +100\n"));
  EXPECT_THAT(table, ::testing::Not(::testing::HasSubstr("row 99")));
  EXPECT_EQ(nlohmann::json::parse(to_json(report, 1))["failed"], 100);
}

}  // namespace
}  // namespace perdure::bench
