#include "cli/bench/soak_workload.h"

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>

#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/support/temp_dir.h"

#if defined(__SANITIZE_THREAD__)
#define PERDURE_RANDOM_CANCELS 500
#else
#define PERDURE_RANDOM_CANCELS 2'000
#endif

namespace perdure::bench::soak_workload_test {
namespace {

std::map<std::string, double> figures_of(const Report& report) {
  std::map<std::string, double> figures;
  for (const Figure& figure : report.figures) {
    figures[figure.key] = figure.values.front().number;
  }
  return figures;
}

TEST(RandomCancels, LeaveNothingRunningAndAcceptNothingLate) {
  const support::TempDir dir;
  const auto seed = static_cast<std::int64_t>(SystemRandom().next() % 1'000'000'000);
  std::cout << "seed " << seed << std::endl;  // now: a hang or an abort tells nothing afterwards
  Options options{.provider = "sqlite:" + dir.file("bench.db"),
                  .cancels = PERDURE_RANDOM_CANCELS,
                  .seed = seed};
  Progress progress;
  const auto report = run_soak(options, progress);
  ASSERT_TRUE(report.ok()) << report;
  EXPECT_EQ(report->failed, 0) << to_table(*report, 1);
  auto figures = figures_of(*report);
  EXPECT_EQ(figures["cancels"], PERDURE_RANDOM_CANCELS);
  EXPECT_EQ(figures["violations"], 0);
  EXPECT_EQ(figures["seed"], seed);
  // All that shall race with the cancels did.
  for (const char* key : {"runs_completed",
                          "runs_failed",
                          "runs_canceled",
                          "continued_as_new",
                          "calls_timed_out",
                          "calls_undone",
                          "trees_deleted"}) {
    EXPECT_GT(figures[key], 0) << key << " of the seed " << figures["seed"];
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(RandomCancels, AreAsManyAsAskedForAndTellTheirSeed) {
  const support::TempDir dir;
  Options options{.provider = "sqlite:" + dir.file("bench.db") + "?durability=relaxed",
                  .cancels = 3,
                  .seed = 123'456'789,
                  .workers = 5};
  Progress progress;
  const auto report = run_soak(options, progress);
  ASSERT_TRUE(report.ok()) << report;
  EXPECT_EQ(report->failed, 0) << to_table(*report, 1);
  auto figures = figures_of(*report);
  EXPECT_EQ(figures["cancels"], 3);
  EXPECT_EQ(figures["seed"], 123'456'789);
  EXPECT_GE(report->completed, 3);
}

}  // namespace
}  // namespace perdure::bench::soak_workload_test
