#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// Runs that are started by a turn: children, detached runs, and ids that are taken.
namespace perdure::conformance {

class ChildStarts : public Conformance {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    start("root");
    root_ = lock("root");
    decisions_ = turn(root_);
  }

  NewChild& child(const std::string& id, ClosePolicy policy = ClosePolicy::kCancel) {
    schedule_child(decisions_, root_, id, policy);
    return decisions_.children.back();
  }

  NewChild& detached(const std::string& id) {
    NewChild& run = child(id);
    decisions_.events.back().kind = EventKind::kDetachedStarted;
    run.detached = true;
    return run;
  }

  TurnCommitted commit_root() { return commit(std::move(decisions_)); }

  /// A neighbour that has ended before the root's turn commits.
  void ended_run(const std::string& id, ExecutionStatus with) {
    start(id);
    end(id, with);
  }

  OrchestrationItem root_;
  TurnCommit decisions_;
};

TEST_P(ChildStarts, ChildKnowsItsParent) {
  NewChild& spec = child("child", ClosePolicy::kAbandon);
  spec.input = "{\"n\":1}";
  const ParentLink link{root_.instance, root_.execution, spec.event, ClosePolicy::kAbandon};

  EXPECT_TRUE(commit_root().refused_children.empty());

  const InstanceInfo run = info("child");
  EXPECT_EQ(run.parent, link);
  EXPECT_EQ(run.name, kFlow);
  EXPECT_EQ(run.version, kVersion);
  EXPECT_EQ(run.current.execution, ExecutionNo{1});
  const auto events = history("child");
  ASSERT_EQ(kinds(events), (std::vector<EventKind>{EventKind::kStarted}));
  EXPECT_EQ(events[0].payload, "{\"n\":1}");
  const OrchestrationItem item = lock("child");
  EXPECT_EQ(item.parent, link);
  EXPECT_EQ(kinds(item.messages), (std::vector<MessageKind>{MessageKind::kStart}));
}

TEST_P(ChildStarts, ParentIsToldOfCompletionAndFailure) {
  const EventId good = child("good").event;
  const EventId bad = child("bad").event;
  commit_root();
  for (const OrchestrationItem& item : lock_up_to(2)) {
    TurnCommit last = turn(item);
    finish(last, item, item.id == "good" ? ExecutionStatus::kCompleted : ExecutionStatus::kFailed);
    commit(std::move(last));
  }

  const OrchestrationItem item = lock("root");
  ASSERT_EQ(item.messages.size(), 2u);
  for (const Message& message : item.messages) {
    EXPECT_EQ(message.execution, root_.execution);
    if (message.kind == MessageKind::kChildCompleted) {
      EXPECT_EQ(message.source, good);
      EXPECT_EQ(message.payload, "\"output\"");
    } else {
      EXPECT_EQ(message.kind, MessageKind::kChildFailed);
      EXPECT_EQ(message.source, bad);
      EXPECT_EQ(message.failure.type, "boom");
    }
  }
  EXPECT_NE(item.messages[0].kind, item.messages[1].kind);
}

TEST_P(ChildStarts, LiveIdIsRefusedByAMessageInTheSameCommit) {
  start_and_run("taken");
  const EventId call = child("taken").event;
  child("fresh");

  const TurnCommitted answer = commit_root();

  EXPECT_EQ(answer.refused_children, (std::vector<EventId>{call}));
  EXPECT_TRUE(answer.more_now);
  EXPECT_FALSE(info("taken").parent) << "the run that has the id is untouched";
  EXPECT_EQ(info("taken").current.execution, ExecutionNo{1});
  EXPECT_TRUE(info("fresh").parent) << "the other child is born";
  for (const OrchestrationItem& item : lock_up_to(5)) {
    if (item.id != "root") continue;
    ASSERT_EQ(kinds(item.messages), (std::vector<MessageKind>{MessageKind::kChildStartFailed}));
    EXPECT_EQ(item.messages[0].source, call);
    EXPECT_EQ(item.messages[0].execution, root_.execution);
    EXPECT_FALSE(item.messages[0].text.empty()) << "it says why";
    return;
  }
  ADD_FAILURE() << "the parent was not told";
}

TEST_P(ChildStarts, OwnIdIsTaken) {
  const EventId call = child("root").event;

  EXPECT_EQ(commit_root().refused_children, (std::vector<EventId>{call}));

  EXPECT_FALSE(info("root").parent);
  EXPECT_EQ(kinds(lock("root").messages),
            (std::vector<MessageKind>{MessageKind::kChildStartFailed}));
}

TEST_P(ChildStarts, SecondChildOfATurnWithTheSameIdIsRefused) {
  const EventId first = child("twin").event;
  const EventId second = child("twin").event;

  EXPECT_EQ(commit_root().refused_children, (std::vector<EventId>{second}));

  ASSERT_TRUE(info("twin").parent);
  EXPECT_EQ(info("twin").parent->event, first);
}

TEST_P(ChildStarts, EndOfARefusedIdTellsItsOwnParentOnly) {
  start_and_run("taken");
  child("taken");
  commit_root();
  commit(turn(lock("root")));
  poke("taken");

  end("taken", ExecutionStatus::kCompleted);

  EXPECT_FALSE(try_lock());
}

TEST_P(ChildStarts, EndedIdBecomesTheNextExecution) {
  ended_run("old", ExecutionStatus::kCompleted);
  const EventId call = child("old").event;

  EXPECT_TRUE(commit_root().refused_children.empty());

  EXPECT_EQ(info("old").current.execution, ExecutionNo{2});
  ASSERT_TRUE(info("old").parent);
  EXPECT_EQ(info("old").parent->event, call);
  end("old", ExecutionStatus::kCompleted);
  const OrchestrationItem item = lock("root");
  ASSERT_EQ(kinds(item.messages), (std::vector<MessageKind>{MessageKind::kChildCompleted}));
  EXPECT_EQ(item.messages[0].source, call);
}

TEST_P(ChildStarts, EndedIdIsRefusedWhenReuseIsNotAllowed) {
  ended_run("completed", ExecutionStatus::kCompleted);
  ended_run("failed", ExecutionStatus::kFailed);
  NewChild& completed = child("completed");
  completed.on_reuse = OnReuse::kOnlyFailed;
  const EventId refused = completed.event;
  child("failed").on_reuse = OnReuse::kOnlyFailed;

  EXPECT_EQ(commit_root().refused_children, (std::vector<EventId>{refused}));

  EXPECT_EQ(info("completed").current.execution, ExecutionNo{1});
  EXPECT_EQ(info("failed").current.execution, ExecutionNo{2});
}

TEST_P(ChildStarts, RejectRefusesEveryEndedId) {
  ended_run("failed", ExecutionStatus::kFailed);
  NewChild& spec = child("failed");
  spec.on_reuse = OnReuse::kReject;
  const EventId refused = spec.event;

  EXPECT_EQ(commit_root().refused_children, (std::vector<EventId>{refused}));

  EXPECT_EQ(status("failed"), ExecutionStatus::kFailed);
}

TEST_P(ChildStarts, DetachedRunHasNoParent) {
  detached("alone");
  commit_root();

  EXPECT_FALSE(info("alone").parent);
  const OrchestrationItem item = lock("alone");
  EXPECT_FALSE(item.parent);
  TurnCommit last = turn(item);
  finish(last, item, ExecutionStatus::kCompleted);
  commit(std::move(last));
  EXPECT_FALSE(try_lock()) << "nobody waits for its end";
}

TEST_P(ChildStarts, DetachedRunOutlivesItsStarter) {
  detached("alone");
  finish(decisions_, root_, ExecutionStatus::kFailed);
  commit_root();
  EXPECT_EQ(lock("alone").status, ExecutionStatus::kRunning);
}

TEST_P(ChildStarts, DetachedRunIsNotReachedByACancel) {
  detached("alone");
  commit_root();
  commit(turn(lock("alone")));

  EXPECT_EQ(cancel("root").descendants, 0);
  EXPECT_EQ(status("alone"), ExecutionStatus::kRunning);
}

TEST_P(ChildStarts, StartTimeAndDeadlineHold) {
  NewChild& spec = child("later");
  spec.start_at = now() + 10s;
  spec.deadline = now() + 1h;
  const TimePoint deadline = *spec.deadline;
  commit_root();

  EXPECT_EQ(status("later"), ExecutionStatus::kRunning);
  EXPECT_FALSE(try_lock());
  advance(10s);
  const OrchestrationItem item = lock("later");
  EXPECT_EQ(item.deadline, deadline);
  EXPECT_EQ(commit(turn(item)).next_at, deadline);
  advance(1h - 10s);
  EXPECT_EQ(kinds(lock("later").messages), (std::vector<MessageKind>{MessageKind::kRunDeadline}));
}

TEST_P(ChildStarts, ChildOfARefusedTurnIsNotBorn) {
  child("child");
  decisions_.lock = mint().next();

  EXPECT_EQ(refusal(try_commit(std::move(decisions_))), ErrorCode::kLockLost);

  EXPECT_EQ(refusal(store().get_instance("child")), ErrorCode::kNotFound);
}

PERDURE_CONFORMANCE_SUITE(ChildStarts);

}  // namespace perdure::conformance
