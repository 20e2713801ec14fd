#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// Cancel and terminate reach the descendants of a run; its end reaches them by close policy.
namespace perdure::conformance {

class Descendants : public Conformance {
 protected:
  /// Locks every instance that is ready.
  std::map<std::string, OrchestrationItem> lock_all() {
    std::map<std::string, OrchestrationItem> items;
    for (OrchestrationItem& item : lock_up_to(100)) items.emplace(item.id, std::move(item));
    return items;
  }

  /// root -> child -> grandchild, all with a turn behind them.
  void three_generations(ClosePolicy of_child = ClosePolicy::kCancel) {
    start("root");
    start_child_of("root", "child", of_child);
    poke("child");
    start_child_of("child", "grandchild");
  }

  /// A root with one turn behind it, in which it started a child that has had none.
  EventId parent_of_fresh_child(ClosePolicy policy = ClosePolicy::kCancel) {
    start("root");
    const OrchestrationItem item = lock("root");
    TurnCommit decisions = turn(item);
    const EventId call = schedule_child(decisions, item, "child", policy);
    commit(std::move(decisions));
    return call;
  }

  /// A root with `count` children "0", "1" .., all with a turn behind them. Answers their calls.
  std::vector<EventId> family(int count) {
    start("root");
    const OrchestrationItem item = lock("root");
    TurnCommit decisions = turn(item);
    std::vector<EventId> calls;
    for (int i = 0; i < count; ++i) {
      calls.push_back(schedule_child(decisions, item, std::to_string(i)));
    }
    commit(std::move(decisions));
    for (const auto& [id, child] : lock_all()) commit(turn(child));
    return calls;
  }

  /// root -> child -> cleanup, which the child started under a shield when it heard of the cancel
  /// of `canceled`. All of them have had their turns.
  void canceled_child_with_cleanup(const std::string& canceled) {
    start("root");
    start_child_of("root", "child");
    cancel(canceled);
    for (const auto& [id, item] : lock_all()) {
      TurnCommit decisions = turn(item);
      if (id == "child") {
        schedule_child(decisions, item, "cleanup", ClosePolicy::kCancel, true);
      }
      commit(std::move(decisions));
    }
    commit(turn(lock("cleanup")));
  }

  /// root with an ordinary and an abandoned child ends in the given way.
  void expect_end_cancels_by_policy(ExecutionStatus end_status) {
    start("root");
    start_child_of("root", "bound");
    poke("root");
    start_child_of("root", "free", ClosePolicy::kAbandon);
    poke("root");

    end("root", end_status);

    EXPECT_EQ(status("bound"), ExecutionStatus::kCanceling);
    EXPECT_EQ(status("free"), ExecutionStatus::kRunning);
    auto ready = lock_all();
    ASSERT_EQ(ready.count("bound"), 1u);
    EXPECT_EQ(kinds(ready["bound"].messages), (std::vector<MessageKind>{MessageKind::kCancel}));
    EXPECT_EQ(ready.count("free"), 0u);
  }
};

TEST_P(Descendants, CancelReachesAllGenerationsInOneCommit) {
  three_generations();

  const CancelAnswer answer = cancel("root", "family matter");

  EXPECT_EQ(answer.descendants, 2);
  EXPECT_FALSE(answer.cascading);
  auto ready = lock_all();
  for (const char* id : {"root", "child", "grandchild"}) {
    EXPECT_EQ(status(id), ExecutionStatus::kCanceling) << id;
    EXPECT_EQ(info(id).current.cancel_reason, "family matter") << id;
    EXPECT_EQ(kinds(ready[id].messages), (std::vector<MessageKind>{MessageKind::kCancel})) << id;
  }
}

TEST_P(Descendants, TerminateReachesAllGenerationsInOneCommit) {
  three_generations();

  const CancelAnswer answer = terminate("root");

  EXPECT_EQ(answer.descendants, 2);
  for (const char* id : {"root", "child", "grandchild"}) {
    EXPECT_EQ(status(id), ExecutionStatus::kTerminated) << id;
    EXPECT_EQ(history(id).back().kind, EventKind::kTerminated) << id;
  }
  EXPECT_TRUE(lock_all().empty());
}

TEST_P(Descendants, AbandonPolicyCutsOffTheSubtreeFromACancel) {
  three_generations(ClosePolicy::kAbandon);

  EXPECT_EQ(cancel("root").descendants, 0);

  EXPECT_EQ(status("child"), ExecutionStatus::kRunning);
  EXPECT_EQ(status("grandchild"), ExecutionStatus::kRunning);
  EXPECT_EQ(lock_all().size(), 1u) << "only the root has something to do";
}

TEST_P(Descendants, AbandonPolicyCutsOffTheSubtreeFromATerminate) {
  three_generations(ClosePolicy::kAbandon);

  EXPECT_EQ(terminate("root").descendants, 0);

  EXPECT_EQ(status("child"), ExecutionStatus::kRunning);
  EXPECT_EQ(status("grandchild"), ExecutionStatus::kRunning);
}

TEST_P(Descendants, CancelOfAChildLeavesItsParentAlone) {
  three_generations();

  EXPECT_EQ(cancel("child").descendants, 1);

  EXPECT_EQ(status("grandchild"), ExecutionStatus::kCanceling);
  EXPECT_EQ(status("root"), ExecutionStatus::kRunning);
  EXPECT_EQ(lock_all().count("root"), 0u) << "the parent hears of it when the child has ended";
}

TEST_P(Descendants, EndedChildIsLeftAlone) {
  start("root");
  start_child_of("root", "child");
  poke("child");
  end("child", ExecutionStatus::kCompleted);

  EXPECT_EQ(cancel("root").descendants, 0);

  EXPECT_EQ(status("child"), ExecutionStatus::kCompleted);
  EXPECT_FALSE(info("child").current.cancel_requested_at);
}

TEST_P(Descendants, ChildThatWasCanceledBeforeKeepsItsReason) {
  three_generations();
  cancel("child", "first");
  commit(turn(lock_all().at("child")));

  cancel("root", "second");

  EXPECT_EQ(info("child").current.cancel_reason, "first");
  EXPECT_EQ(info("grandchild").current.cancel_reason, "first");
  EXPECT_EQ(lock_all().count("child"), 0u) << "one cancel message is enough";
}

TEST_P(Descendants, ParentIsToldOfAChildCanceledWithoutATurn) {
  const EventId call = parent_of_fresh_child();

  EXPECT_EQ(cancel("child", "not needed").status, ExecutionStatus::kCanceled);

  const OrchestrationItem item = lock("root");
  ASSERT_EQ(kinds(item.messages), (std::vector<MessageKind>{MessageKind::kChildCanceled}));
  EXPECT_EQ(item.messages[0].source, call);
  EXPECT_EQ(item.messages[0].execution, item.execution);
  EXPECT_EQ(item.messages[0].text, "not needed");
}

TEST_P(Descendants, ParentIsToldOfAChildThatEndsCanceledByATurn) {
  start("root");
  start_child_of("root", "child");
  cancel("child");

  end("child", ExecutionStatus::kCanceled);

  EXPECT_EQ(kinds(lock("root").messages), (std::vector<MessageKind>{MessageKind::kChildCanceled}));
}

TEST_P(Descendants, ChildWithoutATurnIsCanceledAtOnceWithItsParent) {
  parent_of_fresh_child();
  const OrchestrationItem first_turn = lock("child");

  EXPECT_EQ(cancel("root").descendants, 1);

  EXPECT_EQ(status("root"), ExecutionStatus::kCanceling);
  EXPECT_EQ(status("child"), ExecutionStatus::kCanceled);
  EXPECT_EQ(refusal(try_commit(turn(first_turn))), ErrorCode::kLockLost);
}

TEST_P(Descendants, ClaimsOfDescendantsAreTouched) {
  three_generations();
  poke("grandchild");
  const OrchestrationItem item = lock("grandchild");
  TurnCommit decisions = turn(item);
  schedule(decisions, item);
  commit(std::move(decisions));
  const WorkItem claimed = claim();

  const CancelAnswer answer = cancel("root");

  const std::vector<TouchedClaim> expected{{claimed.id, claimed.lock, false}};
  EXPECT_EQ(answer.touched, expected);
  EXPECT_EQ(check(claimed), ClaimState::kGone);
}

TEST_P(Descendants, ClaimsOfADescendantCarryTheReasonOfItsRun) {
  three_generations();
  poke("grandchild");
  const OrchestrationItem item = lock("grandchild");
  TurnCommit decisions = turn(item);
  schedule(decisions, item);
  commit(std::move(decisions));
  claim();
  const EventId call = info("child").parent.value().event;
  poke("root");
  TurnCommit dropping = turn(lock("root"));
  dropping.canceled_children = {call};

  const TurnCommitted answer = commit(std::move(dropping));

  ASSERT_EQ(answer.touched.size(), 1u);
  EXPECT_NE(answer.touched[0].reason, "");
  EXPECT_EQ(answer.touched[0].reason, info("grandchild").current.cancel_reason);
}

TEST_P(Descendants, ACancelSparesAShieldedChild) {
  start("root");
  start_child_of("root", "child", ClosePolicy::kCancel, true);
  poke("child");
  start_child_of("child", "grandchild");
  EXPECT_TRUE(info("child").parent.value().shielded);

  EXPECT_EQ(cancel("root").descendants, 0);

  EXPECT_EQ(status("child"), ExecutionStatus::kRunning);
  EXPECT_EQ(status("grandchild"), ExecutionStatus::kRunning);
  EXPECT_EQ(lock_all().size(), 1u) << "only the root has something to do";
}

TEST_P(Descendants, TheEndOfAParentReachesAShieldedChild) {
  start("root");
  start_child_of("root", "child", ClosePolicy::kCancel, true);
  poke("child");
  start_child_of("child", "grandchild");
  cancel("root");

  end("root", ExecutionStatus::kCanceled);

  EXPECT_EQ(status("child"), ExecutionStatus::kCanceling);
  EXPECT_EQ(status("grandchild"), ExecutionStatus::kCanceling);
}

TEST_P(Descendants, TheEndOfAParentSparesTheCleanupOfItsCanceledChild) {
  canceled_child_with_cleanup("root");
  poke("root");

  end("root", ExecutionStatus::kCanceled);

  EXPECT_EQ(status("cleanup"), ExecutionStatus::kRunning);
  poke("child");
  end("child", ExecutionStatus::kCanceled);
  EXPECT_EQ(status("cleanup"), ExecutionStatus::kCanceling) << "its own parent has ended";
}

TEST_P(Descendants, ACancelFromAboveSparesTheCleanupOfACanceledChild) {
  canceled_child_with_cleanup("child");

  EXPECT_EQ(cancel("root").descendants, 0);

  EXPECT_EQ(status("cleanup"), ExecutionStatus::kRunning);
}

TEST_P(Descendants, ATerminateSparesNoShieldedChild) {
  start("root");
  start_child_of("root", "child", ClosePolicy::kCancel, true);
  poke("child");
  start_child_of("child", "grandchild", ClosePolicy::kCancel, true);

  EXPECT_EQ(terminate("root").descendants, 2);

  EXPECT_EQ(status("child"), ExecutionStatus::kTerminated);
  EXPECT_EQ(status("grandchild"), ExecutionStatus::kTerminated);
}

TEST_P(Descendants, ATurnCancelsTheShieldedChildItNamesAndNotWhatThatOneShields) {
  start("root");
  start_child_of("root", "child", ClosePolicy::kCancel, true);
  poke("child");
  start_child_of("child", "grandchild", ClosePolicy::kCancel, true);
  poke("root");
  TurnCommit decisions = turn(lock("root"));
  decisions.canceled_children = {info("child").parent.value().event};

  commit(std::move(decisions));

  EXPECT_EQ(status("child"), ExecutionStatus::kCanceling);
  EXPECT_EQ(status("grandchild"), ExecutionStatus::kRunning);
}

TEST_P(Descendants, AnIdThatIsUsedAgainIsShieldedAsItsNewCallIs) {
  start("root");
  start_child_of("root", "child", ClosePolicy::kCancel, true);
  poke("child");
  end("child", ExecutionStatus::kCompleted);
  start_child_of("root", "child");
  EXPECT_FALSE(info("child").parent.value().shielded);

  EXPECT_EQ(cancel("root").descendants, 1);

  EXPECT_EQ(status("child"), ExecutionStatus::kCanceling);
}

TEST_P(Descendants, CompletedParentCancelsByPolicy) {
  expect_end_cancels_by_policy(ExecutionStatus::kCompleted);
}

TEST_P(Descendants, FailedParentCancelsByPolicy) {
  expect_end_cancels_by_policy(ExecutionStatus::kFailed);
}

TEST_P(Descendants, ContinuedParentCancelsByPolicy) {
  expect_end_cancels_by_policy(ExecutionStatus::kContinuedAsNew);
}

TEST_P(Descendants, TurnCancelsTheChildrenItNames) {
  const auto calls = family(3);
  poke("root");
  TurnCommit decisions = turn(lock("root"));
  decisions.canceled_children = {calls[1]};

  commit(std::move(decisions));

  EXPECT_EQ(status("root"), ExecutionStatus::kRunning);
  EXPECT_EQ(status("0"), ExecutionStatus::kRunning);
  EXPECT_EQ(status("1"), ExecutionStatus::kCanceling);
  EXPECT_EQ(status("2"), ExecutionStatus::kRunning);
  EXPECT_EQ(kinds(lock("1").messages), (std::vector<MessageKind>{MessageKind::kCancel}));
}

TEST_P(Descendants, DescendantsOfANamedChildAreCanceledToo) {
  three_generations();
  const EventId call = info("child").parent.value().event;
  poke("root");
  TurnCommit decisions = turn(lock("root"));
  decisions.canceled_children = {call};

  commit(std::move(decisions));

  EXPECT_EQ(status("child"), ExecutionStatus::kCanceling);
  EXPECT_EQ(status("grandchild"), ExecutionStatus::kCanceling);
}

TEST_P(Descendants, NoChildIsBornUnderACanceledParent) {
  start_and_run("root");
  poke("root");
  const OrchestrationItem item = lock("root");
  TurnCommit decisions = turn(item);
  schedule_child(decisions, item, "child");
  schedule_child(decisions, item, "free", ClosePolicy::kAbandon);
  cancel("root");

  EXPECT_EQ(refusal(try_commit(std::move(decisions))), ErrorCode::kConflict);

  EXPECT_EQ(refusal(store().get_instance("child")), ErrorCode::kNotFound);
  EXPECT_EQ(refusal(store().get_instance("free")), ErrorCode::kNotFound);
}

TEST_P(Descendants, ChildBornInTheCommitThatEndsItsParentFollowsItsPolicy) {
  start("root");
  const OrchestrationItem item = lock("root");
  TurnCommit decisions = turn(item);
  schedule_child(decisions, item, "bound");
  schedule_child(decisions, item, "free", ClosePolicy::kAbandon);
  finish(decisions, item, ExecutionStatus::kCompleted);

  commit(std::move(decisions));

  EXPECT_EQ(status("bound"), ExecutionStatus::kCanceled);
  EXPECT_EQ(lock("free").status, ExecutionStatus::kRunning);
  EXPECT_FALSE(try_lock());
}

TEST_P(Descendants, EndOfAFreeChildDoesNotWakeItsEndedParent) {
  start("root");
  start_child_of("root", "free", ClosePolicy::kAbandon);
  poke("root");
  end("root", ExecutionStatus::kCompleted);
  poke("free");

  end("free", ExecutionStatus::kCompleted);

  EXPECT_EQ(status("free"), ExecutionStatus::kCompleted);
  EXPECT_FALSE(try_lock());
  EXPECT_EQ(history("root").back().kind, EventKind::kCompleted);
}

PERDURE_CONFORMANCE_SUITE(Descendants);

}  // namespace perdure::conformance
