#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// Terminate ends a run in one commit, from every live state, without its code.
namespace perdure::conformance {

class ClientTerminate : public Conformance {
 protected:
  Result<CancelAnswer> try_terminate(const std::string& id, const std::string& request_id = "") {
    TerminateOrchestration request;
    request.id = id;
    request.reason = "because";
    request.request_id = request_id;
    return store().terminate_orchestration(std::move(request));
  }

  void expect_nothing_ready_for(Duration time) {
    EXPECT_FALSE(try_lock());
    advance(time);
    EXPECT_FALSE(try_lock());
  }
};

TEST_P(ClientTerminate, EndsARunningRun) {
  start_and_run("a");
  advance(3s);

  const CancelAnswer answer = terminate("a", "enough");

  EXPECT_TRUE(answer.changed);
  EXPECT_EQ(answer.status, ExecutionStatus::kTerminated);
  EXPECT_EQ(answer.descendants, 0);
  EXPECT_FALSE(answer.cascading);
  EXPECT_EQ(status("a"), ExecutionStatus::kTerminated);
  EXPECT_EQ(info("a").current.completed_at, now());
}

TEST_P(ClientTerminate, IsTheLastEventOfTheHistory) {
  start_with_work("a", 1);

  terminate("a", "enough");

  const auto events = history("a");
  ASSERT_EQ(kinds(events),
            (std::vector<EventKind>{
                EventKind::kStarted, EventKind::kActivityScheduled, EventKind::kTerminated}));
  EXPECT_EQ(events.back().id, EventId{3});
  EXPECT_EQ(events.back().text, "enough");
  EXPECT_EQ(events.back().at, now());
  EXPECT_EQ(info("a").current.last_event, EventId{3});
}

TEST_P(ClientTerminate, EndsARunWithoutATurn) {
  start("a");

  EXPECT_EQ(terminate("a").status, ExecutionStatus::kTerminated);

  EXPECT_EQ(kinds(history("a")),
            (std::vector<EventKind>{EventKind::kStarted, EventKind::kTerminated}));
  expect_nothing_ready_for(24h);
}

TEST_P(ClientTerminate, EndsACancelingRunAndItsCleanup) {
  start_and_run("a");
  cancel("a", "first");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  NewWork cleanup;
  cleanup.shielded = true;
  schedule(decisions, item, cleanup);
  commit(std::move(decisions));

  const CancelAnswer answer = terminate("a", "second");

  EXPECT_TRUE(answer.changed);
  EXPECT_EQ(status("a"), ExecutionStatus::kTerminated);
  EXPECT_EQ(info("a").current.cancel_reason, "first");
  EXPECT_EQ(history("a").back().text, "second");
  EXPECT_FALSE(try_claim());
  expect_nothing_ready_for(24h);
}

TEST_P(ClientTerminate, EndsARunWithAnUnreadCancel) {
  start_and_run("a");
  cancel("a");

  EXPECT_TRUE(terminate("a").changed);

  EXPECT_EQ(status("a"), ExecutionStatus::kTerminated);
  expect_nothing_ready_for(24h);
}

TEST_P(ClientTerminate, EndsCompletingAndFailingRuns) {
  for (const auto from : {ExecutionStatus::kCompleting, ExecutionStatus::kFailing}) {
    const std::string id(to_string(from));
    start(id);
    TurnCommit decisions = turn(lock(id));
    decisions.status = from;
    commit(std::move(decisions));

    EXPECT_TRUE(terminate(id).changed) << id;
    EXPECT_EQ(status(id), ExecutionStatus::kTerminated) << id;
  }
}

TEST_P(ClientTerminate, EndsABlockedRunInBackoff) {
  start_and_run("a");
  poke("a");
  abandon(lock("a"), 24h, Charge::kDeferral, BlockedReason::kNondeterminism);

  EXPECT_TRUE(terminate("a").changed);

  EXPECT_EQ(status("a"), ExecutionStatus::kTerminated);
  expect_nothing_ready_for(48h);
}

TEST_P(ClientTerminate, TurnUnderWayLosesItsLock) {
  start_and_run("a");
  poke("a");
  const OrchestrationItem item = lock("a");
  terminate("a");
  TurnCommit late = turn(item);
  finish(late, item, ExecutionStatus::kCompleted);

  EXPECT_EQ(refusal(try_commit(std::move(late))), ErrorCode::kLockLost);

  RenewOrchestrationItemLocks keep;
  keep.entries.push_back({item.instance, item.lock});
  auto kept = store().renew_orchestration_item_locks(std::move(keep));
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(refusal(kept->at(0)), ErrorCode::kLockLost);
  EXPECT_EQ(status("a"), ExecutionStatus::kTerminated);
  EXPECT_EQ(history("a").back().kind, EventKind::kTerminated);
}

TEST_P(ClientTerminate, EndedRunIsUnchanged) {
  start("completed");
  end("completed", ExecutionStatus::kCompleted);
  start("failed");
  end("failed", ExecutionStatus::kFailed);
  start("canceled");
  cancel("canceled");
  for (const auto ended :
       {ExecutionStatus::kCompleted, ExecutionStatus::kFailed, ExecutionStatus::kCanceled}) {
    const std::string id(to_string(ended));
    const auto before = history(id);
    const CancelAnswer answer = terminate(id);
    EXPECT_FALSE(answer.changed) << id;
    EXPECT_EQ(answer.status, ended) << id;
    EXPECT_EQ(status(id), ended) << id;
    EXPECT_EQ(history(id), before) << id;
  }
}

TEST_P(ClientTerminate, SecondTerminateChangesNothing) {
  start_and_run("a");
  terminate("a", "first");

  const CancelAnswer second = terminate("a", "second");

  EXPECT_FALSE(second.changed);
  EXPECT_EQ(second.status, ExecutionStatus::kTerminated);
  EXPECT_EQ(history("a").back().text, "first");
  EXPECT_EQ(history("a").size(), 2u);
}

TEST_P(ClientTerminate, UnclaimedWorkIsDeleted) {
  start_with_work("a", 3);
  poke("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  NewWork shielded;
  shielded.shielded = true;
  schedule(decisions, item, shielded);
  NewWork delayed;
  delayed.visible_at = now() + 10s;
  schedule(decisions, item, delayed);
  commit(std::move(decisions));

  EXPECT_TRUE(terminate("a").touched.empty());

  EXPECT_TRUE(claim_up_to(10).empty());
  advance(20s);
  EXPECT_TRUE(claim_up_to(10).empty());
}

TEST_P(ClientTerminate, ClaimedWorkIsDeletedWhateverItsPolicyAndShield) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  for (const auto policy : {OnCancel::kTryCancel, OnCancel::kWait, OnCancel::kAbandon}) {
    for (const bool shielded : {false, true}) {
      NewWork work;
      work.on_cancel = policy;
      work.shielded = shielded;
      schedule(decisions, item, std::move(work));
    }
  }
  commit(std::move(decisions));
  const auto claims = claim_up_to(6);
  ASSERT_EQ(claims.size(), 6u);

  const CancelAnswer answer = terminate("a");

  EXPECT_EQ(answer.touched.size(), 6u);
  for (const WorkItem& claimed : claims) {
    const TouchedClaim expected{claimed.id, claimed.lock, false};
    EXPECT_EQ(std::count(answer.touched.begin(), answer.touched.end(), expected), 1);
    EXPECT_EQ(check(claimed), ClaimState::kGone);
    EXPECT_EQ(refusal(try_complete(claimed)), ErrorCode::kLockLost);
  }
}

TEST_P(ClientTerminate, WorkMarkedByACancelIsDeleted) {
  NewWork waits;
  waits.on_cancel = OnCancel::kWait;
  start_with_work("a", 1, waits);
  const WorkItem claimed = claim();
  cancel("a");
  ASSERT_EQ(check(claimed), ClaimState::kCanceled);

  const CancelAnswer answer = terminate("a");

  const std::vector<TouchedClaim> expected{{claimed.id, claimed.lock, false}};
  EXPECT_EQ(answer.touched, expected);
  EXPECT_EQ(check(claimed), ClaimState::kGone);
}

TEST_P(ClientTerminate, TimersAndMessagesGo) {
  StartOrchestration request = start_request("a");
  request.run_timeout = 1h;
  start(std::move(request));
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  schedule_timer(decisions, item, now() + 10s);
  schedule_timer(decisions, item, now() + 20s, true);
  commit(std::move(decisions));
  poke("a");

  terminate("a");

  expect_nothing_ready_for(24h);
  EXPECT_EQ(raise("a", "late"), EventDelivery::kEnded);
}

TEST_P(ClientTerminate, ParentIsTold) {
  start("root");
  start_child_of("root", "child");
  const EventId call = info("child").parent.value().event;

  terminate("child", "enough");

  EXPECT_EQ(status("root"), ExecutionStatus::kRunning);
  const OrchestrationItem item = lock("root");
  ASSERT_EQ(kinds(item.messages), (std::vector<MessageKind>{MessageKind::kChildTerminated}));
  EXPECT_EQ(item.messages[0].source, call);
  EXPECT_EQ(item.messages[0].execution, item.execution);
  EXPECT_EQ(item.messages[0].text, "enough");
}

TEST_P(ClientTerminate, NeighboursAreNotTouched) {
  start_with_work("a", 1);
  start_with_work("b", 1);
  const auto claims = claim_up_to(2);
  ASSERT_EQ(claims.size(), 2u);

  terminate("a");

  EXPECT_EQ(status("b"), ExecutionStatus::kRunning);
  for (const WorkItem& claimed : claims) {
    EXPECT_EQ(check(claimed),
              claimed.instance_id == "a" ? ClaimState::kGone : ClaimState::kRenewed);
  }
}

TEST_P(ClientTerminate, RepeatedRequestGetsTheFirstAnswer) {
  start_with_work("a", 1);
  claim();
  const auto first = try_terminate("a", "r1");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->touched.size(), 1u);
  start("a");

  const auto second = try_terminate("a", "r1");

  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(second->changed);
  EXPECT_EQ(second->status, ExecutionStatus::kTerminated);
  EXPECT_TRUE(second->touched.empty());
  EXPECT_EQ(status("a"), ExecutionStatus::kRunning) << "the new run is none of its business";
  EXPECT_EQ(refusal(store().cancel_orchestration({.id = "a", .request_id = "r1"})),
            ErrorCode::kInvalidArgument);
}

TEST_P(ClientTerminate, UnknownIdIsNotFound) {
  EXPECT_EQ(refusal(try_terminate("nobody")), ErrorCode::kNotFound);
}

PERDURE_CONFORMANCE_SUITE(ClientTerminate);

}  // namespace perdure::conformance
