#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// A cancel by a client: one commit, no turn, and it cannot be overtaken.
namespace perdure::conformance {

namespace {

NewWork shielded_work() {
  NewWork result;
  result.shielded = true;
  return result;
}

}  // namespace

class ClientCancel : public Conformance {
 protected:
  Result<CancelAnswer> try_cancel(const std::string& id, const std::string& request_id = "") {
    CancelOrchestration request;
    request.id = id;
    request.reason = "because";
    request.request_id = request_id;
    return store().cancel_orchestration(std::move(request));
  }

  void expect_nothing_ready_for(Duration time) {
    EXPECT_FALSE(try_lock());
    advance(time);
    EXPECT_FALSE(try_lock());
  }
};

TEST_P(ClientCancel, SetsCancelingInItsOwnCommit) {
  start_and_run("a");

  const CancelAnswer answer = cancel("a");

  EXPECT_TRUE(answer.changed);
  EXPECT_EQ(answer.status, ExecutionStatus::kCanceling);
  EXPECT_EQ(answer.descendants, 0);
  EXPECT_FALSE(answer.cascading);
  EXPECT_EQ(status("a"), ExecutionStatus::kCanceling) << "no turn was needed";
}

TEST_P(ClientCancel, ShowsReasonAndTimes) {
  start_and_run("a");
  advance(5s);
  const TimePoint requested = now();
  cancel("a", "too slow");
  EXPECT_EQ(info("a").current.cancel_reason, "too slow");
  EXPECT_EQ(info("a").current.cancel_requested_at, requested);
  EXPECT_FALSE(info("a").current.canceled_at);

  advance(7s);
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(item.status, ExecutionStatus::kCanceling);
  EXPECT_EQ(item.cancel_reason, "too slow");
  EXPECT_EQ(item.cancel_requested_at, requested);
  TurnCommit decisions = turn(item);
  finish(decisions, item, ExecutionStatus::kCanceled);
  commit(std::move(decisions));

  const ExecutionInfo ended = info("a").current;
  EXPECT_EQ(ended.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(ended.cancel_requested_at, requested);
  EXPECT_EQ(ended.canceled_at, now());
  EXPECT_EQ(ended.completed_at, now());
}

TEST_P(ClientCancel, SecondRequestChangesNothing) {
  start_and_run("a");
  const TimePoint first = now();
  cancel("a", "first");
  advance(1s);

  const CancelAnswer second = cancel("a", "second");

  EXPECT_FALSE(second.changed);
  EXPECT_EQ(second.status, ExecutionStatus::kCanceling);
  EXPECT_EQ(info("a").current.cancel_reason, "first");
  EXPECT_EQ(info("a").current.cancel_requested_at, first);
  EXPECT_EQ(kinds(lock("a").messages), (std::vector<MessageKind>{MessageKind::kCancel}));
}

TEST_P(ClientCancel, EndedRunIsLeftAlone) {
  for (const auto end_status : {ExecutionStatus::kCompleted, ExecutionStatus::kFailed}) {
    const std::string id(to_string(end_status));
    start(id);
    end(id, end_status);
    const CancelAnswer answer = cancel(id);
    EXPECT_FALSE(answer.changed);
    EXPECT_EQ(answer.status, end_status);
    EXPECT_FALSE(info(id).current.cancel_requested_at);
    EXPECT_EQ(history(id).size(), 2u);
  }
  start_and_run("terminated");
  terminate("terminated");
  EXPECT_EQ(cancel("terminated").status, ExecutionStatus::kTerminated);
  start("canceled");
  cancel("canceled", "first");
  EXPECT_FALSE(cancel("canceled", "second").changed);
  EXPECT_EQ(info("canceled").current.cancel_reason, "first");
  EXPECT_FALSE(try_lock());
}

TEST_P(ClientCancel, ReachesOnlyTheExecutionThatItMeans) {
  start_and_run("a");
  CancelOrchestration request;
  request.id = "a";
  request.execution = ExecutionNo{2};
  const auto of_another = store().cancel_orchestration(request);
  ASSERT_TRUE(of_another.ok());
  EXPECT_FALSE(of_another->changed);
  EXPECT_EQ(of_another->status, ExecutionStatus::kRunning);
  EXPECT_EQ(status("a"), ExecutionStatus::kRunning);

  request.execution = ExecutionNo{1};
  EXPECT_TRUE(store().cancel_orchestration(request)->changed);
  EXPECT_EQ(status("a"), ExecutionStatus::kCanceling);
}

TEST_P(ClientCancel, UnknownIdIsNotFound) {
  EXPECT_EQ(refusal(try_cancel("nobody")), ErrorCode::kNotFound);
  EXPECT_EQ(refusal(store().get_instance("nobody")), ErrorCode::kNotFound);
}

TEST_P(ClientCancel, CompletingAndFailingRunsCanBeCanceled) {
  for (const auto from : {ExecutionStatus::kCompleting, ExecutionStatus::kFailing}) {
    const std::string id(to_string(from));
    start(id);
    TurnCommit decisions = turn(lock(id));
    decisions.status = from;
    commit(std::move(decisions));

    const CancelAnswer answer = cancel(id);

    EXPECT_TRUE(answer.changed) << id;
    EXPECT_EQ(status(id), ExecutionStatus::kCanceling) << id;
    end(id, ExecutionStatus::kCanceled);
    EXPECT_EQ(status(id), ExecutionStatus::kCanceled) << id;
  }
}

TEST_P(ClientCancel, TurnUnderWayIsRefusedAndRunsAgainWithTheCancel) {
  start_and_run("a");
  poke("a");
  const OrchestrationItem before = lock("a");
  cancel("a", "stop");
  TurnCommit late = turn(before);
  finish(late, before, ExecutionStatus::kCompleted);

  EXPECT_EQ(refusal(try_commit(std::move(late))), ErrorCode::kConflict);

  abandon(before);
  const OrchestrationItem after = lock("a");
  ASSERT_EQ(kinds(after.messages),
            (std::vector<MessageKind>{MessageKind::kEventRaised, MessageKind::kCancel}));
  EXPECT_EQ(after.messages[1].text, "stop");
  EXPECT_EQ(after.status, ExecutionStatus::kCanceling);
  EXPECT_EQ(after.last_event, before.last_event);
  TurnCommit decisions = turn(after);
  finish(decisions, after, ExecutionStatus::kCanceled);
  EXPECT_TRUE(try_commit(std::move(decisions)).ok());
}

TEST_P(ClientCancel, RefusedTurnLeavesNothingBehind) {
  start_and_run("a");
  poke("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  schedule(decisions, item, shielded_work());
  schedule_timer(decisions, item, now() + 1s, true);
  decisions.custom_status = "\"late\"";
  cancel("a");

  EXPECT_EQ(refusal(try_commit(std::move(decisions))), ErrorCode::kConflict);

  EXPECT_FALSE(try_claim());
  EXPECT_EQ(history("a").size(), 1u);
  EXPECT_EQ(info("a").current.custom_status, "");
  abandon(item);
  commit(turn(lock("a")));
  expect_nothing_ready_for(30s);
}

TEST_P(ClientCancel, TurnsAfterTheCancelWasReadGoOn) {
  start_and_run("a");
  cancel("a");
  commit(turn(lock("a")));
  poke("a");
  const OrchestrationItem cleanup = lock("a");
  cancel("a", "again");
  TurnCommit decisions = turn(cleanup);
  schedule(decisions, cleanup, shielded_work());

  EXPECT_TRUE(try_commit(std::move(decisions)).ok()) << "a repeated cancel is no new cancel";
  EXPECT_TRUE(try_claim());
}

TEST_P(ClientCancel, NothingButCanceledMayFollow) {
  start_and_run("a");
  cancel("a");
  const OrchestrationItem item = lock("a");
  for (const auto other :
       {ExecutionStatus::kCompleted, ExecutionStatus::kFailed, ExecutionStatus::kContinuedAsNew}) {
    TurnCommit decisions = turn(item);
    finish(decisions, item, other);
    EXPECT_EQ(refusal(try_commit(std::move(decisions))), ErrorCode::kInvalidArgument) << other;
  }
  TurnCommit back = turn(item);
  back.status = ExecutionStatus::kRunning;
  EXPECT_EQ(refusal(try_commit(std::move(back))), ErrorCode::kInvalidArgument);
  EXPECT_EQ(status("a"), ExecutionStatus::kCanceling);

  TurnCommit decisions = turn(item);
  finish(decisions, item, ExecutionStatus::kCanceled);
  EXPECT_TRUE(try_commit(std::move(decisions)).ok());
}

TEST_P(ClientCancel, RunWithoutATurnIsCanceledAtOnce) {
  start("a");

  const CancelAnswer answer = cancel("a", "never mind");

  EXPECT_TRUE(answer.changed);
  EXPECT_EQ(answer.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(info("a").current.canceled_at, now());
  EXPECT_EQ(info("a").current.completed_at, now());
  const auto events = history("a");
  ASSERT_EQ(kinds(events),
            (std::vector<EventKind>{
                EventKind::kStarted, EventKind::kCancelRequested, EventKind::kCanceled}));
  EXPECT_EQ(events[1].text, "never mind");
  EXPECT_EQ(events[2].text, "never mind");
  expect_nothing_ready_for(24h);
}

TEST_P(ClientCancel, FirstTurnUnderWayLosesItsLock) {
  start("a");
  const OrchestrationItem item = lock("a");

  EXPECT_EQ(cancel("a").status, ExecutionStatus::kCanceled);

  TurnCommit decisions = turn(item);
  schedule(decisions, item);
  EXPECT_EQ(refusal(try_commit(std::move(decisions))), ErrorCode::kLockLost);
  EXPECT_FALSE(try_claim());
  EXPECT_EQ(history("a").size(), 3u);
  expect_nothing_ready_for(kLock + 1s);
}

TEST_P(ClientCancel, FirstTurnInBackoffIsCanceledAtOnce) {
  start("a");
  abandon(lock("a"), 1h, Charge::kDeferral, BlockedReason::kNondeterminism);

  EXPECT_EQ(cancel("a").status, ExecutionStatus::kCanceled);
  expect_nothing_ready_for(2h);
}

TEST_P(ClientCancel, BackoffIsCleared) {
  start_and_run("a");
  poke("a");
  abandon(lock("a"), 1h);
  ASSERT_FALSE(try_lock());

  cancel("a");

  EXPECT_EQ(kinds(lock("a").messages),
            (std::vector<MessageKind>{MessageKind::kEventRaised, MessageKind::kCancel}));
}

TEST_P(ClientCancel, CancelUnderTheLockOutlastsADelayedAbandon) {
  start_and_run("a");
  poke("a");
  const OrchestrationItem item = lock("a");
  cancel("a");

  abandon(item, 1h);

  EXPECT_EQ(lock("a").status, ExecutionStatus::kCanceling) << "no backoff hides a cancel";
}

TEST_P(ClientCancel, EventsAreStillDeliveredBehindIt) {
  start_and_run("a");
  raise("a", "before");
  cancel("a");

  EXPECT_EQ(raise("a", "after"), EventDelivery::kDelivered);

  const OrchestrationItem item = lock("a");
  ASSERT_EQ(kinds(item.messages),
            (std::vector<MessageKind>{
                MessageKind::kEventRaised, MessageKind::kCancel, MessageKind::kEventRaised}));
  EXPECT_EQ(item.messages[0].name, "before");
  EXPECT_EQ(item.messages[2].name, "after");
}

TEST_P(ClientCancel, NothingIsLeftAfterTheEnd) {
  start_and_run("a");
  cancel("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  schedule_timer(decisions, item, now() + 10s, true);
  finish(decisions, item, ExecutionStatus::kCanceled);

  const TurnCommitted answer = commit(std::move(decisions));

  EXPECT_FALSE(answer.more_now);
  EXPECT_FALSE(answer.next_at);
  expect_nothing_ready_for(24h);
}

TEST_P(ClientCancel, UnshieldedTimersGoAndShieldedOnesFire) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  schedule_timer(decisions, item, now() + 10s);
  const EventId shielded = schedule_timer(decisions, item, now() + 20s, true);
  commit(std::move(decisions));
  cancel("a");
  commit(turn(lock("a")));

  expect_nothing_ready_for(10s);
  advance(10s);

  const OrchestrationItem later = lock("a");
  ASSERT_EQ(kinds(later.messages), (std::vector<MessageKind>{MessageKind::kTimerFired}));
  EXPECT_EQ(later.messages[0].source, shielded);
}

TEST_P(ClientCancel, CleanupDeadlineBecomesVisible) {
  const OrchestrationItem first = start_and_run("a");
  const TimePoint due = now() + 40s;
  CancelOrchestration request;
  request.id = "a";
  request.cleanup_timeout = 40s;
  ASSERT_TRUE(store().cancel_orchestration(std::move(request)).ok());

  const TurnCommitted answer = commit(turn(lock("a")));
  EXPECT_FALSE(answer.more_now);
  EXPECT_EQ(answer.next_at, due);
  expect_nothing_ready_for(39s);
  advance(1s);

  const OrchestrationItem item = lock("a");
  ASSERT_EQ(kinds(item.messages), (std::vector<MessageKind>{MessageKind::kCleanupDeadline}));
  EXPECT_EQ(item.messages[0].execution, first.execution);
  EXPECT_EQ(item.messages[0].visible_at, due);
}

TEST_P(ClientCancel, RepeatedRequestGetsTheFirstAnswer) {
  start_with_work("a", 1);
  claim();
  const auto first = try_cancel("a", "r1");
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(first->changed);
  EXPECT_EQ(first->touched.size(), 1u);

  const auto second = try_cancel("a", "r1");
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(second->changed);
  EXPECT_EQ(second->status, ExecutionStatus::kCanceling);
  EXPECT_TRUE(second->touched.empty());
  EXPECT_EQ(kinds(lock("a").messages), (std::vector<MessageKind>{MessageKind::kCancel}));
}

TEST_P(ClientCancel, RequestIdOfAnotherCallIsRefused) {
  StartOrchestration request = start_request("a");
  request.request_id = "r1";
  start(std::move(request));

  EXPECT_EQ(refusal(try_cancel("a", "r1")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(status("a"), ExecutionStatus::kRunning);
}

PERDURE_CONFORMANCE_SUITE(ClientCancel);

}  // namespace perdure::conformance
