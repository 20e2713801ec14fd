#include "tests/live/causes_fixture.h"

/// What the code of a run gives up while the run goes on: what it dropped, and nothing else.
namespace perdure::test::causes_of_a_call_test {

namespace {

using causes::command;
using causes::Household;
using causes::kNobody;
using causes::never;
using causes::toil;

constexpr Orchestration<std::string(std::string)> keeper{"keeper"};
constexpr Event<void> finish{"finish"};

Task<void> keep_until_told(OrchestrationContext& ctx) {
  Household household(ctx);
  co_await ctx.wait_for(command);
}

Task<void> race_until_told(OrchestrationContext& ctx) {
  Household household(ctx);
  auto stop = ctx.wait_for(command);
  co_await when_any(household.queued,
                    household.tried,
                    household.waited,
                    household.abandoned,
                    household.bound,
                    household.free,
                    household.alarm,
                    household.note,
                    stop);
  co_await stop;
}

Task<void> keep_for_ever(OrchestrationContext& ctx) {
  Household household(ctx);
  co_await household.note;
}

Task<void> cancel_a_scope(OrchestrationContext& ctx) {
  auto scope = ctx.scope();
  auto part = scope.spawn(keep_for_ever(ctx));
  co_await ctx.wait_for(command);
  scope.cancel("too many");
  auto end = co_await part.outcome();
  ctx.set_status(end.reason());
}

Task<void> drop_a_scope(OrchestrationContext& ctx) {
  auto scope = ctx.scope();
  scope.spawn(keep_for_ever(ctx)).detach();
  co_await ctx.wait_for(command);
}

Task<void> drop_a_task(OrchestrationContext& ctx) {
  auto part = ctx.spawn(keep_for_ever(ctx));
  co_await ctx.wait_for(command);
}

Task<void> drop_one_call(OrchestrationContext& ctx) {
  const std::string name = "extra";
  auto extra = ctx.call(toil, name);
  co_await ctx.wait_for(command);
}

/// Gives its household up in one of these ways, and goes on.
Task<std::string> run_keeper(OrchestrationContext& ctx, std::string way) {
  if (way == "dropped futures") co_await keep_until_told(ctx);
  if (way == "lost race") co_await race_until_told(ctx);
  if (way == "canceled scope") co_await cancel_a_scope(ctx);
  if (way == "dropped scope") co_await drop_a_scope(ctx);
  if (way == "dropped task") co_await drop_a_task(ctx);
  if (way == "one call of many") {
    Household household(ctx);
    co_await drop_one_call(ctx);
    co_await ctx.wait_for(finish);
    co_return "still here";
  }
  co_await ctx.wait_for(finish);
  co_return "still here";
}

class CausesOfACall : public causes::Causes {
 protected:
  CausesOfACall() { registry_.add(keeper, run_keeper); }

  void give_up(const std::string& way) {
    run();
    client_.start(keeper, "k", way);
    wait_for_household("k");
    EXPECT_EQ(stats("k").queued_messages, 1) << "its timer";
    tell();
  }
  void tell() {
    const std::string word = "now";
    EXPECT_EQ(client_.raise_event("k", command, word), EventDelivered::kDelivered);
  }
  std::size_t count(const std::string& kind) { return texts("k", kind).size(); }

  /// All that was given up is gone or was told, in the commit of one turn; the run goes on.
  void expect_given_up() {
    EXPECT_NE(told("tried"), "");
    EXPECT_NE(told("waited"), "");
    expect_spared("abandoned");
    EXPECT_EQ(ready_in(kNobody), 0);
    // Answers of what was given up come and go; the timer would stay.
    wait_for([&] { return stats("k").queued_messages == 0; }, "the timer to be gone");
    for (const std::string name : {"bound", "free"}) {
      const RunStatus end = client_.wait("k/" + name, kHanging);
      EXPECT_EQ(end.status, ExecutionStatus::kCanceled) << "whatever its close policy is";
      EXPECT_EQ(end.cancel_reason, "dropped by parent 'k'");
      EXPECT_EQ(told(name), "dropped by parent 'k'");
    }
    EXPECT_EQ(count("activity_dropped"), 4u);
    EXPECT_EQ(count("child_dropped"), 2u);
    EXPECT_EQ(count("timer_dropped"), 1u);
    EXPECT_EQ(count("event_dropped"), 1u);
    EXPECT_EQ(status("k"), ExecutionStatus::kRunning);
    EXPECT_EQ(client_.status("k").cancel_reason, "");
    wait_for([&] { return stats("k").work_rows == 0; }, "the last rows");
    client_.raise_event("k", finish);
    const RunStatus end = client_.wait("k", kHanging);
    EXPECT_EQ(end.status, ExecutionStatus::kCompleted);
    EXPECT_EQ(end.output, "still here");
  }
};

TEST_F(CausesOfACall, DroppedFuturesAreTakenBack) {
  give_up("dropped futures");
  expect_given_up();
}

TEST_F(CausesOfACall, LosersOfARaceAreTakenBack) {
  give_up("lost race");
  expect_given_up();
}

TEST_F(CausesOfACall, ACanceledScopeIsTakenBack) {
  give_up("canceled scope");
  expect_given_up();
  EXPECT_EQ(texts("k", "scope_canceled"), std::vector<std::string>{"too many"});
  EXPECT_EQ(client_.status("k").custom_status, "too many");
}

TEST_F(CausesOfACall, ADroppedScopeIsTakenBack) {
  give_up("dropped scope");
  expect_given_up();
}

TEST_F(CausesOfACall, ADroppedTaskIsTakenBack) {
  give_up("dropped task");
  expect_given_up();
}

TEST_F(CausesOfACall, ADroppedCallTakesNothingElseWithIt) {
  run();
  client_.start(keeper, "k", "one call of many");
  wait_for_begun("extra");
  for (const char* name : {"tried", "waited", "abandoned", "bound", "free"}) wait_for_begun(name);
  EXPECT_EQ(stats("k").work_rows, 5);
  tell();
  EXPECT_NE(told("extra"), "");
  EXPECT_EQ(stats("k").work_rows, 4);
  EXPECT_EQ(ready_in(kNobody), 1);
  EXPECT_EQ(stats("k").queued_messages, 1) << "the timer stays";
  EXPECT_EQ(count("activity_dropped"), 1u);
  EXPECT_EQ(status("k/bound"), ExecutionStatus::kRunning);
  for (const char* name : {"tried", "waited", "abandoned", "bound", "free"}) expect_spared(name);
}

}  // namespace

}  // namespace perdure::test::causes_of_a_call_test
