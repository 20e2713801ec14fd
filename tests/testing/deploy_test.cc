#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <perdure/testing.h>

namespace perdure::test::deploy_test {

namespace {

using namespace std::chrono_literals;
using perdure::testing::TestRuntime;

inline constexpr Orchestration<std::string()> report{"report"};
inline constexpr Orchestration<void(int)> fussy{"fussy"};
inline constexpr Activity<std::string()> fetch{"fetch"};
inline constexpr Activity<std::string()> print{"print"};

Task<std::string> fetch_and_wait(OrchestrationContext& ctx) {
  const std::string data = co_await ctx.call(fetch);
  co_await ctx.timer(1h);
  co_return "old " + data;
}

Task<std::string> print_and_wait(OrchestrationContext& ctx) {
  const std::string data = co_await ctx.call(print);
  co_await ctx.timer(1h);
  co_return "new " + data;
}

Registry with(Task<std::string> (*main)(OrchestrationContext&), std::string_view version = {}) {
  Registry registry;
  registry.add(report, main, version);
  registry.add(fetch, [] { return std::string("fetched"); });
  registry.add(print, [] { return std::string("printed"); });
  return registry;
}

Registry both_versions() {
  Registry registry = with(fetch_and_wait, "1");
  registry.add(report, print_and_wait, "2");
  return registry;
}

TEST(Deployment, OfChangedCodeBlocksTheRunAndTheOldCodeMendsIt) {
  TestRuntime runtime(with(fetch_and_wait));
  auto run = runtime.start(report, "r");
  runtime.run_until_idle();
  runtime.deploy(with(print_and_wait));
  runtime.advance(1h);
  EXPECT_EQ(run.status().status, ExecutionStatus::kRunning);
  EXPECT_EQ(run.status().blocked, "nondeterminism");
  EXPECT_NE(run.status().blocked_detail.find("'fetch'"), std::string::npos)
      << run.status().blocked_detail;
  EXPECT_NE(run.status().blocked_detail.find("'print'"), std::string::npos);
  try {
    run.result();
    FAIL() << "it is blocked";
  } catch (const Conflict& error) {
    EXPECT_NE(std::string(error.what()).find("nondeterminism"), std::string::npos);
  }
  runtime.advance(24h);
  const std::size_t events = runtime.history("r").size();
  runtime.deploy(with(fetch_and_wait));
  runtime.advance(1h);
  EXPECT_EQ(run.result(), "old fetched");
  EXPECT_EQ(run.status().blocked, "");
  EXPECT_EQ(runtime.history("r").size(), events + 2) << "timer fired, completed";
}

TEST(Deployment, OfChangedCodeDoesNotKeepARunFromItsDeadline) {
  TestRuntime runtime(with(fetch_and_wait));
  auto run = runtime.start(report, "r", {.run_timeout = 5h + 7s});
  runtime.run_until_idle();
  runtime.deploy(with(print_and_wait));
  runtime.advance(5h + 6s);
  EXPECT_EQ(run.status().blocked, "nondeterminism");
  EXPECT_EQ(run.status().status, ExecutionStatus::kRunning);
  runtime.advance(1s);
  EXPECT_EQ(run.status().status, ExecutionStatus::kCanceling) << "whatever its backoff is";
  EXPECT_EQ(run.status().cancel_reason, "deadline");
  runtime.advance(1min);
  EXPECT_EQ(run.status().status, ExecutionStatus::kCanceled);
}

TEST(Deployment, ThatTakesTheCodeAwayDoesNotKeepARunFromItsDeadline) {
  TestRuntime runtime(with(fetch_and_wait));
  auto begun = runtime.start(report, "begun", {.run_timeout = 2h});
  runtime.run_until_idle();
  runtime.deploy(Registry());
  auto unseen = runtime.start(report, "unseen", {.run_timeout = 2h});
  runtime.advance(2h - 1s);
  EXPECT_EQ(begun.status().status, ExecutionStatus::kRunning);
  EXPECT_EQ(unseen.status().status, ExecutionStatus::kRunning);
  runtime.advance(1s);
  EXPECT_EQ(begun.status().status, ExecutionStatus::kCanceling);
  EXPECT_EQ(unseen.status().status, ExecutionStatus::kCanceled) << "it has nothing to clean up";
  runtime.advance(1min);
  EXPECT_EQ(begun.status().status, ExecutionStatus::kCanceled);
  EXPECT_EQ(begun.status().cancel_reason, "deadline");
  EXPECT_EQ(unseen.status().cancel_reason, "deadline");
}

constexpr Orchestration<int()> sums{"sums"};
constexpr Activity<int(int)> square{"square"};

template <int kNumber>
Registry squaring() {
  Registry registry;
  registry.add(sums, [](OrchestrationContext& ctx) -> Task<int> {
    const int result = co_await ctx.call(square, kNumber);
    co_await ctx.timer(1h);
    co_return result;
  });
  registry.add(square, [](int value) { return value * value; });
  return registry;
}

TEST(Deployment, OfCodeWithOtherArgumentsWarnsOnly) {
  TestRuntime runtime(squaring<3>());
  auto run = runtime.start(sums, "r");
  runtime.run_until_idle();
  runtime.deploy(squaring<4>());
  runtime.advance(1h);
  EXPECT_EQ(run.result(), 9);
}

TEST(Deployment, OfCodeWithOtherArgumentsBlocksWhenArgumentsAreStrict) {
  perdure::testing::TestOptions options;
  options.strict_arguments = true;
  TestRuntime runtime(squaring<3>(), options);
  auto run = runtime.start(sums, "r");
  runtime.run_until_idle();
  runtime.deploy(squaring<4>());
  runtime.advance(1h);
  EXPECT_EQ(run.status().blocked, "nondeterminism");
  EXPECT_NE(run.status().blocked_detail.find("'square'"), std::string::npos)
      << run.status().blocked_detail;
  runtime.deploy(squaring<3>());
  runtime.advance(1h);
  EXPECT_EQ(run.result(), 9);
}

TEST(Deployment, DoesNotKeepFramesOfTheOldCode) {
  TestRuntime runtime(with(fetch_and_wait));
  runtime.evict_after_every_turn(false);
  auto run = runtime.start(report, "r");
  runtime.run_until_idle();
  runtime.deploy(with(print_and_wait));
  runtime.advance(1h);
  EXPECT_EQ(run.status().blocked, "nondeterminism");
}

TEST(Versions, ARunWithoutOneTakesTheNewestAndStaysOnIt) {
  TestRuntime runtime(with(fetch_and_wait, "1"));
  auto early = runtime.start(report, "early");
  runtime.run_until_idle();
  EXPECT_EQ(early.status().version, "1");
  runtime.deploy(both_versions());
  auto late = runtime.start(report, "late");
  auto asked = runtime.start(report, "asked", {.version = "1"});
  runtime.advance(2h);
  EXPECT_EQ(early.result(), "old fetched");
  EXPECT_EQ(late.result(), "new printed");
  EXPECT_EQ(late.status().version, "2");
  EXPECT_EQ(asked.result(), "old fetched");
}

TEST(Versions, ThatNobodyServesWaitForTheirCode) {
  TestRuntime runtime(both_versions());
  auto run = runtime.start(report, "r", {.version = "1"});
  runtime.run_until_idle();
  runtime.deploy(with(print_and_wait, "2"));
  runtime.advance(2h);
  EXPECT_EQ(run.status().status, ExecutionStatus::kRunning);
  try {
    run.result();
    FAIL() << "nobody serves it";
  } catch (const Conflict& error) {
    EXPECT_NE(std::string(error.what()).find("is not registered with version 1"), std::string::npos)
        << error.what();
  }
  runtime.deploy(both_versions());
  runtime.run_until_idle();
  EXPECT_EQ(run.result(), "old fetched");
}

TEST(Versions, ThatDoNotParseAreRefusedAtTheStartAndNothingIsStored) {
  TestRuntime runtime(both_versions());
  try {
    runtime.start(report, "r", {.version = "v1"});
    FAIL() << "nobody could serve it";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "version 'v1': use one to three numbers, as in \"1.4.2\"");
  }
  EXPECT_THROW(runtime.history("r"), NotFound);
}

TEST(Versions, ARunOfCodeWithoutOneIsShownAsUnservedByCodeWithOne) {
  TestRuntime runtime(with(fetch_and_wait));
  auto run = runtime.start(report, "r");
  runtime.run_until_idle();
  runtime.deploy(with(print_and_wait, "2"));
  runtime.advance(1h);
  EXPECT_EQ(run.status().blocked, "unserved");
  EXPECT_NE(run.status().blocked_detail.find("'report' is not registered without a version"),
            std::string::npos);
  runtime.deploy(with(fetch_and_wait));
  runtime.advance(1h);
  EXPECT_EQ(run.result(), "old fetched");
}

inline constexpr Orchestration<std::string(int)> rounds{"rounds"};

Task<std::string> old_rounds(OrchestrationContext& ctx, int round) {
  co_await ctx.timer(1h);
  if (round < 3) co_await ctx.continue_as_new(rounds, round + 1);
  co_return "old";
}

Task<std::string> new_rounds(OrchestrationContext& ctx, int round) {
  co_await ctx.timer(1h);
  if (round < 3) co_await ctx.continue_as_new(rounds, round + 1);
  co_return "new";
}

TEST(Versions, ARunOfCodeWithoutOneStaysOnItWhenItContinuesAsNew) {
  Registry old_code;
  old_code.add(rounds, old_rounds);
  Registry both;
  both.add(rounds, old_rounds);
  both.add(rounds, new_rounds, "2");
  TestRuntime runtime(old_code);
  auto run = runtime.start(rounds, "r", 1);
  auto again = runtime.start(rounds, "again", 3);
  runtime.advance(30min);
  runtime.deploy(both);
  runtime.advance(3h);
  EXPECT_EQ(run.status().execution, 3);
  EXPECT_EQ(run.result(), "old");
  EXPECT_EQ(run.status().version, "");
  EXPECT_EQ(again.result(), "old");
  again = runtime.start(rounds, "again", 3);
  runtime.advance(1h);
  EXPECT_EQ(again.status().execution, 2);
  EXPECT_EQ(again.result(), "new") << "a new start under an old id takes the newest";
}

TEST(Versions, ARunOfCodeWithoutOneThatContinuedWaitsForThatCode) {
  Registry old_code;
  old_code.add(rounds, old_rounds);
  Registry newer;
  newer.add(rounds, new_rounds, "2");
  TestRuntime runtime(old_code);
  auto run = runtime.start(rounds, "r", 1);
  runtime.run_until_idle();
  // The first turn of the second execution is still to come when the code changes: the commit
  // before it takes place, its own does not.
  runtime.fail_next_commits(1, perdure::testing::CommitFault::kAnswerLost);
  runtime.fail_next_commits(1, perdure::testing::CommitFault::kUnavailable);
  runtime.advance(1h);
  ASSERT_EQ(run.status().execution, 2);
  runtime.deploy(newer);
  runtime.advance(10h);
  EXPECT_EQ(run.status().blocked, "unserved");
  runtime.deploy(old_code);
  runtime.advance(10h);
  EXPECT_EQ(run.result(), "old");
}

struct Fussy {
  Fussy() { throw Failed("fussy", "not today"); }
};

Task<void> run_fussy(OrchestrationContext&, int, Fussy&) {
  co_return;
}

TEST(State, ThatCannotBeMadeFailsTheRun) {
  Registry registry;
  registry.add(fussy, run_fussy);
  TestRuntime runtime(registry);
  auto run = runtime.start(fussy, "r", 1);
  EXPECT_EQ(run.outcome().failure().type, "fussy");
}

}  // namespace

}  // namespace perdure::test::deploy_test
