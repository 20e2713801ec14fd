#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <perdure/testing.h>

/// Canceled runs whose code is gone or does not fit any more.
namespace perdure::test::wind_down_test {

namespace {

using namespace std::chrono_literals;
using perdure::testing::CommitFault;
using perdure::testing::TestRuntime;

inline constexpr Orchestration<std::string()> trip{"trip"};
inline constexpr Orchestration<std::string()> agency{"agency"};
inline constexpr Activity<std::string()> book_hotel{"book_hotel"};
inline constexpr Activity<std::string()> book_flight{"book_flight"};
inline constexpr Activity<void(std::string)> leave_hotel{"leave_hotel"};
inline constexpr Activity<void(std::string)> leave_flight{"leave_flight"};
inline constexpr Activity<void()> say_sorry{"say_sorry"};
inline constexpr Event<void> departed{"departed"};

Task<void> apologise(OrchestrationContext& ctx) {
  co_await ctx.call(say_sorry);
}

Task<std::string> run_trip(OrchestrationContext& ctx) {
  co_await ctx.call(book_hotel).undo_with(leave_hotel);
  co_await ctx.call(book_flight).undo_with(leave_flight);
  auto wait = ctx.wait_for(departed);
  const auto outcome = co_await wait.outcome();
  if (!outcome.ok()) co_await ctx.shield(apologise(ctx));
  co_return "home";
}

/// Decides otherwise from its first command on.
Task<std::string> run_other_trip(OrchestrationContext& ctx) {
  co_await ctx.call(say_sorry);
  co_return "elsewhere";
}

Task<std::string> run_idle_trip(OrchestrationContext& ctx) {
  co_await ctx.wait_for(departed);
  co_return "home";
}

Task<std::string> run_agency(OrchestrationContext& ctx) {
  auto child = ctx.call(trip, {.id = "trip-1"});
  const auto outcome = co_await child.outcome();
  co_return outcome.ok() ? "good" : outcome.failure().type;
}

class WindDown : public ::testing::Test {
 protected:
  using Main = Task<std::string> (*)(OrchestrationContext&);

  /// Without `main` nobody has the code.
  Registry code(Main main = nullptr, bool with_undos = true) {
    Registry registry;
    if (main != nullptr) registry.add(trip, main);
    registry.add(agency, run_agency);
    registry.add(book_hotel, [] { return std::string("room 7"); });
    registry.add(book_flight, [] { return std::string("seat 3"); });
    registry.add(say_sorry, [this] { done_.emplace_back("sorry"); });
    if (!with_undos) return registry;
    registry.add(leave_hotel, [this](std::string room) { done_.push_back("left " + room); });
    registry.add(leave_flight, [this](std::string seat) { done_.push_back("left " + seat); });
    return registry;
  }

  /// A run that has booked both, canceled, whose code is then replaced.
  void cancel_and_deploy(TestRuntime& runtime, const Registry& next) {
    runtime.start(trip, "t");
    runtime.run_until_idle();
    runtime.deploy(next);
    EXPECT_TRUE(runtime.cancel("t", "rain").changed);
    runtime.advance(59s);
    EXPECT_EQ(runtime.status("t").status, ExecutionStatus::kCanceling);
    EXPECT_TRUE(done_.empty()) << "its own code still has time to clean up";
  }

  void expect_canceled(TestRuntime& runtime) {
    const RunStatus status = runtime.status("t");
    EXPECT_EQ(status.status, ExecutionStatus::kCanceled);
    EXPECT_EQ(status.cancel_reason, "rain");
    EXPECT_EQ(status.blocked, "");
    EXPECT_TRUE(runtime.queued().calls.empty());
    EXPECT_EQ(runtime.queued().runs_ready + runtime.queued().runs_later, 0);
  }

  using Done = std::vector<std::string>;
  Done done_;
};

TEST_F(WindDown, EndsARunWhoseCodeIsNotRegisteredAnyMore) {
  for (const bool evict : {true, false}) {
    done_.clear();
    TestRuntime runtime(code(run_trip));
    runtime.evict_after_every_turn(evict);
    cancel_and_deploy(runtime, code());
    runtime.advance(1s);
    expect_canceled(runtime);
    EXPECT_EQ(done_, (Done{"left seat 3", "left room 7"})) << "in reverse";
    EXPECT_EQ(runtime.status("t").failure.type, "");
  }
}

TEST_F(WindDown, EndsARunThatOwesNothing) {
  TestRuntime runtime(code(run_idle_trip));
  cancel_and_deploy(runtime, code());
  runtime.advance(1s);
  expect_canceled(runtime);
  EXPECT_EQ(done_, Done{});
}

TEST_F(WindDown, EndsARunThatItsCodeDoesNotFit) {
  for (const Main before : {run_trip, run_idle_trip}) {
    done_.clear();
    TestRuntime runtime(code(before));
    cancel_and_deploy(runtime, code(run_other_trip));
    EXPECT_EQ(runtime.status("t").blocked, "nondeterminism");
    runtime.advance(1s);
    expect_canceled(runtime);
    EXPECT_EQ(done_, before == run_trip ? (Done{"left seat 3", "left room 7"}) : Done{});
  }
}

TEST_F(WindDown, WaitsLongForAnUndoThatIsTriedAgain) {
  TestRuntime runtime(code(run_trip));
  runtime.fail_next(leave_flight, 2, {.type = "line", .message = "busy"});
  cancel_and_deploy(runtime, code());
  runtime.advance(1s);
  EXPECT_EQ(runtime.status("t").status, ExecutionStatus::kCanceling);
  EXPECT_EQ(done_, Done{});
  runtime.advance(24h);
  expect_canceled(runtime);
  EXPECT_EQ(done_, (Done{"left seat 3", "left room 7"}));
}

TEST_F(WindDown, EndsWithCompensationFailedWhenAnUndoFailsForGood) {
  TestRuntime runtime(code(run_trip));
  runtime.fail_next(leave_flight, 1, {.type = "line", .message = "no refunds", .retryable = false});
  cancel_and_deploy(runtime, code());
  runtime.advance(1s);
  expect_canceled(runtime);
  EXPECT_EQ(runtime.status("t").failure.type, "compensation_failed");
  EXPECT_NE(runtime.status("t").failure.message.find("no refunds"), std::string::npos);
  EXPECT_EQ(done_, Done{"left room 7"}) << "the other undo ran";
}

TEST_F(WindDown, WaitsForWhoeverServesTheUndo) {
  TestRuntime runtime(code(run_trip));
  cancel_and_deploy(runtime, code(nullptr, false));
  runtime.advance(48h);
  EXPECT_EQ(runtime.status("t").status, ExecutionStatus::kCanceling);
  EXPECT_EQ(runtime.queued().calls["leave_flight"], 1);
  runtime.deploy(code());
  runtime.advance(1min);
  expect_canceled(runtime);
  EXPECT_EQ(done_, (Done{"left seat 3", "left room 7"}));
}

TEST_F(WindDown, StaysWithoutTheCodeThatComesBackInTheMiddle) {
  TestRuntime runtime(code(run_trip));
  cancel_and_deploy(runtime, code(nullptr, false));
  runtime.advance(1h);
  const auto before = runtime.history("t");
  EXPECT_EQ(before.back().kind, "undo_scheduled");
  runtime.deploy(code(run_trip));
  runtime.advance(1min);
  expect_canceled(runtime);
  EXPECT_EQ(done_, (Done{"left seat 3", "left room 7"})) << "and nobody says sorry";
}

TEST_F(WindDown, LeavesARunToItsCodeThatComesBackInTime) {
  TestRuntime runtime(code(run_trip));
  cancel_and_deploy(runtime, code());
  runtime.deploy(code(run_trip));
  runtime.run_until_idle();
  expect_canceled(runtime);
  EXPECT_EQ(done_, (Done{"sorry", "left seat 3", "left room 7"}));
}

TEST_F(WindDown, LosesAndDoublesNothingWhenCommitsFail) {
  for (const CommitFault fault : {CommitFault::kRefused,
                                  CommitFault::kUnavailable,
                                  CommitFault::kLockLost,
                                  CommitFault::kUnknown,
                                  CommitFault::kAnswerLost}) {
    for (const bool evict : {true, false}) {
      SCOPED_TRACE(static_cast<int>(fault));
      done_.clear();
      TestRuntime runtime(code(run_trip));
      runtime.evict_after_every_turn(evict);
      cancel_and_deploy(runtime, code());
      runtime.fail_next_commits(2, fault);
      runtime.advance(1h);
      expect_canceled(runtime);
      EXPECT_EQ(done_, (Done{"left seat 3", "left room 7"}));
    }
  }
}

TEST_F(WindDown, TellsTheParent) {
  TestRuntime runtime(code(run_trip));
  auto parent = runtime.start(agency, "a");
  runtime.run_until_idle();
  runtime.deploy(code());
  runtime.cancel("trip-1", "rain");
  runtime.advance(1min);
  EXPECT_EQ(parent.result(), "canceled");
  EXPECT_EQ(done_, (Done{"left seat 3", "left room 7"}));
}

TEST_F(WindDown, EndsTheWholeTree) {
  TestRuntime runtime(code(run_trip));
  runtime.start(agency, "a");
  runtime.run_until_idle();
  runtime.deploy(Registry());
  runtime.cancel("a", "closed");
  runtime.advance(1min);
  EXPECT_EQ(runtime.status("a").status, ExecutionStatus::kCanceled);
  EXPECT_EQ(runtime.status("trip-1").status, ExecutionStatus::kCanceling) << "undos are owed";
  runtime.deploy(code());
  runtime.advance(1min);
  EXPECT_EQ(runtime.status("trip-1").status, ExecutionStatus::kCanceled);
  EXPECT_EQ(done_, (Done{"left seat 3", "left room 7"}));
}

}  // namespace

}  // namespace perdure::test::wind_down_test
