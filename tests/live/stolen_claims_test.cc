#include <atomic>
#include <thread>

#include "tests/live/live_fixture.h"
#include "tests/live/log_lines.h"

/// A row that is deleted is the signal: every way in which a turn or a caller gives calls up.
namespace perdure::test::stolen_claims_test {

namespace {

constexpr Activity<int(int)> toil{"toil"};
constexpr Event<int> go{"go"};

Task<std::string> race_a_timer(OrchestrationContext& ctx, int value) {
  auto call = ctx.call(toil, value);
  co_await ctx.wait_for(go);  // the handler runs
  auto limit = ctx.timer(1ms);
  const auto first = co_await when_any(call, limit);
  co_return first == 1 ? "timer" : "call";
}
constexpr Orchestration<std::string(int)> racing{"racing"};

Task<std::string> retry_with_limit(OrchestrationContext& ctx, int value) {
  auto call = ctx.call(toil, value, {.retry = retry(2, 1ms), .start_to_close = 1s});
  const auto outcome = co_await call.outcome();
  co_return !outcome.ok() ? outcome.failure().type : "completed";
}
constexpr Orchestration<std::string(int)> retrying{"retrying"};

Task<std::string> wait_for_all(OrchestrationContext& ctx, int count) {
  std::vector<Future<int>> calls;
  for (int i = 0; i < count; ++i) calls.push_back(ctx.call(toil, i));
  co_await when_all(std::move(calls));
  co_return "completed";
}
constexpr Orchestration<std::string(int)> waiting{"waiting"};

Task<std::string> fail_beside_a_call(OrchestrationContext& ctx, int value) {
  auto call = ctx.call(toil, value);
  co_await ctx.wait_for(go);
  throw Failed("broken", "on purpose");
}
constexpr Orchestration<std::string(int)> failing{"failing"};

Task<std::string> go_on_beside_a_call(OrchestrationContext& ctx, int round) {
  if (round == 2) co_return "second";
  auto call = ctx.call(toil, round);
  co_await ctx.wait_for(go);
  co_await ctx.continue_as_new(Orchestration<std::string(int)>{"continuing"}, 2);
  co_return "first";
}
constexpr Orchestration<std::string(int)> continuing{"continuing"};

struct Counts {
  std::atomic<int> begun{0};
  std::atomic<int> told{0};
  std::atomic<int> left{0};              ///< have returned or thrown
  std::atomic<bool> holds{false};        ///< those that were told stay until `leave`
  std::atomic<bool> half_answer{false};  ///< those with an even input return it when they are told
  Gate leave;
};

/// Works until it is told to stop.
int toil_on(Counts& counts, ActivityContext& ctx, int value) {
  ++counts.begun;
  ctx.wait_until_canceled();
  ++counts.told;
  if (counts.holds) counts.leave.wait();
  ++counts.left;
  if (!counts.half_answer || value % 2 != 0) ctx.throw_if_canceled();
  return value;
}

class StolenClaims : public Live {
 protected:
  StolenClaims() {
    registry_.add(racing, race_a_timer);
    registry_.add(retrying, retry_with_limit);
    registry_.add(waiting, wait_for_all);
    registry_.add(failing, fail_beside_a_call);
    registry_.add(continuing, go_on_beside_a_call);
    registry_.add(toil, [counts = counts_](ActivityContext& ctx, int value) {
      return toil_on(*counts, ctx, value);
    });
  }
  ~StolenClaims() override { counts_->leave.open(); }

  void wait_for_begun(int count) {
    wait_for([&] { return counts_->begun >= count; }, "handlers that begin");
  }
  void wait_for_told(int count) {
    wait_for([&] { return counts_->told >= count; }, "handlers that are told");
  }
  /// The run of one call, once its handler runs, is let go; the handler must be told, and the run
  /// must end while the handler still runs.
  ExecutionInfo let_go(const Orchestration<std::string(int)>& orchestration) {
    counts_->holds = true;
    run();
    start(orchestration, "r", "1");
    wait_for_begun(1);
    raise("r", go, "1");
    wait_for_told(1);
    const ExecutionInfo end = end_of("r");
    EXPECT_EQ(counts_->left, 0) << "nobody waits for it";
    counts_->leave.open();
    return end;
  }
  std::vector<HistoryEvent> history(const std::string& id) {
    const InstanceInfo instance = real_->get_instance(id).value();
    HistoryQuery query;
    query.instance = instance.key;
    query.execution = instance.current.execution;
    const auto pages = real_->read_history({query});
    return (*pages)[0]->events;
  }

  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
  LogLines log_;
};

TEST_F(StolenClaims, SelectTimeoutCancelsLosingActivity) {
  EXPECT_EQ(let_go(racing).output, "\"timer\"");
}

TEST_F(StolenClaims, ScheduleActivityWithRetryTimeoutCancelsTimedOutAttempt) {
  run();
  start(retrying, "r", "1");
  wait_for_told(2);
  EXPECT_EQ(end_of("r").output, "\"timeout\"");
  EXPECT_EQ(counts_->begun, 2) << "as the policy says";
}

TEST_F(StolenClaims, CancelInstanceCancelsOutstandingActivities) {
  run();
  start(waiting, "r", "1");
  wait_for_begun(1);
  EXPECT_TRUE(cancel("r", "enough").changed);
  wait_for_told(1);
  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
}

TEST_F(StolenClaims, OrchestrationFailureCancelsActivities) {
  EXPECT_EQ(let_go(failing).status, ExecutionStatus::kFailed);
}

TEST_F(StolenClaims, ContinueAsNewCancelsPreviousExecutionActivities) {
  EXPECT_EQ(let_go(continuing).output, "\"second\"");
}

TEST_F(StolenClaims, MassCancellationOnOrchestrationCancel) {
  constexpr int kCalls = 60;
  counts_->half_answer = true;
  run();
  start(waiting, "r", std::to_string(kCalls));
  wait_for_begun(kCalls);
  const CancelAnswer answer = cancel("r", "enough");
  EXPECT_EQ(answer.touched.size(), std::size_t{kCalls}) << "all in one commit";
  wait_for_told(kCalls);
  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
  runtime_->stop();  // when the store has answered to all that they brought
  EXPECT_EQ(counts_->begun, kCalls);
  EXPECT_EQ(counts_->left, kCalls);
  EXPECT_EQ(log_.count(log::Level::kWarning, "the outcome of an activity was refused"), kCalls / 2);
  for (const HistoryEvent& event : history("r")) {
    EXPECT_NE(event.kind, EventKind::kActivityCompleted);
  }
  const InstanceStats left = real_->get_stats("r").value();
  EXPECT_EQ(left.work_rows + left.queued_messages, 0);
}

}  // namespace

}  // namespace perdure::test::stolen_claims_test
