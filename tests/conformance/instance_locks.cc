#include <algorithm>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "tests/conformance/conformance.h"

namespace perdure::conformance {

namespace {

/// Runs `body(0)` .. `body(count - 1)` at the same time and waits for all.
template <class Body>
void in_threads(int count, const Body& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

std::vector<std::string> ids(const std::vector<OrchestrationItem>& items) {
  std::vector<std::string> result;
  for (const OrchestrationItem& item : items) result.push_back(item.id);
  return result;
}

}  // namespace

/// One worker at a time for one instance, and nobody for ever.
class InstanceLocks : public Conformance {
 protected:
  Result<TimePoint> try_renew(const OrchestrationItem& item, Duration lock_for = kLock) {
    RenewOrchestrationItemLocks request;
    request.entries.push_back({.instance = item.instance, .lock = item.lock});
    request.lock_for = lock_for;
    auto answers = store().renew_orchestration_item_locks(request);
    if (!answers.ok()) return answers.error();
    return answers->at(0);
  }

  /// A fetch by another registration than the test's own.
  std::vector<OrchestrationItem> lock_by(TokenMint& other, std::size_t count) {
    FetchOrchestrationItems request = fetch_request(0);
    request.epoch = other.epoch();
    request.tokens = other.next(count);
    auto fetched = store().fetch_orchestration_items(request);
    EXPECT_TRUE(fetched.ok()) << fetched;
    return fetched.ok() ? fetched->items : std::vector<OrchestrationItem>{};
  }
};

TEST_P(InstanceLocks, TellTheWholeInstanceOfAFirstTurn) {
  const OrchestrationStarted started = start("a");
  const FetchOrchestrationItems request = fetch_request(1);
  const auto fetched = store().fetch_orchestration_items(request);
  ASSERT_TRUE(fetched.ok()) << fetched;
  ASSERT_EQ(fetched->items.size(), 1u);
  const OrchestrationItem& item = fetched->items[0];
  EXPECT_EQ(item.instance, started.instance);
  EXPECT_EQ(item.id, "a");
  EXPECT_EQ(item.execution, ExecutionNo{1});
  EXPECT_EQ(item.lock, request.tokens[0]);
  EXPECT_EQ(item.locked_until, fetched->now + kLock);
  EXPECT_EQ(item.name, kFlow);
  EXPECT_EQ(item.version, kVersion);
  EXPECT_EQ(item.queue, kQueue);
  EXPECT_FALSE(item.parent);
  EXPECT_EQ(item.status, ExecutionStatus::kRunning);
  EXPECT_EQ(item.last_event, EventId{1});
  EXPECT_EQ(item.last_turn.serial, 0);
  EXPECT_FALSE(item.cancel_requested_at);
  EXPECT_FALSE(item.deadline);
  EXPECT_EQ(item.losses, 0);
  EXPECT_EQ(item.deferrals, 0);
  EXPECT_FALSE(item.more_messages);
  EXPECT_FALSE(item.problem);
  ASSERT_EQ(kinds(item.messages), std::vector{MessageKind::kStart});
  EXPECT_EQ(item.messages[0].payload, "");
}

TEST_P(InstanceLocks, AreExclusiveUntilTheTurnCommits) {
  const auto other = register_another();
  start("a");
  const OrchestrationItem mine = lock("a");
  EXPECT_TRUE(lock_by(*other, 1).empty());
  EXPECT_FALSE(try_lock()) << "not even the holder gets it twice";

  commit(turn(mine));
  EXPECT_TRUE(lock_by(*other, 1).empty()) << "nothing waits for it";
  poke("a");
  const std::vector<OrchestrationItem> theirs = lock_by(*other, 1);
  ASSERT_EQ(theirs.size(), 1u);
  EXPECT_NE(theirs[0].lock, mine.lock);
}

TEST_P(InstanceLocks, HideNoOtherInstance) {
  start("a");
  lock("a");
  start("b");
  const OrchestrationItem b = lock("b");
  commit(turn(b));
  EXPECT_FALSE(try_lock()) << "the commit of one releases no other";
}

TEST_P(InstanceLocks, OfOneInstanceCommitNothingForAnother) {
  start("a");
  const OrchestrationItem a = lock("a");
  start("b");
  const OrchestrationItem b = lock("b");
  TurnCommit crossed = turn(a);
  crossed.lock = b.lock;
  EXPECT_EQ(code_of(try_commit(crossed)), ErrorCode::kLockLost);
  commit(turn(a));
  commit(turn(b));
}

TEST_P(InstanceLocks, ExpireAndChargeALoss) {
  const auto other = register_another();
  start("a");
  const OrchestrationItem first = lock("a");
  advance(kLock - 1s);
  EXPECT_TRUE(lock_by(*other, 1).empty());
  advance(1s);
  const std::vector<OrchestrationItem> second = lock_by(*other, 1);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].losses, 1);
  EXPECT_EQ(second[0].deferrals, 0);
  EXPECT_NE(second[0].lock, first.lock);
  EXPECT_EQ(second[0].messages, first.messages);

  advance(kLock);
  const OrchestrationItem third = lock("a");
  EXPECT_EQ(third.losses, 2);
  commit(turn(third));
  poke("a");
  EXPECT_EQ(lock("a").losses, 0) << "a committed turn starts the count anew";
}

TEST_P(InstanceLocks, TellASleepingWorkerWhenTheyEnd) {
  start("a");
  const auto first = store().fetch_orchestration_items(fetch_request(2));
  ASSERT_TRUE(first.ok()) << first;
  ASSERT_EQ(first->items.size(), 1u);
  EXPECT_FALSE(first->next_at) << "its own turn will tell";
  const auto second = store().fetch_orchestration_items(fetch_request(1));
  ASSERT_TRUE(second.ok()) << second;
  EXPECT_TRUE(second->items.empty());
  ASSERT_TRUE(second->next_at) << "should the holder be lost, nobody else would wake it";
  EXPECT_EQ(*second->next_at, first->items[0].locked_until);
  advance(kLock);
  lock("a");
}

TEST_P(InstanceLocks, ThatWereTakenByAnotherCommitNothing) {
  start("a");
  const OrchestrationItem slow = lock("a");
  advance(kLock);
  const OrchestrationItem taken = lock("a");

  TurnCommit late = turn(slow);
  schedule(late, slow, {.input = "\"late\""});
  EXPECT_EQ(code_of(try_commit(late)), ErrorCode::kLockLost);
  TurnCommit good = turn(taken);
  schedule(good, taken, {.input = "\"good\""});
  commit(good);

  const std::vector<WorkItem> work = claim_up_to(5);
  ASSERT_EQ(work.size(), 1u);
  EXPECT_EQ(work[0].work.input, "\"good\"");
  EXPECT_EQ(info("a").current.last_turn, taken.lock);
}

TEST_P(InstanceLocks, ThatExpiredCommitNothingEvenIfNobodyTookThem) {
  start("a");
  const OrchestrationItem item = lock("a");
  advance(kLock);
  TurnCommit late = turn(item);
  schedule(late, item);
  EXPECT_EQ(code_of(try_commit(late)), ErrorCode::kLockLost);
  EXPECT_EQ(history("a").size(), 1u);
  EXPECT_FALSE(try_claim());
  EXPECT_EQ(lock("a").messages, item.messages);
}

TEST_P(InstanceLocks, LastLongerWhenRenewed) {
  start("a");
  const OrchestrationItem item = lock("a");
  advance(kLock - 1s);
  const auto renewed = try_renew(item, 2 * kLock);
  ASSERT_TRUE(renewed.ok()) << renewed;
  EXPECT_GE(*renewed, item.locked_until - 1s + 2 * kLock);

  advance(2 * kLock - 1s);
  EXPECT_FALSE(try_lock());
  commit(turn(item));
  EXPECT_EQ(info("a").current.last_turn, item.lock);
}

TEST_P(InstanceLocks, AreNotRenewedAfterTheyExpired) {
  start("a");
  const OrchestrationItem item = lock("a");
  advance(kLock);
  EXPECT_EQ(code_of(try_renew(item)), ErrorCode::kLockLost);
  const OrchestrationItem taken = lock("a");
  EXPECT_EQ(code_of(try_renew(item)), ErrorCode::kLockLost);
  EXPECT_TRUE(try_renew(taken).ok());
}

TEST_P(InstanceLocks, AreRenewedEntryByEntry) {
  start("a");
  const OrchestrationItem held = lock("a");
  start("b");
  const OrchestrationItem committed = lock("b");
  commit(turn(committed));
  start("c");
  const OrchestrationItem abandoned = lock("c");
  abandon(abandoned, 1h);

  RenewOrchestrationItemLocks request;
  request.entries = {{committed.instance, committed.lock},
                     {held.instance, held.lock},
                     {abandoned.instance, abandoned.lock},
                     {held.instance, mint().next()},
                     {InstanceKey{987'654}, mint().next()}};
  const auto answers = store().renew_orchestration_item_locks(request);
  ASSERT_TRUE(answers.ok()) << answers;
  ASSERT_EQ(answers->size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    if (i == 1) {
      EXPECT_TRUE((*answers)[i].ok());
    } else {
      EXPECT_EQ(code_of((*answers)[i]), ErrorCode::kLockLost) << i;
    }
  }
}

TEST_P(InstanceLocks, NeedTokensOfTheAskingEpoch) {
  const auto other = register_another();
  start("a");
  FetchOrchestrationItems foreign = fetch_request(2);
  foreign.tokens[1] = other->next();
  EXPECT_EQ(code_of(store().fetch_orchestration_items(foreign)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(lock("a").losses, 0) << "the refused fetch locked nothing";
}

TEST_P(InstanceLocks, AreNotGivenToAnEndedEpoch) {
  const auto other = register_another();
  start("a");
  ASSERT_TRUE(store().release_process({.epoch = other->epoch()}).ok());
  FetchOrchestrationItems request = fetch_request(0);
  request.epoch = other->epoch();
  request.tokens = other->next(1);
  EXPECT_EQ(code_of(store().fetch_orchestration_items(request)), ErrorCode::kLockLost);
  EXPECT_TRUE(try_lock());
}

TEST_P(InstanceLocks, UseEachTokenOfTheRequestOnce) {
  for (int i = 0; i < 5; ++i) start("i" + std::to_string(i));
  std::set<LockToken> seen;
  for (int round = 0; round < 3; ++round) {
    const FetchOrchestrationItems request = fetch_request(5);
    const std::set<LockToken> offered(request.tokens.begin(), request.tokens.end());
    const auto fetched = store().fetch_orchestration_items(request);
    ASSERT_TRUE(fetched.ok()) << fetched;
    ASSERT_EQ(fetched->items.size(), 5u);
    for (const OrchestrationItem& item : fetched->items) {
      EXPECT_EQ(offered.count(item.lock), 1u);
      EXPECT_TRUE(seen.insert(item.lock).second) << item.lock;
      abandon(item);
    }
  }
}

TEST_P(InstanceLocks, OfOneBatchNameNoInstanceTwice) {
  for (const char* id : {"a", "b", "c"}) {
    start(id);
    for (int i = 0; i < 4; ++i) poke(id);
  }
  std::vector<std::string> locked = ids(lock_up_to(10));
  std::sort(locked.begin(), locked.end());
  EXPECT_EQ(locked, (std::vector<std::string>{"a", "b", "c"}));
}

TEST_P(InstanceLocks, GoToTheOldestDueFirst) {
  start("a");
  advance(1s);
  start("b");
  advance(1s);
  start("c");
  const std::vector<OrchestrationItem> older = lock_up_to(2);
  ASSERT_EQ(ids(older), (std::vector<std::string>{"a", "b"}));
  TurnCommit sleeps = turn(older[0]);
  schedule_timer(sleeps, older[0], now() + 10s);
  commit(sleeps);
  commit(turn(older[1]));
  advance(5s);
  poke("b");
  advance(10s);
  EXPECT_EQ(ids(lock_up_to(3)), (std::vector<std::string>{"c", "b", "a"}))
      << "due at 2 s, 7 s and 12 s";
}

TEST_P(InstanceLocks, GiveEachOfManyInstancesToExactlyOneOfManyThreads) {
  constexpr int kThreads = 8;
  constexpr int kEach = 8;
  for (int i = 0; i < kThreads * kEach; ++i) start("i" + std::to_string(i));
  std::vector<std::vector<std::string>> locked(kThreads);
  in_threads(kThreads, [&](int thread) {
    for (int i = 0; i < kEach; ++i) {
      const auto fetched = store().fetch_orchestration_items(fetch_request(1));
      if (!fetched.ok()) continue;
      for (const OrchestrationItem& item : fetched->items) locked[thread].push_back(item.id);
    }
  });
  std::set<std::string> all;
  for (const auto& mine : locked) {
    EXPECT_EQ(mine.size(), static_cast<std::size_t>(kEach)) << "none was given though some waited";
    for (const std::string& id : mine) EXPECT_TRUE(all.insert(id).second) << id << " twice";
  }
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kThreads * kEach));
}

TEST_P(InstanceLocks, LetManyThreadsRunEachInstanceToItsEndOnce) {
  constexpr int kThreads = 6;
  constexpr int kInstances = 60;
  for (int i = 0; i < kInstances; ++i) start("i" + std::to_string(i));
  std::vector<std::map<std::string, int>> ended(kThreads);
  in_threads(kThreads, [&](int thread) {
    for (int bound = 0; bound < kInstances + 1; ++bound) {
      const auto fetched = store().fetch_orchestration_items(fetch_request(2));
      if (!fetched.ok() || fetched->items.empty()) return;
      for (const OrchestrationItem& item : fetched->items) {
        TurnCommit decided = turn(item);
        finish(decided, item, ExecutionStatus::kCompleted);
        if (try_commit(decided).ok()) ++ended[thread][item.id];
      }
    }
  });
  std::map<std::string, int> total;
  for (const auto& mine : ended) {
    for (const auto& [id, count] : mine) total[id] += count;
  }
  EXPECT_EQ(total.size(), static_cast<std::size_t>(kInstances));
  for (const auto& [id, count] : total) {
    EXPECT_EQ(count, 1) << id;
    EXPECT_EQ(history(id).size(), 2u) << id;
  }
}

TEST_P(InstanceLocks, AreTakenAfterExpiryByExactlyOneOfManyThreads) {
  start("a");
  lock("a");
  const auto race = [this] {
    std::vector<std::vector<OrchestrationItem>> locked(8);
    in_threads(8, [&](int thread) {
      auto fetched = store().fetch_orchestration_items(fetch_request(1));
      if (fetched.ok()) locked[thread] = std::move(fetched->items);
    });
    std::vector<OrchestrationItem> all;
    for (const auto& items : locked) all.insert(all.end(), items.begin(), items.end());
    return all;
  };
  advance(kLock - 1s);
  EXPECT_TRUE(race().empty());
  advance(1s);
  const std::vector<OrchestrationItem> winners = race();
  ASSERT_EQ(winners.size(), 1u);
  EXPECT_EQ(winners[0].losses, 1);
}

TEST_P(InstanceLocks, OfUnknownInstancesCommitNothing) {
  OrchestrationItem unknown;
  unknown.instance = InstanceKey{987'654};
  unknown.execution = ExecutionNo{1};
  unknown.lock = mint().next();
  EXPECT_EQ(code_of(try_commit(turn(unknown))), ErrorCode::kLockLost);
  EXPECT_TRUE(history(unknown.instance, unknown.execution).empty());
}

TEST_P(InstanceLocks, AreGoneWhenTheInstanceIsTerminated) {
  start_and_run("a");
  poke("a");
  const OrchestrationItem item = lock("a");
  terminate("a");
  EXPECT_EQ(code_of(try_renew(item)), ErrorCode::kLockLost);
  EXPECT_EQ(code_of(try_commit(turn(item))), ErrorCode::kLockLost);
  advance(kLock);
  EXPECT_FALSE(try_lock());
  EXPECT_EQ(status("a"), ExecutionStatus::kTerminated);
}

PERDURE_CONFORMANCE_SUITE(InstanceLocks);

}  // namespace perdure::conformance
