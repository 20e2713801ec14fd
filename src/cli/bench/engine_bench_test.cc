#include "cli/bench/engine_bench.h"

#include <filesystem>
#include <stdexcept>

#include <gtest/gtest.h>

#include <perdure/perdure.h>

#include "tests/support/temp_dir.h"

namespace perdure::bench {
namespace {

using namespace std::chrono_literals;

constexpr Activity<int(int)> increment{"increment"};
constexpr Orchestration<int(int)> once{"once"};

Registry make_registry() {
  Registry registry;
  registry.add(increment, [](int value) { return value + 1; });
  registry.add(once, [](OrchestrationContext& ctx, int value) -> Task<int> {
    co_return co_await ctx.call(increment, value);
  });
  return registry;
}

class EngineBenchTest : public ::testing::Test {
 protected:
  Result<Report> run(const std::function<Status(EngineBench&)>& measure) {
    return run_engine_bench("hello", options_, progress_, measure);
  }
  bool nothing_left() const { return std::filesystem::is_empty(dir_.path()); }

  support::TempDir dir_;
  Options options_{.provider = "sqlite:" + dir_.file("bench.db") + "?durability=relaxed",
                   .workers = 3,
                   .activity_time = 7ms};
  Progress progress_;
};

TEST_F(EngineBenchTest, RunsOrchestrationsAndRemovesTheStore) {
  const auto report = run([](EngineBench& bench) -> Status {
    EXPECT_EQ(bench.runtime_options().max_concurrent_activities, 3);
    EXPECT_EQ(bench.url(), bench.options().provider);
    bench.run(make_registry(), bench.runtime_options());
    EXPECT_EQ(bench.client().start(once, "a", 41).wait(60s), 42);
    bench.close();
    EXPECT_TRUE(std::filesystem::exists(bench.path()));
    bench.report().completed = 1;
    return {};
  });
  ASSERT_TRUE(report.ok()) << report;
  EXPECT_EQ(report->workload, "hello");
  EXPECT_EQ(report->provider, "sqlite");
  EXPECT_EQ(report->durability, "relaxed");
  EXPECT_EQ(report->activity_ms, 7);
  EXPECT_EQ(report->completed, 1);
  EXPECT_TRUE(nothing_left());
}

TEST_F(EngineBenchTest, AnswersWhatWasThrownAndRemovesTheStore) {
  const auto report = run([](EngineBench& bench) -> Status {
    bench.run(make_registry(), bench.runtime_options());
    bench.client().start(once, "a", 41);
    throw std::runtime_error("no more");
  });
  EXPECT_EQ(report.code(), ErrorCode::kUnavailable);
  EXPECT_EQ(report.error().message, "no more");
  EXPECT_TRUE(nothing_left());
}

TEST_F(EngineBenchTest, AnswersAnError) {
  const auto report = run([](EngineBench&) -> Status { return conflict("not now"); });
  EXPECT_EQ(report.code(), ErrorCode::kConflict);
  EXPECT_TRUE(nothing_left());
}

TEST_F(EngineBenchTest, RefusesWhatIsNoFile) {
  options_.provider = "sqlite::memory:";
  const auto report = run([](EngineBench&) -> Status { return {}; });
  EXPECT_EQ(report.code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace perdure::bench
