#include <future>
#include <stdexcept>

#include "tests/live/causes_fixture.h"

/// What stops a run as a whole, and what becomes of everything that it has open then. Each test
/// sets up the same household, applies one cause and looks at every part.
namespace perdure::test::causes_of_a_run_test {

namespace {

using causes::command;
using causes::Household;
using causes::kNobody;

constexpr Orchestration<std::string(std::string)> house{"house"};
constexpr Event<void> finish{"finish"};
constexpr const char* kSecondLife = "second life";

/// Keeps a household until it is told how to end: "fail", "continue", or a result.
Task<std::string> run_house(OrchestrationContext& ctx, std::string way) {
  if (way == kSecondLife) {
    co_await ctx.wait_for(finish);
    co_return way;
  }
  Household household(ctx);
  if (way == "detached") household.detach();
  const std::string how = co_await ctx.wait_for(command);
  if (how == "fail") throw Failed("broken", "on purpose", false);
  const std::string next = kSecondLife;
  if (how == "continue") co_await ctx.continue_as_new(house, next);
  co_return how;
}

/// With the futures of the household held by the code, or given up by it.
class CausesOfARun : public causes::Causes {
 protected:
  CausesOfARun() { registry_.add(house, run_house); }

  void set_up(const StartOptions& options = {}) { set_up_as("held", options); }
  void set_up_as(const std::string& way, const StartOptions& options = {}) {
    run();
    client_.start(house, "h", way, options);
    wait_for_household("h");
    const bool limited = options.run_timeout > Duration::zero();
    EXPECT_EQ(stats("h").queued_messages, limited ? 2 : 1) << "its timer, and its deadline";
  }
  void tell(const std::string& how) {
    EXPECT_EQ(client_.raise_event("h", command, how), EventDelivered::kDelivered);
  }

  /// Calls end as their `on_cancel` says; children by their close policy, with this reason.
  void expect_closed(const std::string& reason_of_child) {
    EXPECT_NE(told("tried"), "");
    EXPECT_NE(told("waited"), "");
    expect_spared("abandoned");
    EXPECT_EQ(client_.wait("h/bound", kHanging).status, ExecutionStatus::kCanceled);
    EXPECT_EQ(client_.status("h/bound").cancel_reason, reason_of_child);
    EXPECT_EQ(told("bound"), reason_of_child);
    expect_free_goes_on();
  }
  void expect_free_goes_on() {
    EXPECT_EQ(status("h/free"), ExecutionStatus::kRunning);
    expect_spared("free");
    EXPECT_EQ(client_.wait("h/free", kHanging).output, "free done");
  }
  /// As a cancel with this reason.
  void expect_canceled(const std::string& reason) {
    EXPECT_EQ(told("tried"), reason);
    EXPECT_EQ(told("waited"), reason);
    EXPECT_EQ(told("bound"), reason);
    const RunStatus end = client_.wait("h", kHanging);
    EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
    EXPECT_EQ(end.cancel_reason, reason);
    EXPECT_TRUE(end.cancel_requested_at);
    EXPECT_TRUE(end.canceled_at);
    EXPECT_EQ(texts("h", "cancel_requested"), std::vector{reason});
    EXPECT_EQ(texts("h", "canceled").size(), 1u);
    const RunStatus child = client_.wait("h/bound", kHanging);
    EXPECT_EQ(child.status, ExecutionStatus::kCanceled);
    EXPECT_EQ(child.cancel_reason, reason);
    EXPECT_EQ(texts("h/bound", "cancel_requested"), std::vector{reason});
    expect_spared("abandoned");
    expect_free_goes_on();
    expect_nothing_left("h");
    expect_nothing_left("h/bound");
  }
};

TEST_F(CausesOfARun, CancelReachesAllButWhatIsAbandoned) {
  set_up();
  const CancelResult answer = client_.cancel("h", "enough");
  EXPECT_TRUE(answer.changed);
  EXPECT_EQ(answer.status, ExecutionStatus::kCanceling);
  EXPECT_EQ(ready_in(kNobody), 0) << "gone in the commit of the caller";
  EXPECT_NE(status("h/bound"), ExecutionStatus::kRunning) << "reached in the same commit";
  expect_canceled("enough");
  EXPECT_FALSE(client_.cancel("h", "again").changed);
  EXPECT_EQ(client_.status("h").cancel_reason, "enough");
}

TEST_F(CausesOfARun, CancelOfDetachedCallsReachesTheSame) {
  set_up_as("detached");
  EXPECT_TRUE(client_.cancel("h", "enough").changed);
  expect_canceled("enough");
}

TEST_F(CausesOfARun, DeadlineIsACancelWithItsOwnReason) {
  set_up({.run_timeout = 2h});
  clock_.advance(2h - 1s);
  wait_for_a_turn("h");
  EXPECT_EQ(status("h"), ExecutionStatus::kRunning);
  clock_.advance(1s);
  expect_canceled("deadline");
}

TEST_F(CausesOfARun, DeadlineHoldsThroughContinueAsNew) {
  set_up({.run_timeout = 2h});
  tell("continue");
  wait_for([&] { return client_.status("h").execution == 2; }, "the second execution");
  clock_.advance(2h);
  const RunStatus end = client_.wait("h", kHanging);
  EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(end.cancel_reason, "deadline");
  EXPECT_EQ(end.execution, 2);
}

TEST_F(CausesOfARun, DeadlineNeedsNobodyWhoHasTheCode) {
  run();
  constexpr Orchestration<void()> retired{"retired"};
  client_.start(retired, "r", {.run_timeout = 2h});
  clock_.advance(2h);
  const RunStatus end = client_.wait("r", kHanging);
  EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(end.cancel_reason, "deadline");
}

TEST_F(CausesOfARun, TerminateReachesAlsoCallsThatAreAbandoned) {
  set_up();
  const CancelResult answer = client_.terminate("h", "now");
  EXPECT_TRUE(answer.changed);
  EXPECT_EQ(answer.status, ExecutionStatus::kTerminated);
  EXPECT_EQ(ready_in(kNobody), 0);
  EXPECT_EQ(stats("h").work_rows, 0) << "nothing is waited for";
  EXPECT_EQ(stats("h").queued_messages, 0);
  for (const char* name : {"tried", "waited", "abandoned", "bound"}) {
    EXPECT_EQ(told(name), "the run was terminated");
  }
  for (const char* id : {"h", "h/bound"}) {
    const RunStatus end = client_.status(id);
    EXPECT_EQ(end.status, ExecutionStatus::kTerminated);
    EXPECT_EQ(end.cancel_reason, "now");
    EXPECT_EQ(texts(id, "terminated"), std::vector<std::string>{"now"});
    EXPECT_EQ(texts(id, "cancel_requested"), std::vector<std::string>{});
  }
  expect_free_goes_on();
}

TEST_F(CausesOfARun, FailureClosesWhatTheCodeHeld) {
  set_up();
  tell("fail");
  const RunStatus end = client_.wait("h", kHanging);
  EXPECT_EQ(end.status, ExecutionStatus::kFailed);
  EXPECT_EQ(end.failure.type, "broken");
  EXPECT_EQ(end.failure.message, "on purpose");
  EXPECT_EQ(end.cancel_reason, "");
  expect_closed("dropped by parent 'h'");
  expect_nothing_left("h");
}

TEST_F(CausesOfARun, FailureClosesWhatTheCodeHadDetached) {
  set_up_as("detached");
  tell("fail");
  EXPECT_EQ(client_.wait("h", kHanging).status, ExecutionStatus::kFailed);
  expect_closed("parent 'h' failed");
  expect_nothing_left("h");
}

TEST_F(CausesOfARun, CompletionClosesWhatTheCodeHeld) {
  set_up();
  tell("well");
  const RunStatus end = client_.wait("h", kHanging);
  EXPECT_EQ(end.status, ExecutionStatus::kCompleted);
  EXPECT_EQ(end.output, "well");
  EXPECT_EQ(end.cancel_reason, "");
  expect_closed("dropped by parent 'h'");
  expect_nothing_left("h");
}

TEST_F(CausesOfARun, CompletionClosesWhatTheCodeHadDetached) {
  set_up_as("detached");
  tell("well");
  EXPECT_EQ(client_.wait("h", kHanging).status, ExecutionStatus::kCompleted);
  expect_closed("parent 'h' completed");
  expect_nothing_left("h");
}

/// The run goes on in its next execution, to which nothing of the first one belongs.
class ContinueAsNew : public CausesOfARun {
 protected:
  void continue_as_new() {
    tell("continue");
    wait_for([&] { return client_.status("h").execution == 2; }, "the second execution");
    EXPECT_EQ(client_.status("h", 1).status, ExecutionStatus::kContinuedAsNew);
    EXPECT_EQ(status("h"), ExecutionStatus::kRunning);
  }
  void expect_second_life() {
    client_.raise_event("h", finish);
    EXPECT_EQ(client_.wait("h", kHanging).output, kSecondLife);
    expect_nothing_left("h");
  }
};

TEST_F(ContinueAsNew, ClosesWhatTheCodeHeld) {
  set_up();
  continue_as_new();
  EXPECT_EQ(ready_in(kNobody), 0);
  expect_closed("parent 'h' continued_as_new");
  expect_second_life();
}

TEST_F(ContinueAsNew, ClosesWhatTheCodeHadDetached) {
  set_up_as("detached");
  continue_as_new();
  expect_closed("parent 'h' continued_as_new");
  expect_second_life();
}

TEST_F(ContinueAsNew, LeavesHandlersThatAPruneStops) {
  book_->hold_told(true);
  set_up();
  continue_as_new();
  EXPECT_NE(told("waited"), "");
  EXPECT_NE(told("bound"), "");
  EXPECT_EQ(stats("h").work_rows, 2) << "its end is to be written; the abandoned one runs on";
  EXPECT_EQ(book_->told("abandoned"), "");
  EXPECT_EQ(client_.prune("h").executions, 1);
  EXPECT_EQ(stats("h").work_rows, 0);
  EXPECT_EQ(told("abandoned"), "the run was deleted");
  EXPECT_THROW(client_.status("h", 1), NotFound);
  book_->hold_told(false);
  expect_free_goes_on();
  expect_second_life();
}

TEST_F(CausesOfARun, DeleteByForceTakesTheWholeTree) {
  set_up();
  EXPECT_THROW(client_.remove("h"), Conflict) << "it lives";
  const RunDeleted gone = client_.remove("h", {.force = true});
  EXPECT_EQ(gone.runs, 3);
  EXPECT_EQ(ready_in(kNobody), 0);
  EXPECT_EQ(claimed_in("default"), 0) << "no row is left";
  for (const char* name : {"tried", "waited", "abandoned", "bound", "free"}) {
    EXPECT_EQ(told(name), "the run was deleted");
  }
  for (const char* id : {"h", "h/bound", "h/free"}) EXPECT_THROW(client_.status(id), NotFound);
}

/// Nothing of a run changes, whoever serves it.
TEST_F(CausesOfARun, ShutdownGivesBackOnlyWhatHasReturned) {
  RuntimeOptions hasty = options();
  hasty.shutdown_grace_period = 0ms;
  hasty.shutdown_force_timeout = kHanging;
  book_->hold_told(true);
  run(hasty);
  client_.start(house, "h", "held");
  wait_for_household("h");
  std::future<void> stopping =
      std::async(std::launch::async, [runtime = runtime_.get()] { runtime->stop(); });
  for (const char* name : {"tried", "waited", "abandoned", "bound", "free"}) {
    EXPECT_EQ(told(name), "the worker shuts down");
  }
  EXPECT_EQ(claimed_in("default"), 5) << "others must not begin what still runs here";
  EXPECT_EQ(ready_in("default"), 0);
  book_->hold_told(false);
  ASSERT_EQ(stopping.wait_for(kHanging), std::future_status::ready);
  EXPECT_EQ(claimed_in("default"), 0);
  EXPECT_EQ(ready_in("default"), 5);
  EXPECT_EQ(ready_in(kNobody), 1) << "untouched";
  EXPECT_EQ(stats("h").queued_messages, 1) << "its timer";
  for (const char* id : {"h", "h/bound", "h/free"}) {
    EXPECT_EQ(status(id), ExecutionStatus::kRunning);
    EXPECT_EQ(client_.status(id).cancel_reason, "");
  }
  run();
  book_->release_all();
  for (const char* name : {"tried", "waited", "abandoned", "bound", "free"}) {
    wait_for([&] { return book_->left(name) == 2; }, std::string(name) + " to be done again");
  }
  EXPECT_EQ(client_.wait("h/bound", kHanging).output, "bound done")
      << "a call without retries: no attempt was charged";
}

TEST_F(CausesOfARun, ShutdownChargesNothingForAHandlerThatFailsByIt) {
  constexpr Activity<int()> fragile{"fragile"};
  constexpr Orchestration<int()> owner{"owner"};
  const auto begun = std::make_shared<Gate>();
  registry_.add(fragile, [begun](ActivityContext& ctx) -> int {
    if (begun->is_open()) return 2;
    begun->open();
    ctx.wait_until_canceled();
    throw std::runtime_error("the connection was closed");
  });
  registry_.add(owner, [](OrchestrationContext& ctx) -> Task<int> {
    co_return co_await ctx.call(Activity<int()>{"fragile"});
  });
  RuntimeOptions hasty = options();
  hasty.shutdown_grace_period = 0ms;
  hasty.shutdown_force_timeout = kHanging;
  run(hasty);
  client_.start(owner, "o");
  ASSERT_TRUE(begun->wait());
  runtime_->stop();
  EXPECT_EQ(status("o"), ExecutionStatus::kRunning);
  EXPECT_EQ(stats("o").work_rows, 1);
  EXPECT_EQ(stats("o").queued_messages, 0) << "nobody is told of a failure";
  run(hasty);
  EXPECT_EQ(client_.wait("o", kHanging).output, 2) << "a call without retries";
}

/// Drain comes before the tokens.
TEST_F(CausesOfARun, ShutdownLetsHandlersFinishBeforeItTellsThem) {
  RuntimeOptions patient = options();
  patient.shutdown_grace_period = kHanging;
  run(patient);
  client_.start(house, "h", "held");
  wait_for_household("h");
  std::future<void> stopping =
      std::async(std::launch::async, [runtime = runtime_.get()] { runtime->stop(); });
  book_->release_all();
  ASSERT_EQ(stopping.wait_for(kHanging), std::future_status::ready);
  for (const char* name : {"tried", "waited", "abandoned", "bound", "free"}) {
    EXPECT_EQ(book_->told(name), "");
  }
  EXPECT_EQ(stats("h").work_rows, 1) << "what nobody serves; the others are stored as done";
}

}  // namespace

}  // namespace perdure::test::causes_of_a_run_test
