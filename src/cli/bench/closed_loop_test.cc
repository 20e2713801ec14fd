#include "cli/bench/closed_loop.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <perdure/perdure.h>

#include "cli/bench/starters.h"
#include "tests/support/temp_dir.h"

namespace perdure::bench {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr std::int64_t kInFlight = 4;

/// The code of the bench with another activity.
Registry with_activity(std::function<Number(Number)> activity) {
  Registry registry;
  registry.add(kIncrement, std::move(activity));
  registry.add(kFanout, [](OrchestrationContext& ctx, Number value) -> Task<Number> {
    co_return co_await ctx.call(kIncrement, value);
  });
  return registry;
}

class ClosedLoopTest : public ::testing::Test {
 protected:
  Report run(const Registry& code, const LoopedRun& looped) {
    Progress progress;
    const auto report =
        run_engine_bench("fanout", options_, progress, [&](EngineBench& bench) -> Status {
          bench.run(code, bench.runtime_options());
          ClosedLoop loop(bench, looped, kInFlight);
          PERDURE_ASSIGN_OR_RETURN(const auto window, loop.run(1ns));
          EXPECT_GT(window.runs.units, 0);
          EXPECT_GT(window.runs.per_second(), 0);
          EXPECT_EQ(window.latencies.count(), window.runs.units);
          EXPECT_GE(loop.started(), kInFlight + window.runs.units);
          bench.stop();
          loop.check_results();
          started_ = loop.started();
          bench.report().completed = window.runs.units;
          if (bench.report().failed == 0) bench.check_rows(started_, started_ * looped.events());
          return {};
        });
    EXPECT_TRUE(report.ok()) << report;
    return report.ok() ? *report : Report{};
  }

  support::TempDir dir_;
  const Options options_{.provider = "sqlite:" + dir_.file("bench.db")};
  std::int64_t started_ = 0;
};

TEST_F(ClosedLoopTest, RunsOrchestrationsToTheirEnd) {
  for (const LoopedRun& looped : {kFanoutRun, kChainRun}) {
    const Report report = run(make_bench_code(0ms), looped);
    EXPECT_EQ(report.failed, 0) << ::testing::PrintToString(report.problems);
  }
}

TEST_F(ClosedLoopTest, CountsEveryWrongResult) {
  const Report report = run(with_activity([](Number value) { return value; }), kFanoutRun);
  EXPECT_EQ(report.failed, started_);
  ASSERT_FALSE(report.problems.empty());
  EXPECT_EQ(report.problems[0], "run 'fanout-1' gave 1; expected 20");
}

TEST_F(ClosedLoopTest, CountsEveryRunThatDidNotComplete) {
  const auto fail = [](Number) -> Number { throw Failed("broken", "no charge"); };
  const Report report = run(with_activity(fail), kFanoutRun);
  EXPECT_EQ(report.failed, started_);
  ASSERT_FALSE(report.problems.empty());
  EXPECT_THAT(report.problems[0], HasSubstr("run 'fanout-1' is failed"));
  EXPECT_THAT(report.problems[0], HasSubstr("no charge"));
}

TEST_F(ClosedLoopTest, SeesRowsThatShouldNotBeThere) {
  Progress progress;
  const auto report =
      run_engine_bench("fanout", options_, progress, [&](EngineBench& bench) -> Status {
        bench.client().start(kFanout, "not run", 1);
        bench.check_rows(1, 12);
        return {};
      });
  ASSERT_TRUE(report.ok()) << report;
  EXPECT_EQ(report->failed, 1);
  EXPECT_THAT(report->problems.at(0), HasSubstr("1 history rows, 1 messages"));
}

TEST(Starters, MakeAsManyCallsAsTheyMay) {
  std::atomic<int> calls = 0;
  Starters starters(3, [&] { ++calls; });
  starters.allow(1);
  starters.allow(9);
  while (calls < 10) std::this_thread::yield();
  starters.finish();
  EXPECT_EQ(calls, 10);
}

TEST(Starters, TellWhatACallThrew) {
  std::atomic<int> calls = 0;
  Starters starters(1, [&] {
    ++calls;
    throw std::runtime_error("no store");
  });
  starters.allow(5);
  while (calls == 0) std::this_thread::yield();
  EXPECT_THROW(starters.finish(), std::runtime_error);
  EXPECT_THROW(starters.check(), std::runtime_error);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace perdure::bench
