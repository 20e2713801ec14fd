#include <utility>

#include "tests/conformance/conformance.h"

namespace perdure::conformance {

namespace {

std::vector<std::string> names(const OrchestrationItem& item) {
  std::vector<std::string> result;
  for (const Message& message : item.messages) result.push_back(message.name);
  return result;
}

}  // namespace

/// Turns that are given back: nothing is written of them, and the instance comes again.
class AbandonedTurns : public Conformance {
 protected:
  Status try_abandon(InstanceKey instance, LockToken token, Duration delay = {}) {
    AbandonOrchestrationItems request;
    request.entries.push_back({.instance = instance, .lock = token, .delay = delay});
    auto answers = store().abandon_orchestration_items(request);
    if (!answers.ok()) return answers.error();
    return answers->at(0);
  }

  void abandon_blocked(const OrchestrationItem& item,
                       BlockedReason reason,
                       const std::string& detail) {
    AbandonOrchestrationItems request;
    request.entries.push_back({.instance = item.instance,
                               .lock = item.lock,
                               .delay = 1s,
                               .charge = Charge::kDeferral,
                               .blocked = reason,
                               .blocked_detail = detail});
    auto answers = store().abandon_orchestration_items(request);
    ASSERT_TRUE(answers.ok()) << answers;
    ASSERT_TRUE(answers->at(0).ok()) << answers->at(0);
  }

  /// An instance that has had a turn and is locked for an event "poke".
  OrchestrationItem lock_running(const std::string& id) {
    start_and_run(id);
    poke(id);
    return lock(id);
  }
};

TEST_P(AbandonedTurns, AreReadyAgainAtOnce) {
  start("a");
  const OrchestrationItem item = lock("a");
  abandon(item);
  const OrchestrationItem again = lock("a");
  EXPECT_NE(again.lock, item.lock);
  EXPECT_EQ(again.messages, item.messages);
  commit(turn(again));
}

TEST_P(AbandonedTurns, WriteNothing) {
  start_and_run("a");
  poke("a");
  const InstanceInfo before = info("a");
  const std::vector<HistoryEvent> events = history("a");
  const OrchestrationItem item = lock("a");
  abandon(item);
  const InstanceInfo after = info("a");
  EXPECT_EQ(after.current.status, before.current.status);
  EXPECT_EQ(after.current.last_turn, before.current.last_turn);
  EXPECT_EQ(after.current.last_event, before.current.last_event);
  EXPECT_EQ(after.current.blocked, BlockedReason::kNone);
  EXPECT_EQ(after.last_change, before.last_change);
  EXPECT_EQ(history("a"), events);
}

TEST_P(AbandonedTurns, AreHeldBackForTheirDelay) {
  start("a");
  const OrchestrationItem item = lock("a");
  abandon(item, 10s);
  advance(9s);
  const auto early = store().fetch_orchestration_items(fetch_request(1));
  ASSERT_TRUE(early.ok()) << early;
  EXPECT_TRUE(early->items.empty());
  ASSERT_TRUE(early->next_at) << "a sleeping worker must learn when the delay ends";
  EXPECT_GT(*early->next_at, early->now);
  EXPECT_LE(*early->next_at, early->now + 1s);
  advance(1s);
  EXPECT_EQ(lock("a").messages, item.messages);
}

TEST_P(AbandonedTurns, HoldBackNoOtherInstance) {
  start("a");
  abandon(lock("a"), 1h);
  start("b");
  commit(turn(lock("b")));
  EXPECT_FALSE(try_lock());
}

TEST_P(AbandonedTurns, HoldBackWhatArrivesMeanwhileToo) {
  start_and_run("a");
  raise("a", "one");
  abandon(lock("a"), 10s);
  raise("a", "two");
  EXPECT_FALSE(try_lock()) << "a later message must not overtake an earlier one";
  advance(10s);
  EXPECT_EQ(names(lock("a")), (std::vector<std::string>{"one", "two"}));
}

TEST_P(AbandonedTurns, KeepTheOrderOfMessagesHoweverOften) {
  start_and_run("a");
  std::vector<std::string> sent;
  std::vector<Message> last;
  for (int i = 0; i < 6; ++i) {
    sent.push_back("e" + std::to_string(i));
    raise("a", sent.back());
    const OrchestrationItem item = lock("a");
    ASSERT_EQ(names(item), sent);
    for (std::size_t m = 0; m < last.size(); ++m) EXPECT_EQ(item.messages[m], last[m]);
    last = item.messages;
    const Duration delay = i % 2 == 0 ? Duration(2s) : Duration{};
    abandon(item, delay);
    advance(delay);
  }
}

TEST_P(AbandonedTurns, AreNotDelayedWhenACancelCameUnderTheLock) {
  const OrchestrationItem item = lock_running("a");
  cancel("a");
  abandon(item, 1h);
  const OrchestrationItem again = lock("a");
  EXPECT_EQ(again.status, ExecutionStatus::kCanceling);
  EXPECT_EQ(kinds(again.messages), (std::vector{MessageKind::kEventRaised, MessageKind::kCancel}));
}

TEST_P(AbandonedTurns, AreNoLongerDelayedWhenACancelComes) {
  const OrchestrationItem item = lock_running("a");
  abandon(item, 1h);
  EXPECT_FALSE(try_lock());
  cancel("a");
  EXPECT_EQ(kinds(lock("a").messages),
            (std::vector{MessageKind::kEventRaised, MessageKind::kCancel}));
}

TEST_P(AbandonedTurns, AreDelayedWhenTheyHadSeenTheCancel) {
  start_and_run("a");
  cancel("a");
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(kinds(item.messages), std::vector{MessageKind::kCancel});
  abandon(item, 10s);
  EXPECT_FALSE(try_lock()) << "code that cannot run would be tried without a pause";
  advance(10s);
  EXPECT_EQ(lock("a").messages, item.messages);
}

TEST_P(AbandonedTurns, ShowWhyTheyAreBlockedAndSinceWhen) {
  start("a");
  EXPECT_EQ(info("a").current.blocked, BlockedReason::kNone);
  EXPECT_FALSE(info("a").current.blocked_since);

  abandon_blocked(lock("a"), BlockedReason::kNondeterminism, "expected x");
  const ExecutionInfo first = info("a").current;
  EXPECT_EQ(first.status, ExecutionStatus::kRunning);
  EXPECT_EQ(first.blocked, BlockedReason::kNondeterminism);
  EXPECT_EQ(first.blocked_detail, "expected x");
  ASSERT_TRUE(first.blocked_since);

  advance(10s);
  abandon_blocked(lock("a"), BlockedReason::kNondeterminism, "expected y");
  const ExecutionInfo second = info("a").current;
  EXPECT_EQ(second.blocked, BlockedReason::kNondeterminism);
  EXPECT_EQ(second.blocked_detail, "expected y");
  EXPECT_EQ(second.blocked_since, first.blocked_since);

  advance(10s);
  abandon(lock("a"));
  EXPECT_EQ(info("a").current.blocked, BlockedReason::kNondeterminism)
      << "only a committed turn shows that it moves again";
}

TEST_P(AbandonedTurns, AreNoLongerBlockedAfterACommittedTurn) {
  start("a");
  abandon_blocked(lock("a"), BlockedReason::kDeadlock, "stuck");
  advance(10s);
  commit(turn(lock("a")));
  const ExecutionInfo cleared = info("a").current;
  EXPECT_EQ(cleared.blocked, BlockedReason::kNone);
  EXPECT_EQ(cleared.blocked_detail, "");
  EXPECT_FALSE(cleared.blocked_since);

  poke("a");
  abandon_blocked(lock("a"), BlockedReason::kStoreError, "disk");
  const ExecutionInfo anew = info("a").current;
  EXPECT_EQ(anew.blocked, BlockedReason::kStoreError);
  ASSERT_TRUE(anew.blocked_since);
  EXPECT_GE(*anew.blocked_since, anew.started_at + 10s) << "counted from the new block";
}

TEST_P(AbandonedTurns, AreCountedAsTheyAreCharged) {
  start("a");
  abandon(lock("a"), {}, Charge::kDeferral);
  abandon(lock("a"), {}, Charge::kLoss);
  OrchestrationItem item = lock("a");
  EXPECT_EQ(item.losses, 1);
  EXPECT_EQ(item.deferrals, 1);
  abandon(item, {}, Charge::kNothing);
  raise("a", "newcomer");
  abandon(lock("a"), {}, Charge::kDeferral);
  item = lock("a");
  EXPECT_EQ(item.losses, 1);
  EXPECT_EQ(item.deferrals, 2) << "counted for the instance, whatever messages it has";
}

TEST_P(AbandonedTurns, AreCountedPerInstance) {
  start("a");
  abandon(lock("a"), {}, Charge::kLoss);
  advance(1s);
  start("b");
  const std::vector<OrchestrationItem> items = lock_up_to(2);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].id, "a");
  EXPECT_EQ(items[0].losses, 1);
  EXPECT_EQ(items[1].losses, 0);
}

TEST_P(AbandonedTurns, AreForgottenByACommittedTurn) {
  start("a");
  abandon(lock("a"), {}, Charge::kDeferral);
  abandon(lock("a"), {}, Charge::kLoss);
  commit(turn(lock("a")));
  poke("a");
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(item.losses, 0);
  EXPECT_EQ(item.deferrals, 0);
}

TEST_P(AbandonedTurns, NeverFailARun) {
  start("a");
  for (int i = 0; i < 30; ++i) abandon(lock("a"), {}, Charge::kLoss);
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(item.losses, 30);
  EXPECT_EQ(status("a"), ExecutionStatus::kRunning);
  EXPECT_EQ(kinds(history("a")), std::vector{EventKind::kStarted});
  commit(turn(item));
}

TEST_P(AbandonedTurns, AreRefusedWithoutTheLock) {
  const OrchestrationItem a = lock_running("a");
  const OrchestrationItem b = lock_running("b");
  EXPECT_EQ(code_of(try_abandon(a.instance, mint().next(), 1h)), ErrorCode::kLockLost);
  EXPECT_EQ(code_of(try_abandon(a.instance, b.lock, 1h)), ErrorCode::kLockLost);
  EXPECT_EQ(code_of(try_abandon(InstanceKey{987'654}, a.lock, 1h)), ErrorCode::kLockLost);
  EXPECT_FALSE(try_lock()) << "a refused one releases nothing";

  commit(turn(a));
  EXPECT_EQ(code_of(try_abandon(a.instance, a.lock, 1h)), ErrorCode::kLockLost);
  poke("a");
  EXPECT_EQ(lock("a").deferrals, 0) << "nor does it delay or count";
}

TEST_P(AbandonedTurns, OfALapsedLockAreAcceptedUntilAnotherTookIt) {
  start("a");
  const OrchestrationItem first = lock("a");
  advance(kLock);
  EXPECT_TRUE(try_abandon(first.instance, first.lock).ok());
  const OrchestrationItem second = lock("a");
  advance(kLock);
  const OrchestrationItem third = lock("a");
  EXPECT_EQ(code_of(try_abandon(second.instance, second.lock)), ErrorCode::kLockLost);
  EXPECT_FALSE(try_lock());
  commit(turn(third));
}

TEST_P(AbandonedTurns, AreGivenBackEntryByEntry) {
  for (const char* id : {"a", "b", "c"}) start(id);
  AbandonOrchestrationItems request;
  for (const OrchestrationItem& item : lock_up_to(3)) {
    request.entries.push_back({.instance = item.instance, .lock = item.lock});
  }
  ASSERT_EQ(request.entries.size(), 3u);
  const LockToken held = request.entries[1].lock;
  request.entries[1].lock = mint().next();
  const auto answers = store().abandon_orchestration_items(request);
  ASSERT_TRUE(answers.ok()) << answers;
  ASSERT_EQ(answers->size(), 3u);
  EXPECT_TRUE((*answers)[0].ok());
  EXPECT_EQ(code_of((*answers)[1]), ErrorCode::kLockLost);
  EXPECT_TRUE((*answers)[2].ok());
  EXPECT_EQ(lock_up_to(3).size(), 2u);
  EXPECT_TRUE(try_abandon(request.entries[1].instance, held).ok());
}

TEST_P(AbandonedTurns, OfUnreadableInstancesHinderNoNeighbour) {
  const OrchestrationStarted bad = start("bad");
  advance(1s);
  start("good");
  under_test().corrupt({.table = RowRef::Table::kMessage, .instance = bad.instance});
  const std::vector<OrchestrationItem> items = lock_up_to(2);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].instance, bad.instance);
  ASSERT_TRUE(items[0].problem);
  EXPECT_EQ(items[0].problem->code, ErrorCode::kCorrupt);
  EXPECT_FALSE(items[1].problem);
  abandon(items[0], 10s, Charge::kDeferral, BlockedReason::kCorrupt);
  commit(turn(items[1]));
  EXPECT_EQ(info("bad").current.blocked, BlockedReason::kCorrupt);
  EXPECT_FALSE(try_lock());

  advance(10s);
  const OrchestrationItem again = lock();
  EXPECT_EQ(again.instance, bad.instance);
  EXPECT_TRUE(again.problem);
  EXPECT_EQ(again.deferrals, 1);
}

PERDURE_CONFORMANCE_SUITE(AbandonedTurns);

}  // namespace perdure::conformance
