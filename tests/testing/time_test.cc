#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <perdure/testing.h>

namespace perdure::test::time_test {

namespace {

using namespace std::chrono_literals;
using perdure::testing::TestOptions;
using perdure::testing::TestRuntime;

inline constexpr Orchestration<std::vector<int>(int)> months{"months"};
inline constexpr Orchestration<int()> caller{"caller"};
inline constexpr Orchestration<std::string()> stuck{"stuck"};
inline constexpr Orchestration<int(int)> restless{"restless"};
inline constexpr Orchestration<std::string()> tidy{"tidy"};
inline constexpr Activity<int()> work{"work"};
inline constexpr Activity<void(int)> forget{"forget"};
inline constexpr Activity<void()> clean_up{"clean_up"};
inline constexpr perdure::Event<int> note{"note"};

Task<std::vector<int>> run_months(OrchestrationContext& ctx, int count) {
  std::vector<int> days;
  const TimePoint began = ctx.now();
  for (int i = 0; i < count; ++i) {
    co_await ctx.timer(30 * 24h);
    days.push_back(static_cast<int>((ctx.now() - began) / 24h));
  }
  co_return days;
}

Task<int> run_caller(OrchestrationContext& ctx) {
  co_return co_await ctx.call(work, {.retry = retry(4, 10s), .timeout = 1h});
}

Task<std::string> run_stuck(OrchestrationContext& ctx) {
  co_await ctx.wait_for(note);
  co_return "never";
}

Task<int> run_restless(OrchestrationContext& ctx, int n) {
  co_await ctx.continue_as_new(restless, n + 1);
  co_return n;
}

Task<void> slow_cleaning(OrchestrationContext& ctx) {
  co_await ctx.timer(10s);
  co_await ctx.call(clean_up);
}

Task<std::string> run_tidy(OrchestrationContext& ctx) {
  auto wait = ctx.wait_for(note);
  auto outcome = co_await wait.outcome();
  auto cleaning = ctx.shield(slow_cleaning(ctx));
  co_await cleaning;
  co_return "clean";
}

Registry clockwork() {
  Registry registry;
  registry.add(months, run_months);
  registry.add(caller, run_caller);
  registry.add(stuck, run_stuck);
  registry.add(restless, run_restless);
  registry.add(tidy, run_tidy);
  registry.add(work, [] { return 1; });
  registry.add(clean_up, [] {});
  return registry;
}

TEST(Time, SkipsMonthsAndStopsAtEachTimer) {
  TestRuntime runtime(clockwork());
  auto run = runtime.start(months, "r", 12);
  runtime.advance(12 * 30 * 24h);
  EXPECT_EQ(run.result(),
            (std::vector<int>{30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 330, 360}));
}

TEST(Time, StandsStillUnlessItIsMoved) {
  TestRuntime runtime(clockwork());
  const TimePoint began = runtime.now();
  auto run = runtime.start(months, "r", 1);
  runtime.run_until_idle();
  EXPECT_EQ(runtime.now(), began);
  EXPECT_THROW(run.result(), Conflict);
  EXPECT_EQ(runtime.now(), began);
  runtime.advance(30 * 24h);
  EXPECT_EQ(runtime.now(), began + 30 * 24h);
  EXPECT_EQ(run.result(), std::vector<int>{30});
  EXPECT_THROW(runtime.advance(-1s), InvalidArgument);
}

TEST(Time, GoesByBetweenAttemptsAndNotDuringThem) {
  TestRuntime runtime(clockwork());
  std::vector<Duration> at;
  std::vector<int> attempts;
  const TimePoint began = runtime.now();
  runtime.fake(work, [&](ActivityContext& ctx) -> int {
    at.push_back(runtime.now() - began);
    attempts.push_back(ctx.attempt());
    if (at.size() < 4) throw std::runtime_error("not yet");
    return 7;
  });
  auto run = runtime.start(caller, "r");
  runtime.advance(10min);
  EXPECT_EQ(run.result(), 7);
  EXPECT_EQ(at, (std::vector<Duration>{0s, 10s, 30s, 70s}));
  EXPECT_EQ(attempts, (std::vector<int>{1, 2, 3, 4}));
}

TEST(Time, EndsACallThatNobodyFinished) {
  Registry registry;
  registry.add(caller, run_caller);
  TestRuntime runtime(registry);
  auto run = runtime.start(caller, "r");
  runtime.advance(1h - 1s);
  EXPECT_EQ(runtime.queued().calls.at("work"), 1) << "nobody serves it";
  runtime.advance(1s);
  EXPECT_EQ(run.outcome().failure().type, kTimeoutFailure);
  EXPECT_TRUE(runtime.queued().calls.empty());
}

TEST(Time, PassesWhileAHandlerSleeps) {
  TestRuntime runtime(clockwork());
  const TimePoint began = runtime.now();
  runtime.fake(work, [](ActivityContext& ctx) {
    ctx.sleep_for(20min);
    return 3;
  });
  auto run = runtime.start(caller, "r");
  EXPECT_EQ(run.result(), 3);
  EXPECT_EQ(runtime.now(), began + 20min);
}

TEST(Time, HoldsADelayedStartBack) {
  TestRuntime runtime(clockwork());
  auto run = runtime.start(caller, "r", {.delay = 1h});
  runtime.advance(59min);
  EXPECT_EQ(runtime.history("r").size(), 1U);
  runtime.advance(1min);
  EXPECT_EQ(run.result(), 1);
}

TEST(Time, EndsARunAtItsDeadline) {
  TestRuntime runtime(clockwork());
  auto run = runtime.start(stuck, "r", {.run_timeout = 2h});
  runtime.advance(2h - 1ms);
  EXPECT_EQ(run.status().status, ExecutionStatus::kRunning);
  runtime.advance(1ms);
  EXPECT_EQ(run.status().status, ExecutionStatus::kCanceled);
  EXPECT_EQ(run.status().cancel_reason, "deadline");
  EXPECT_EQ(run.outcome().reason(), "deadline");
}

TEST(Time, LetsTheDeadlinePassWhenTheRunIsCanceledAlready) {
  TestOptions options;
  options.max_steps = 500;
  TestRuntime runtime(clockwork(), options);
  int cleaned = 0;
  runtime.fake(clean_up, [&] { ++cleaned; });
  auto run = runtime.start(tidy, "r", {.run_timeout = 1h});
  runtime.advance(1h - 5s);
  runtime.cancel("r", "mine");
  runtime.advance(20s);
  EXPECT_EQ(run.outcome().reason(), "mine");
  EXPECT_EQ(cleaned, 1) << "the cleanup goes on past the deadline";
}

TEST(Time, CutsACleanupThatTakesTooLong) {
  TestOptions options;
  options.cleanup_timeout = 5s;
  TestRuntime runtime(clockwork(), options);
  int cleaned = 0;
  runtime.fake(clean_up, [&] { ++cleaned; });
  auto run = runtime.start(tidy, "r");
  runtime.run_until_idle();
  runtime.cancel("r", "stop");
  runtime.advance(5s);
  EXPECT_EQ(run.status().status, ExecutionStatus::kCanceled);
  runtime.advance(1h);
  EXPECT_EQ(cleaned, 0);
}

TEST(Options, ThatAreOutOfTheirRangeAreRefused) {
  TestOptions options;
  options.cleanup_timeout = 0s;
  EXPECT_THROW(TestRuntime(clockwork(), options), InvalidArgument);
}

TEST(Waits, AreToldWithTheirLimitsAndUndos) {
  Registry registry;
  registry.add(caller, [](OrchestrationContext& ctx) -> Task<int> {
    auto child = ctx.call(stuck, {.id = "slow", .timeout = 1h});
    const int done = co_await ctx.call(work).undo_with(forget);
    co_await child;
    co_return done;
  });
  TestRuntime runtime(registry);
  auto run = runtime.start(caller, "r");
  try {
    run.result();
    FAIL() << "nobody has the handler";
  } catch (const Conflict& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("child 'slow'"), std::string::npos) << text;
    EXPECT_NE(text.find("activity 'work'"), std::string::npos) << text;
    EXPECT_NE(text.find("a timer until"), std::string::npos) << text;
  }
}

TEST(Time, DoesNotHideARunThatNeverRests) {
  TestOptions options;
  options.max_steps = 50;
  TestRuntime runtime(clockwork(), options);
  auto run = runtime.start(restless, "r", 1);
  EXPECT_THROW(runtime.run_until_idle(), std::runtime_error);
  EXPECT_GT(run.status().execution, 40);
}

}  // namespace

}  // namespace perdure::test::time_test
