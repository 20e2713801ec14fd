#include <atomic>
#include <map>
#include <thread>
#include <utility>

#include "tests/conformance/conformance.h"

namespace perdure::conformance {

/// One turn, one commit: all of it or nothing.
class TurnAtomicity : public Conformance {
 protected:
  /// A turn that touches everything: two activities, a timer 10 s from now, the child "child", an
  /// event for "other", custom status and engine version.
  TurnCommit rich_turn(const OrchestrationItem& item) {
    TurnCommit decided = turn(item);
    schedule(decided, item, {.input = "1"});
    schedule(decided, item, {.input = "2"});
    schedule_timer(decided, item, now() + 10s);
    schedule_child(decided, item, "child");
    decided.raised.push_back({.id = "other", .name = "hello", .payload = "\"there\""});
    decided.custom_status = "\"half\"";
    decided.engine_version = "9.9";
    return decided;
  }

  /// Holds after a refused rich_turn of `item`, whose lock is still there: no effect is visible,
  /// and an empty turn then commits with nothing left to wait for.
  void expect_nothing_landed(const OrchestrationItem& item) {
    EXPECT_EQ(history(item.id).size(), static_cast<std::size_t>(item.last_event.value));
    EXPECT_EQ(info(item.id).current.last_event, item.last_event);
    EXPECT_EQ(info(item.id).current.last_turn, item.last_turn);
    EXPECT_EQ(info(item.id).current.custom_status_version, item.custom_status_version);
    EXPECT_NE(info(item.id).current.engine_version, "9.9");
    EXPECT_FALSE(try_claim());
    EXPECT_EQ(code_of(store().get_instance("child")), ErrorCode::kNotFound);
    EXPECT_FALSE(try_lock()) << "the lock is gone, or an event reached its target";
    const TurnCommitted answer = commit(turn(item));
    EXPECT_FALSE(answer.more_now);
    EXPECT_FALSE(answer.next_at) << "the timer of the refused turn exists";
  }
};

TEST_P(TurnAtomicity, AllEffectsOfOneTurnLandTogether) {
  start_and_run("other");
  start("a");
  const OrchestrationItem item = lock("a");
  const TurnCommit decided = rich_turn(item);

  const TurnCommitted answer = commit(decided);
  EXPECT_FALSE(answer.more_now);
  EXPECT_EQ(answer.next_at, decided.timers[0].due);
  EXPECT_TRUE(answer.touched.empty());
  EXPECT_TRUE(answer.refused_children.empty());

  EXPECT_EQ(kinds(history("a")),
            (std::vector{EventKind::kStarted,
                         EventKind::kActivityScheduled,
                         EventKind::kActivityScheduled,
                         EventKind::kTimerCreated,
                         EventKind::kChildScheduled}));
  EXPECT_EQ(info("a").current.last_event, EventId{5});
  EXPECT_EQ(info("a").current.custom_status, "\"half\"");
  const std::vector<WorkItem> work = claim_up_to(10);
  ASSERT_EQ(work.size(), 2u);
  EXPECT_EQ(work[0].work.input, "1");
  EXPECT_EQ(work[0].owner,
            (WorkOwner{OwnerKind::kActivity, item.instance, item.execution, EventId{2}}));
  EXPECT_EQ(work[1].work.input, "2");

  std::map<std::string, OrchestrationItem> ready;
  for (OrchestrationItem& one : lock_up_to(10)) ready.emplace(one.id, one);
  ASSERT_EQ(ready.size(), 2u);
  ASSERT_EQ(ready.count("child"), 1u);
  EXPECT_EQ(kinds(ready["child"].messages), std::vector{MessageKind::kStart});
  ASSERT_EQ(ready.count("other"), 1u);
  EXPECT_EQ(kinds(ready["other"].messages), std::vector{MessageKind::kEventRaised});
  EXPECT_EQ(ready["other"].messages[0].payload, "\"there\"");

  advance(10s);
  const OrchestrationItem woken = lock("a");
  ASSERT_EQ(kinds(woken.messages), std::vector{MessageKind::kTimerFired});
  EXPECT_EQ(woken.messages[0].source, decided.timers[0].event);
}

TEST_P(TurnAtomicity, AnEventIdThatIsTakenWritesNothing) {
  start_and_run("other");
  start("a");
  const OrchestrationItem item = lock("a");

  TurnCommit twice = rich_turn(item);
  twice.events.push_back(twice.events.back());
  EXPECT_EQ(code_of(try_commit(twice)), ErrorCode::kInvalidArgument);

  TurnCommit in_history = rich_turn(item);
  for (HistoryEvent& event : in_history.events) --event.id.value;
  for (NewWork& work : in_history.work) --work.event.value;
  --in_history.timers[0].event.value;
  --in_history.children[0].event.value;
  EXPECT_EQ(code_of(try_commit(in_history)), ErrorCode::kInvalidArgument);
  expect_nothing_landed(item);
}

TEST_P(TurnAtomicity, AGapInEventIdsWritesNothing) {
  start_and_run("other");
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decided = rich_turn(item);
  decided.events.push_back(next_event(item, decided, EventKind::kEventSubscribed));
  ++decided.events.back().id.value;
  EXPECT_EQ(code_of(try_commit(decided)), ErrorCode::kInvalidArgument);
  expect_nothing_landed(item);
}

TEST_P(TurnAtomicity, EventsInTheWrongOrderWriteNothing) {
  start_and_run("other");
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decided = rich_turn(item);
  std::swap(decided.events[0], decided.events[1]);
  EXPECT_EQ(code_of(try_commit(decided)), ErrorCode::kInvalidArgument);
  expect_nothing_landed(item);
}

TEST_P(TurnAtomicity, ACanceledRunCanNeitherCompleteNorRunOn) {
  start_and_run("a");
  cancel("a");
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(item.status, ExecutionStatus::kCanceling);
  const std::vector<HistoryEvent> before = history("a");

  for (const ExecutionStatus wrong :
       {ExecutionStatus::kCompleted, ExecutionStatus::kFailed, ExecutionStatus::kContinuedAsNew}) {
    TurnCommit decided = turn(item);
    finish(decided, item, wrong);
    EXPECT_EQ(code_of(try_commit(decided)), ErrorCode::kInvalidArgument) << wrong;
  }
  TurnCommit back = turn(item);
  back.status = ExecutionStatus::kRunning;
  EXPECT_EQ(code_of(try_commit(back)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(history("a"), before);
  EXPECT_EQ(status("a"), ExecutionStatus::kCanceling);

  TurnCommit decided = turn(item);
  finish(decided, item, ExecutionStatus::kCanceled);
  commit(decided);
  EXPECT_EQ(status("a"), ExecutionStatus::kCanceled);
}

TEST_P(TurnAtomicity, ATerminalStatusNeedsItsOwnEventAsTheLast) {
  start("a");
  const OrchestrationItem item = lock("a");

  TurnCommit without = turn(item);
  without.status = ExecutionStatus::kCompleted;
  EXPECT_EQ(code_of(try_commit(without)), ErrorCode::kInvalidArgument);

  TurnCommit other = turn(item);
  finish(other, item, ExecutionStatus::kFailed);
  other.status = ExecutionStatus::kCompleted;
  EXPECT_EQ(code_of(try_commit(other)), ErrorCode::kInvalidArgument);

  TurnCommit followed = turn(item);
  finish(followed, item, ExecutionStatus::kCompleted);
  followed.events.push_back(next_event(item, followed, EventKind::kEventSubscribed));
  EXPECT_EQ(code_of(try_commit(followed)), ErrorCode::kInvalidArgument);

  EXPECT_EQ(status("a"), ExecutionStatus::kRunning);
  EXPECT_EQ(kinds(history("a")), std::vector{EventKind::kStarted});
  TurnCommit right = turn(item);
  finish(right, item, ExecutionStatus::kCompleted);
  commit(right);
  EXPECT_EQ(status("a"), ExecutionStatus::kCompleted);
}

TEST_P(TurnAtomicity, ATerminalEventNeedsItsStatus) {
  start("a");
  const OrchestrationItem item = lock("a");
  for (const EventKind kind : {EventKind::kCompleted,
                               EventKind::kFailed,
                               EventKind::kCanceled,
                               EventKind::kContinuedAsNew}) {
    TurnCommit decided = turn(item);
    decided.events.push_back(next_event(item, decided, kind));
    EXPECT_EQ(code_of(try_commit(decided)), ErrorCode::kInvalidArgument) << kind;
  }
  EXPECT_EQ(kinds(history("a")), std::vector{EventKind::kStarted});
}

TEST_P(TurnAtomicity, CommandsWhoseEventIsNotInTheCommitAreRefused) {
  start("a");
  const OrchestrationItem item = lock("a");
  for (const EventId unknown : {EventId{1}, EventId{3}}) {
    TurnCommit work = turn(item);
    schedule(work, item);
    work.work[0].event = unknown;
    EXPECT_EQ(code_of(try_commit(work)), ErrorCode::kInvalidArgument) << unknown;

    TurnCommit timer = turn(item);
    schedule_timer(timer, item, now() + 1s);
    timer.timers[0].event = unknown;
    EXPECT_EQ(code_of(try_commit(timer)), ErrorCode::kInvalidArgument) << unknown;

    TurnCommit child = turn(item);
    schedule_child(child, item, "child");
    child.children[0].event = unknown;
    EXPECT_EQ(code_of(try_commit(child)), ErrorCode::kInvalidArgument) << unknown;
  }
  expect_nothing_landed(item);
}

TEST_P(TurnAtomicity, AnUnseenCancelRefusesTheWholeTurn) {
  start_and_run("other");
  start_and_run("a");
  poke("a");
  const OrchestrationItem item = lock("a");
  cancel("a");
  const std::vector<HistoryEvent> before = history("a");

  EXPECT_EQ(code_of(try_commit(rich_turn(item))), ErrorCode::kConflict);
  EXPECT_EQ(history("a"), before);
  EXPECT_FALSE(try_claim());
  EXPECT_EQ(code_of(store().get_instance("child")), ErrorCode::kNotFound);

  abandon(item);
  const OrchestrationItem again = lock("a");
  EXPECT_EQ(kinds(again.messages), (std::vector{MessageKind::kEventRaised, MessageKind::kCancel}));
  commit(turn(again));
}

TEST_P(TurnAtomicity, AFailedCommitKeepsTheLockAndOnlyASuccessfulOneReleasesIt) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit stranger = rich_turn(item);
  stranger.lock = mint().next();
  EXPECT_EQ(code_of(try_commit(stranger)), ErrorCode::kLockLost);
  poke("a");
  EXPECT_FALSE(try_lock());

  EXPECT_TRUE(commit(turn(item)).more_now);
  EXPECT_TRUE(try_lock());
}

TEST_P(TurnAtomicity, ManyCommitsWithOneTokenSucceedExactlyOnce) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decided = turn(item);
  schedule(decided, item);

  std::atomic<int> committed{0};
  std::atomic<int> lost{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto answer = try_commit(decided);
      if (answer.ok()) ++committed;
      if (code_of(answer) == ErrorCode::kLockLost) ++lost;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(committed, 1);
  EXPECT_EQ(lost, 7);
  EXPECT_EQ(history("a").size(), 2u);
  EXPECT_EQ(claim_up_to(8).size(), 1u);
}

TEST_P(TurnAtomicity, ABadEntryOfABatchLeavesTheOthersWhole) {
  for (const char* id : {"a", "b", "c"}) start(id);
  AckOrchestrationItems request;
  std::vector<std::string> ids;
  for (const OrchestrationItem& item : lock_up_to(3)) {
    TurnCommit decided = turn(item);
    schedule(decided, item, {.input = "\"" + item.id + "\""});
    request.entries.push_back(decided);
    ids.push_back(item.id);
  }
  ASSERT_EQ(request.entries.size(), 3u);
  request.entries[1].events[0].id = EventId{7};
  request.entries[1].work[0].event = EventId{7};
  request.entries.push_back(request.entries[0]);  // its lock is released by the first entry

  const auto answers = store().ack_orchestration_items(request);
  ASSERT_TRUE(answers.ok()) << answers;
  ASSERT_EQ(answers->size(), 4u);
  EXPECT_TRUE((*answers)[0].ok());
  EXPECT_EQ(code_of((*answers)[1]), ErrorCode::kInvalidArgument);
  EXPECT_TRUE((*answers)[2].ok());
  EXPECT_EQ(code_of((*answers)[3]), ErrorCode::kLockLost);
  EXPECT_EQ(history(ids[0]).size(), 2u);
  EXPECT_EQ(history(ids[1]).size(), 1u);
  EXPECT_EQ(history(ids[2]).size(), 2u);
  EXPECT_EQ(claim_up_to(4).size(), 2u);
}

TEST_P(TurnAtomicity, TenThousandCommandsAreOneCommit) {
  constexpr int kCount = 10'000;
  const OrchestrationItem item = start_with_work("a", kCount);
  const std::vector<HistoryEvent> events = history("a");
  ASSERT_EQ(events.size(), kCount + 1u);
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(events[i + 1].id, EventId{i + 2});

  const std::vector<WorkItem> work = claim_up_to(kCount);
  ASSERT_EQ(work.size(), static_cast<std::size_t>(kCount));
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(work[i].work.input, std::to_string(i));
  EXPECT_EQ(info("a").current.last_turn, item.lock);
}

TEST_P(TurnAtomicity, WorkMadeAndCanceledInOneTurnLeavesNothing) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decided = turn(item);
  const EventId kept = schedule(decided, item);
  const EventId dropped = schedule(decided, item);
  decided.canceled_work = {dropped, EventId{999}};
  EXPECT_TRUE(commit(decided).touched.empty());

  const std::vector<WorkItem> work = claim_up_to(5);
  ASSERT_EQ(work.size(), 1u);
  EXPECT_EQ(work[0].owner.event, kept);
}

TEST_P(TurnAtomicity, CustomStatusIsKeptUntilSetAndEachSetIsCounted) {
  start("a");
  EXPECT_EQ(info("a").current.custom_status, "");
  EXPECT_EQ(info("a").current.custom_status_version, 0);

  const std::vector<std::optional<std::string>> sets = {"\"one\"", std::nullopt, "\"two\"", ""};
  const std::vector<std::string> shown = {"\"one\"", "\"one\"", "\"two\"", ""};
  const std::vector<std::int64_t> versions = {1, 1, 2, 3};
  for (std::size_t i = 0; i < sets.size(); ++i) {
    TurnCommit decided = turn(lock("a"));
    decided.custom_status = sets[i];
    commit(decided);
    EXPECT_EQ(info("a").current.custom_status, shown[i]);
    EXPECT_EQ(info("a").current.custom_status_version, versions[i]);
    poke("a");
  }
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(item.custom_status, "");
  EXPECT_EQ(item.custom_status_version, 3);
}

TEST_P(TurnAtomicity, TheFirstTurnSettlesAVersionThatWasLeftOpen) {
  StartOrchestration open = start_request("a");
  open.version = "";
  start(open);
  FetchOrchestrationItems request = fetch_request(1);
  request.served = {{kFlow, ""}};
  const auto fetched = store().fetch_orchestration_items(request);
  ASSERT_TRUE(fetched.ok() && fetched->items.size() == 1) << fetched;
  EXPECT_EQ(fetched->items[0].version, "");
  TurnCommit decided = turn(fetched->items[0]);
  decided.version = kVersion;
  commit(decided);
  EXPECT_EQ(info("a").version, kVersion);

  poke("a");
  commit(turn(lock("a")));
  EXPECT_EQ(info("a").version, kVersion) << "a turn that says nothing keeps it";
}

TEST_P(TurnAtomicity, TheLastTurnAndItsEngineAreNamed) {
  start("a");
  EXPECT_EQ(info("a").current.last_turn.serial, 0);
  LockToken last;
  for (const char* engine : {"1.0.0", "1.1.0"}) {
    const OrchestrationItem item = lock("a");
    EXPECT_EQ(item.last_turn, last);
    TurnCommit decided = turn(item);
    decided.engine_version = engine;
    commit(decided);
    last = item.lock;
    EXPECT_EQ(info("a").current.last_turn, last);
    EXPECT_EQ(info("a").current.engine_version, engine);
    poke("a");
  }
  abandon(lock("a"));
  EXPECT_EQ(lock("a").last_turn, last) << "an abandoned turn is no turn";
}

PERDURE_CONFORMANCE_SUITE(TurnAtomicity);

}  // namespace perdure::conformance
