#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/deletion_steps.h"

/// Deleting one instance.
namespace perdure::conformance {

class Deletion : public DeletionSteps {
 protected:
  void ended(const std::string& id, ExecutionStatus status = ExecutionStatus::kCompleted) {
    start(id);
    end(id, status);
  }
};

TEST_P(Deletion, RemovesAnEndedInstanceWhateverItsEnd) {
  ended("completed");
  ended("failed", ExecutionStatus::kFailed);
  start("canceled");
  cancel("canceled");
  start("terminated");
  terminate("terminated");
  for (const char* id : {"completed", "failed", "canceled", "terminated"}) {
    const InstanceKey key = info(id).key;
    const std::size_t events = history(id).size();

    const InstanceDeleted answer = delete_it(id);

    EXPECT_EQ(answer.instances, 1) << id;
    EXPECT_EQ(answer.events, static_cast<std::int64_t>(events)) << id;
    EXPECT_TRUE(answer.touched.empty()) << id;
    EXPECT_FALSE(answer.removing) << id;
    EXPECT_FALSE(exists(id)) << id;
    EXPECT_TRUE(history(key, ExecutionNo{1}).empty()) << id;
    EXPECT_EQ(refusal(store().get_execution(id, ExecutionNo{1})), ErrorCode::kNotFound) << id;
  }
}

TEST_P(Deletion, RemovesAllExecutions) {
  start("loop");
  end("loop", ExecutionStatus::kContinuedAsNew);
  end("loop", ExecutionStatus::kContinuedAsNew);
  end("loop", ExecutionStatus::kCompleted);
  const InstanceKey key = info("loop").key;

  delete_it("loop");

  for (int i = 1; i <= 3; ++i) EXPECT_TRUE(history(key, ExecutionNo{i}).empty()) << i;
}

TEST_P(Deletion, OfAnUnknownIdIsNotFound) {
  EXPECT_EQ(refusal(try_delete("nobody")), ErrorCode::kNotFound);
  EXPECT_EQ(refusal(try_delete("nobody", true)), ErrorCode::kNotFound);
}

TEST_P(Deletion, TwiceIsNotFound) {
  ended("a");
  delete_it("a");
  EXPECT_EQ(refusal(try_delete("a")), ErrorCode::kNotFound);
}

TEST_P(Deletion, RefusesALimitThatIsNotPositive) {
  ended("a");
  EXPECT_EQ(refusal(try_delete("a", false, 0)), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(exists("a"));
}

TEST_P(Deletion, OfALiveRunIsRefusedAndChangesNothing) {
  start_with_work("a", 1);
  const WorkItem claimed = claim();

  EXPECT_EQ(refusal(try_delete("a")), ErrorCode::kConflict);

  EXPECT_EQ(status("a"), ExecutionStatus::kRunning);
  EXPECT_EQ(check(claimed), ClaimState::kRenewed);
  complete(claimed);
  EXPECT_EQ(lock("a").messages.size(), 1u);
}

TEST_P(Deletion, OfARunThatIsCancelingIsRefused) {
  start_and_run("a");
  cancel("a");
  EXPECT_EQ(refusal(try_delete("a")), ErrorCode::kConflict);
}

TEST_P(Deletion, ByForceTakesTheWorkAwayAndReturnsItsTokens) {
  start_with_work("a", 2);
  NewWork patient;
  patient.on_cancel = OnCancel::kWait;
  start_with_work("b", 1, patient);
  const std::vector<WorkItem> claimed = claim_up_to(2);
  ASSERT_EQ(claimed.size(), 2u);
  const ChangeMark mark = store().change_mark();

  const InstanceDeleted answer = delete_it("a", true);

  EXPECT_EQ(answer.touched,
            (std::vector<TouchedClaim>{{claimed[0].id, claimed[0].lock, false},
                                       {claimed[1].id, claimed[1].lock, false}}));
  for (const WorkItem& item : claimed) {
    EXPECT_EQ(check(item), ClaimState::kGone);
    EXPECT_EQ(renew(item), ClaimState::kGone);
    EXPECT_EQ(refusal(try_complete(item)), ErrorCode::kLockLost);
  }
  Interest interest;
  interest.after = mark;
  interest.claims_of = epoch();
  EXPECT_EQ(store().wait_for_change(interest).reason, Wake::Reason::kChanged);
  const WorkItem other = claim();
  EXPECT_EQ(other.instance_id, "b") << "the neighbour keeps its work";
  EXPECT_EQ(delete_it("b", true).touched.size(), 1u) << "also work that a cancel would wait for";
  EXPECT_FALSE(try_claim());
}

TEST_P(Deletion, ByForceLeavesNoQueuedWork) {
  start_with_work("a", 3);
  EXPECT_TRUE(delete_it("a", true).touched.empty());
  EXPECT_FALSE(try_claim());
}

TEST_P(Deletion, OfAnEndedRunTakesAwayWorkThatStillRuns) {
  for (const OnCancel on_cancel : {OnCancel::kWait, OnCancel::kAbandon}) {
    NewWork work;
    work.on_cancel = on_cancel;
    start_with_work("a", 1, work);
    const WorkItem claimed = claim();
    poke("a");
    end("a", ExecutionStatus::kCompleted);
    ASSERT_NE(check(claimed), ClaimState::kGone);

    const InstanceDeleted answer = delete_it("a");

    EXPECT_EQ(answer.touched, (std::vector<TouchedClaim>{{claimed.id, claimed.lock, false}}));
    EXPECT_EQ(check(claimed), ClaimState::kGone);
    EXPECT_EQ(refusal(try_complete(claimed)), ErrorCode::kLockLost);
  }
}

TEST_P(Deletion, ByForceFencesATurnUnderWay) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  schedule(decisions, item);
  schedule_child(decisions, item, "child");

  delete_it("a", true);

  EXPECT_EQ(refusal(try_commit(std::move(decisions))), ErrorCode::kLockLost);
  EXPECT_FALSE(exists("a"));
  EXPECT_FALSE(exists("child"));
  EXPECT_FALSE(try_claim());
  EXPECT_FALSE(try_lock());
}

TEST_P(Deletion, WakesWhoWaitsForTheRun) {
  const InstanceKey key = start("a").instance;
  Interest interest;
  interest.after = store().change_mark();
  interest.run = key;

  delete_it("a", true);

  EXPECT_EQ(store().wait_for_change(interest).reason, Wake::Reason::kChanged);
}

TEST_P(Deletion, FreesTheIdForAFreshInstance) {
  start_with_work("a", 1);
  const WorkItem stale_work = claim();
  poke("a");
  const OrchestrationItem stale = lock("a");
  raise("a", "late");
  delete_it("a", true);

  const OrchestrationStarted again = start("a");

  EXPECT_EQ(again.outcome, StartOutcome::kStarted);
  EXPECT_NE(again.instance, stale.instance) << "a key is never used twice";
  EXPECT_EQ(again.execution, ExecutionNo{1});
  EXPECT_EQ(kinds(history("a")), (std::vector<EventKind>{EventKind::kStarted}));
  EXPECT_EQ(refusal(try_complete(stale_work)), ErrorCode::kLockLost);
  EXPECT_EQ(refusal(try_commit(turn(stale))), ErrorCode::kLockLost);
  const OrchestrationItem fresh = lock("a");
  EXPECT_EQ(kinds(fresh.messages), (std::vector<MessageKind>{MessageKind::kStart}));
  EXPECT_EQ(fresh.losses, 0);
}

TEST_P(Deletion, DropsAStoredStart) {
  start_and_run("a");
  StartOrchestration next = start_request("a");
  next.on_conflict = OnConflict::kCancelExisting;
  ASSERT_EQ(start(next).outcome, StartOutcome::kPending);

  delete_it("a", true);
  start("a");
  end("a", ExecutionStatus::kCompleted);

  EXPECT_EQ(status("a"), ExecutionStatus::kCompleted) << "nothing follows";
  EXPECT_EQ(info("a").current.execution, ExecutionNo{1});
}

TEST_P(Deletion, KeepsTheAnswersOfRequestIds) {
  StartOrchestration request = start_request("a");
  request.request_id = "once";
  const OrchestrationStarted first = start(request);
  delete_it("a", true);

  const OrchestrationStarted second = start(request);

  EXPECT_EQ(second.instance, first.instance);
  EXPECT_FALSE(exists("a")) << "a repeated call changes nothing";
}

TEST_P(Deletion, RemovesALongHistoryInPortions) {
  start("long");
  const OrchestrationItem item = lock("long");
  TurnCommit decisions = turn(item);
  for (int i = 0; i < 50; ++i) {
    decisions.events.push_back(next_event(item, decisions, EventKind::kEventReceived));
  }
  finish(decisions, item, ExecutionStatus::kCompleted);
  commit(std::move(decisions));
  const std::size_t events = history("long").size();
  const InstanceKey key = item.instance;

  const auto answer = try_delete("long", false, 20);

  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->removing);
  EXPECT_FALSE(exists("long"));
  start("long");
  const RemovalsCarriedOn rest = carry_on_to_the_end(7);
  EXPECT_EQ(answer->events + rest.events, static_cast<std::int64_t>(events));
  EXPECT_TRUE(history(key, ExecutionNo{1}).empty());
  EXPECT_EQ(history("long").size(), 1u) << "the new instance of that id keeps its own";
}

TEST_P(Deletion, NothingIsCarriedOnWhenNothingIsLeft) {
  ended("a");
  delete_it("a");
  const RemovalsCarriedOn rest = carry_on_to_the_end(10);
  EXPECT_EQ(rest.instances, 0);
  EXPECT_EQ(rest.events, 0);
  CarryOnRemovals request;
  request.limit = 0;
  EXPECT_EQ(refusal(store().carry_on_removals(request)), ErrorCode::kInvalidArgument);
}

TEST_P(Deletion, OfADamagedInstanceWorks) {
  start("a");
  RowRef row;
  row.table = RowRef::Table::kExecution;
  row.instance = info("a").key;
  under_test().corrupt(row);

  EXPECT_EQ(delete_it("a", true).instances, 1);

  EXPECT_FALSE(exists("a"));
}

TEST_P(Deletion, MeetsAStartAndATurnInOneGroup) {
  start("a");
  const OrchestrationItem item = lock("a");
  Answers<InstanceDeleted> deleted;
  Answers<OrchestrationStarted> started;
  Answers<Batch<TurnCommitted>> acked;
  store().submit(DeleteInstance{.id = "a", .force = true, .limit = 100}, deleted.next(), {});
  store().submit(start_request("a"), started.next(), {});
  AckOrchestrationItems acks;
  acks.entries.push_back(turn(item));
  store().submit(acks, acked.next(), {});
  ASSERT_TRUE(deleted.wait_for_all(store()));
  ASSERT_TRUE(started.wait_for_all(store()));
  ASSERT_TRUE(acked.wait_for_all(store()));

  EXPECT_TRUE(deleted.at(0).ok());
  ASSERT_TRUE(started.at(0).ok());
  EXPECT_EQ(started.at(0)->execution, ExecutionNo{1});
  ASSERT_TRUE(acked.at(0).ok());
  EXPECT_EQ(refusal(acked.at(0)->at(0)), ErrorCode::kLockLost);
  EXPECT_EQ(lock("a").instance, started.at(0)->instance);
}

PERDURE_CONFORMANCE_SUITE(Deletion);

}  // namespace perdure::conformance
