#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <perdure/testing.h>

#include "tests/testing/shop.h"

namespace perdure::test::faults_test {

namespace {

using namespace std::chrono_literals;
using perdure::testing::CommitFault;
using perdure::testing::RecordedEvent;
using perdure::testing::TestRuntime;

struct Played {
  std::vector<RecordedEvent> history;
  std::string result;
  Ledger ledger;
};

/// A big order that is approved after a day, played through with the commit of turn `broken`
/// (0 = the first) failing; the times of its events are left out.
Played play(std::optional<CommitFault> fault, int broken, bool evict = true) {
  Played played;
  TestRuntime runtime(shop(played.ledger));
  runtime.evict_after_every_turn(evict);
  auto run = runtime.start(checkout, "o-1", big_order());
  const auto arm = [&](int turn) {
    if (fault && turn == broken) runtime.fail_next_commits(1, *fault);
  };
  arm(0);
  runtime.advance(24h);
  runtime.raise_event("o-1", approved, true);
  arm(1);
  runtime.advance(1h);
  played.result = run.result();
  played.history = runtime.history("o-1");
  for (RecordedEvent& event : played.history) event.at = {};
  return played;
}

class Faults : public ::testing::TestWithParam<CommitFault> {};

TEST_P(Faults, OfACommitChangeNothingAndDoubleNothing) {
  const Played whole = play(std::nullopt, 0);
  for (const int turn : {0, 1}) {
    for (const bool evict : {true, false}) {
      const Played broken = play(GetParam(), turn, evict);
      EXPECT_EQ(broken.result, "shipped r-43");
      EXPECT_EQ(broken.history, whole.history) << "turn " << turn << ", evict " << evict;
      EXPECT_EQ(broken.ledger.charged.size(), 1U);
      EXPECT_EQ(broken.ledger.shipped.size(), 3U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         Faults,
                         ::testing::Values(CommitFault::kRefused,
                                           CommitFault::kUnavailable,
                                           CommitFault::kLockLost,
                                           CommitFault::kUnknown,
                                           CommitFault::kAnswerLost));

TEST(Frames, KeptOrEvictedGiveTheSameHistory) {
  const Played evicted = play(std::nullopt, 0, true);
  const Played kept = play(std::nullopt, 0, false);
  EXPECT_EQ(kept.result, evicted.result);
  EXPECT_EQ(kept.history, evicted.history);
}

TEST(Faults, ManyInARowOnlyTakeTime) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  runtime.fail_next_commits(5, CommitFault::kUnavailable);
  auto run = runtime.start(checkout, "o-1", small_order());
  runtime.run_until_idle();
  EXPECT_EQ(run.status().blocked, "store_error");
  EXPECT_NE(run.status().blocked_detail.find("made to fail"), std::string::npos);
  runtime.advance(1s + 2s + 4s + 8s);
  EXPECT_TRUE(ledger.charged.empty());
  runtime.advance(16s);
  EXPECT_EQ(run.result(), "shipped r-42");
  EXPECT_EQ(run.status().blocked, "");
}

TEST(Faults, OfAClaimMakeTheAttemptAgainWhenItsLeaseIsOver) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  runtime.lose_next_claims(1);
  auto run = runtime.start(checkout, "o-1", small_order());
  runtime.advance(29s);
  EXPECT_EQ(ledger.charged.size(), 1U);
  EXPECT_EQ(run.status().status, ExecutionStatus::kRunning);
  runtime.advance(1s);
  EXPECT_EQ(run.result(), "shipped r-42");
  EXPECT_EQ(ledger.charged.size(), 2U) << "at least once: the first outcome was lost";
  EXPECT_EQ(ledger.keys[0], ledger.keys[1]) << "so that the gateway can tell";
}

TEST(Faults, OfAClaimArePoisonAfterTen) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  runtime.lose_next_claims(100);
  runtime.fake(charge, [](Order) { return Receipt{"lost"}; });
  auto run = runtime.start(checkout, "o-1", small_order());
  runtime.advance(9min);
  EXPECT_EQ(run.outcome().failure().type, kPoisonFailure);
}

inline constexpr Orchestration<std::string()> racer{"racer"};
inline constexpr Activity<void()> slow{"slow"};
inline constexpr perdure::Event<bool> whistle{"whistle"};
int racers_begun = 0;

Task<std::string> run_racer(OrchestrationContext& ctx) {
  ++racers_begun;
  auto waits = ctx.wait_for(whistle);
  {
    auto runs = ctx.call(slow);
    if (co_await when_any(waits, runs) == 1) co_return "slow won";
  }
  co_await ctx.timer(1h);
  co_return "whistled";
}

TEST(Frames, AreKeptOrReplayedAsTold) {
  Registry registry;
  registry.add(racer, run_racer);
  for (const bool evict : {true, false}) {
    racers_begun = 0;
    TestRuntime runtime(registry);
    runtime.evict_after_every_turn(evict);
    auto run = runtime.start(racer, "r");
    runtime.run_until_idle();
    runtime.raise_event("r", whistle, true);
    runtime.advance(1h);
    EXPECT_EQ(run.result(), "whistled");
    EXPECT_EQ(racers_begun, evict ? 3 : 1);
  }
}

TEST(Fakes, FireTheStopTokenOfACallThatLosesWhileItRuns) {
  Registry registry;
  registry.add(racer, run_racer);
  TestRuntime runtime(registry);
  bool before = true;
  bool after = false;
  runtime.fake(slow, [&](ActivityContext& ctx) {
    before = ctx.is_cancellation_requested();
    runtime.raise_event("r", whistle, true);
    runtime.run_until_idle();
    after = ctx.is_cancellation_requested();
    EXPECT_THROW(runtime.deploy(registry), std::logic_error);
  });
  auto run = runtime.start(racer, "r");
  runtime.advance(1h);
  EXPECT_EQ(run.result(), "whistled");
  EXPECT_FALSE(before);
  EXPECT_TRUE(after) << "the commit that dropped the call fires its token";
}

TEST(Fakes, FireTheStopTokenOfACallThatIsCanceledWhileItRuns) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  bool stopped = false;
  std::string why;
  runtime.fake(ship, [&](ActivityContext& ctx, Order) {
    if (!stopped) runtime.cancel("o-1", "mind changed");
    stopped = ctx.is_cancellation_requested();
    why = ctx.cancel_reason();
    ctx.throw_if_canceled();
    return std::string("late");
  });
  auto run = runtime.start(checkout, "o-1", small_order());
  EXPECT_EQ(run.outcome().reason(), "mind changed");
  EXPECT_TRUE(stopped);
  EXPECT_EQ(why, "mind changed");
}

}  // namespace

}  // namespace perdure::test::faults_test
