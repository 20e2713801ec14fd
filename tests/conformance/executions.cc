#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// The lives of one instance: continue-as-new, what it carries over and what it drops.
namespace perdure::conformance {

namespace {

std::vector<std::string> events_in(const std::vector<Message>& messages) {
  std::vector<std::string> names;
  for (const Message& message : messages) {
    if (message.kind == MessageKind::kEventRaised) names.push_back(message.name);
  }
  return names;
}

constexpr ExecutionNo kFirst{1};
constexpr ExecutionNo kSecond{2};
constexpr ExecutionNo kThird{3};

}  // namespace

class Executions : public Conformance {
 protected:
  TurnCommit continuation(const OrchestrationItem& item, NextExecution next = {}) {
    TurnCommit decisions = turn(item);
    finish(decisions, item, ExecutionStatus::kContinuedAsNew);
    decisions.events.back().payload = next.input;
    decisions.next = std::move(next);
    return decisions;
  }

  /// Locks `id` and continues it as new.
  TurnCommitted continue_as_new(const std::string& id, NextExecution next = {}) {
    return commit(continuation(lock(id), std::move(next)));
  }

  NextExecution with_input(const std::string& input) {
    NextExecution next;
    next.input = input;
    return next;
  }

  ExecutionInfo execution(const std::string& id, ExecutionNo number) {
    auto found = store().get_execution(id, number);
    if (!found.ok()) throw std::runtime_error("get_execution: " + found.error().message);
    return std::move(found).value();
  }
};

TEST_P(Executions, ContinueAsNewBeginsTheNextOneInTheSameCommit) {
  start("a");
  const InstanceKey key = info("a").key;

  const TurnCommitted answer = continue_as_new("a", with_input("\"two\""));

  EXPECT_TRUE(answer.more_now) << "the next execution wants its first turn";
  EXPECT_EQ(info("a").key, key);
  EXPECT_EQ(info("a").current.execution, kSecond);
  EXPECT_EQ(status("a"), ExecutionStatus::kRunning) << "the current execution has not ended";
  const auto events = history("a");
  ASSERT_EQ(kinds(events), (std::vector<EventKind>{EventKind::kStarted}));
  EXPECT_EQ(events[0].id, EventId{1});
  EXPECT_EQ(events[0].payload, "\"two\"");
  EXPECT_EQ(events[0].text, kVersion);
}

TEST_P(Executions, NextOneIsLockedLikeAFreshRun) {
  start("a");
  continue_as_new("a");

  const OrchestrationItem item = lock("a");

  EXPECT_EQ(item.execution, kSecond);
  EXPECT_EQ(item.status, ExecutionStatus::kRunning);
  EXPECT_EQ(item.last_event, EventId{1});
  EXPECT_EQ(item.last_turn.serial, 0);
  EXPECT_EQ(kinds(item.messages), (std::vector<MessageKind>{MessageKind::kStart}));
}

TEST_P(Executions, HistoriesAreSeparate) {
  start("a");
  continue_as_new("a", with_input("2"));
  continue_as_new("a", with_input("3"));
  end("a", ExecutionStatus::kCompleted);

  const InstanceKey key = info("a").key;
  const auto first = history(key, kFirst);
  const auto second = history(key, kSecond);
  const auto third = history(key, kThird);
  const std::vector<EventKind> continued{EventKind::kStarted, EventKind::kContinuedAsNew};
  EXPECT_EQ(kinds(first), continued);
  EXPECT_EQ(kinds(second), continued);
  EXPECT_EQ(kinds(third), (std::vector<EventKind>{EventKind::kStarted, EventKind::kCompleted}));
  EXPECT_EQ(first[0].payload, "null");
  EXPECT_EQ(first[1].payload, "2");
  EXPECT_EQ(second[0].payload, "2");
  EXPECT_EQ(third[0].payload, "3");
  EXPECT_TRUE(history(key, ExecutionNo{4}).empty());
}

TEST_P(Executions, EachIsReadableByItsNumber) {
  start("a");
  advance(1s);
  const TimePoint turned = now();
  continue_as_new("a");
  advance(1s);
  end("a", ExecutionStatus::kFailed);

  EXPECT_EQ(execution("a", kFirst).status, ExecutionStatus::kContinuedAsNew);
  EXPECT_EQ(execution("a", kFirst).completed_at, turned);
  EXPECT_EQ(execution("a", kFirst).last_event, EventId{2});
  EXPECT_EQ(execution("a", kSecond).status, ExecutionStatus::kFailed);
  EXPECT_EQ(execution("a", kSecond).started_at, turned);
  EXPECT_EQ(execution("a", kSecond).completed_at, now());
  EXPECT_EQ(execution("a", kSecond).failure.type, "boom");
  EXPECT_EQ(refusal(store().get_execution("a", kThird)), ErrorCode::kNotFound);
  EXPECT_EQ(refusal(store().get_execution("nobody", kFirst)), ErrorCode::kNotFound);
}

TEST_P(Executions, StartOnAnEndedIdTakesTheNextNumber) {
  start("a");
  continue_as_new("a");
  end("a", ExecutionStatus::kCompleted);
  const InstanceKey key = info("a").key;

  const OrchestrationStarted again = start("a");

  EXPECT_EQ(again.execution, kThird);
  EXPECT_EQ(again.instance, key);
  EXPECT_EQ(execution("a", kSecond).status, ExecutionStatus::kCompleted);
  EXPECT_EQ(execution("a", kSecond).output, "\"output\"");
  EXPECT_EQ(info("a").current.output, "");
}

TEST_P(Executions, VersionIsKeptUnlessGiven) {
  start("a");
  continue_as_new("a");
  EXPECT_EQ(info("a").version, kVersion);
  NextExecution next;
  next.version = "2";
  continue_as_new("a", std::move(next));

  EXPECT_EQ(info("a").version, "2");
  EXPECT_EQ(history("a")[0].text, "2");
  EXPECT_FALSE(try_lock()) << "version 1 is not asked any more";
  FetchOrchestrationItems request = fetch_request(1);
  request.served = {{kFlow, "2"}};
  auto fetched = store().fetch_orchestration_items(std::move(request));
  ASSERT_TRUE(fetched.ok());
  ASSERT_EQ(fetched->items.size(), 1u);
  EXPECT_EQ(fetched->items[0].version, "2");
}

TEST_P(Executions, CarriedEventsFollowStarted) {
  start("a");
  NextExecution next = with_input("\"two\"");
  for (int i = 2; i <= 4; ++i) {
    HistoryEvent event;
    event.id = EventId{i};
    event.kind = EventKind::kEventReceived;
    event.name = "order";
    event.payload = std::to_string(i);
    next.carried.push_back(std::move(event));
  }

  continue_as_new("a", std::move(next));

  const auto events = history("a");
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].kind, EventKind::kStarted);
  EXPECT_EQ(events[0].number, 3) << "how many were carried over";
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(events[i].id, EventId{static_cast<std::int64_t>(i) + 1});
    EXPECT_EQ(events[i].kind, EventKind::kEventReceived);
    EXPECT_EQ(events[i].payload, std::to_string(i + 1));
  }
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(item.last_event, EventId{4});
  TurnCommit decisions = turn(item);
  schedule(decisions, item);
  EXPECT_TRUE(try_commit(std::move(decisions)).ok())
      << "the next event id follows the carried ones";
}

TEST_P(Executions, UnreadEventsReachTheNextOneInOrder) {
  start("a");
  const OrchestrationItem item = lock("a");
  for (const char* name : {"one", "two", "three"}) raise("a", name);

  commit(continuation(item));

  raise("a", "four");
  EXPECT_EQ(events_in(lock("a").messages),
            (std::vector<std::string>{"one", "two", "three", "four"}));
}

TEST_P(Executions, DelayedEventsReachTheNextOne) {
  start("a");
  RaiseEvent request;
  request.id = "a";
  request.name = "later";
  request.payload = "null";
  request.delay = 1h;
  ASSERT_TRUE(store().raise_event(std::move(request)).ok());
  continue_as_new("a");
  commit(turn(lock("a")));

  advance(1h);

  EXPECT_EQ(events_in(lock("a").messages), (std::vector<std::string>{"later"}));
}

TEST_P(Executions, AnswersOfTheOldOneAreDropped) {
  start_with_work("a", 1);
  const WorkItem claimed = claim();
  poke("a");
  const OrchestrationItem item = lock("a");
  complete(claimed);

  commit(continuation(item));

  EXPECT_EQ(kinds(lock("a").messages), (std::vector<MessageKind>{MessageKind::kStart}));
}

TEST_P(Executions, LateOutcomeOfTheOldOneIsNotHeard) {
  NewWork waits;
  waits.on_cancel = OnCancel::kWait;
  start_with_work("a", 1, waits);
  const WorkItem claimed = claim();
  poke("a");
  continue_as_new("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  schedule(decisions, item);  // the same event id as the call of the old execution
  commit(std::move(decisions));

  EXPECT_EQ(check(claimed), ClaimState::kCanceled);
  EXPECT_TRUE(try_complete(claimed).ok());

  EXPECT_FALSE(try_lock());
  EXPECT_EQ(claim().owner.execution, kSecond);
}

TEST_P(Executions, TimersOfTheOldOneAreDropped) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  schedule_timer(decisions, item, now() + 10s);
  schedule_timer(decisions, item, now() + 10s, true);
  commit(std::move(decisions));
  poke("a");
  continue_as_new("a");
  const TurnCommitted answer = commit(turn(lock("a")));

  EXPECT_FALSE(answer.next_at);
  advance(1h);
  EXPECT_FALSE(try_lock());
}

TEST_P(Executions, FreeChildOfTheOldOneAnswersNobody) {
  start("a");
  start_child_of("a", "free", ClosePolicy::kAbandon);
  poke("a");
  continue_as_new("a");
  commit(turn(lock("a")));
  poke("free");

  end("free", ExecutionStatus::kCompleted);

  EXPECT_FALSE(try_lock());
}

TEST_P(Executions, DeadlineIsCarriedWithItsMessage) {
  StartOrchestration request = start_request("a");
  request.run_timeout = 1h;
  const TimePoint deadline = now() + 1h;
  start(std::move(request));
  advance(10min);
  continue_as_new("a");
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(item.deadline, deadline);
  EXPECT_EQ(info("a").current.deadline, deadline);
  EXPECT_EQ(commit(turn(item)).next_at, deadline);

  advance(50min);

  const OrchestrationItem late = lock("a");
  ASSERT_EQ(kinds(late.messages), (std::vector<MessageKind>{MessageKind::kRunDeadline}));
  EXPECT_EQ(late.messages[0].execution, kSecond);
}

TEST_P(Executions, CustomStatusIsCarried) {
  start("a");
  TurnCommit decisions = continuation(lock("a"));
  decisions.custom_status = "\"half way\"";
  commit(std::move(decisions));

  const OrchestrationItem item = lock("a");
  EXPECT_EQ(item.custom_status, "\"half way\"");
  EXPECT_EQ(item.custom_status_version, 1);
  TurnCommit more = turn(item);
  more.custom_status = "\"done\"";
  commit(std::move(more));
  EXPECT_EQ(info("a").current.custom_status, "\"done\"");
  EXPECT_EQ(info("a").current.custom_status_version, 2) << "a reader never sees it run backwards";
}

TEST_P(Executions, ParentIsToldByTheLastOneOnly) {
  start("root");
  start_child_of("root", "child");
  const ParentLink link = info("child").parent.value();
  poke("child");

  continue_as_new("child");

  EXPECT_EQ(info("child").parent, link);
  const OrchestrationItem next = lock("child");
  EXPECT_EQ(next.parent, link);
  EXPECT_FALSE(try_lock()) << "the parent hears nothing of a continuation";
  TurnCommit decisions = turn(next);
  finish(decisions, next, ExecutionStatus::kCompleted);
  commit(std::move(decisions));
  const OrchestrationItem root = lock("root");
  ASSERT_EQ(kinds(root.messages), (std::vector<MessageKind>{MessageKind::kChildCompleted}));
  EXPECT_EQ(root.messages[0].source, link.event);
  EXPECT_EQ(root.messages[0].payload, "\"output\"");
}

TEST_P(Executions, LockOfTheOldOneIsWorthNothing) {
  start("a");
  const OrchestrationItem old = lock("a");
  commit(continuation(old));

  EXPECT_EQ(refusal(try_commit(turn(old))), ErrorCode::kLockLost);
  lock("a");
  EXPECT_EQ(refusal(try_commit(turn(old))), ErrorCode::kLockLost);
  EXPECT_EQ(history(old.instance, kFirst).size(), 2u);
}

TEST_P(Executions, CancelConcernsTheCurrentOneOnly) {
  start("a");
  continue_as_new("a");
  commit(turn(lock("a")));

  cancel("a");

  EXPECT_EQ(execution("a", kFirst).status, ExecutionStatus::kContinuedAsNew);
  EXPECT_FALSE(execution("a", kFirst).cancel_requested_at);
  EXPECT_EQ(execution("a", kSecond).status, ExecutionStatus::kCanceling);
}

TEST_P(Executions, ContinuationRefusedByACancelBeginsNothing) {
  start_and_run("a");
  poke("a");
  const OrchestrationItem item = lock("a");
  cancel("a");

  EXPECT_EQ(refusal(try_commit(continuation(item))), ErrorCode::kConflict);

  EXPECT_EQ(info("a").current.execution, kFirst);
  EXPECT_EQ(status("a"), ExecutionStatus::kCanceling);
}

TEST_P(Executions, NextBelongsToAContinuationAndToNothingElse) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit without = continuation(item);
  without.next.reset();
  EXPECT_EQ(refusal(try_commit(std::move(without))), ErrorCode::kInvalidArgument);
  TurnCommit needless = turn(item);
  needless.next = NextExecution{};
  EXPECT_EQ(refusal(try_commit(std::move(needless))), ErrorCode::kInvalidArgument);

  EXPECT_EQ(info("a").current.execution, kFirst);
  EXPECT_EQ(history("a").size(), 1u);
}

TEST_P(Executions, NewOneHearsNothingOfAChildThatTheOldOneNeverRan) {
  start_and_run("a");
  poke("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  schedule_child(decisions, item, "child");
  finish(decisions, item, ExecutionStatus::kContinuedAsNew);
  commit(std::move(decisions));
  EXPECT_EQ(status("child"), ExecutionStatus::kCanceled);
  EXPECT_EQ(kinds(lock("a").messages), (std::vector{MessageKind::kStart}));
}

PERDURE_CONFORMANCE_SUITE(Executions);

}  // namespace perdure::conformance
