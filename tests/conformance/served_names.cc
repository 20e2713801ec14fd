#include <algorithm>
#include <set>
#include <thread>
#include <utility>

#include "tests/conformance/conformance.h"

namespace perdure::conformance {

/// A worker gets only runs whose code it has, and those it has not got are in nobody's way.
class ServedNames : public Conformance {
 protected:
  void start_as(const std::string& id,
                const std::string& name,
                const std::string& version,
                const std::string& queue = kQueue) {
    StartOrchestration request = start_request(id);
    request.name = name;
    request.version = version;
    request.queue = queue;
    start(request);
  }

  FetchOrchestrationItems serving(std::vector<ServedOrchestration> served, std::size_t count = 10) {
    FetchOrchestrationItems request = fetch_request(count);
    request.served = std::move(served);
    return request;
  }

  FetchedOrchestrationItems fetch(FetchOrchestrationItems request) {
    auto fetched = store().fetch_orchestration_items(std::move(request));
    EXPECT_TRUE(fetched.ok()) << fetched;
    return fetched.ok() ? *fetched : FetchedOrchestrationItems{};
  }

  void cancel_within(const std::string& id, Duration cleanup) {
    CancelOrchestration request;
    request.id = id;
    request.reason = "because";
    request.cleanup_timeout = cleanup;
    const auto answer = store().cancel_orchestration(request);
    ASSERT_TRUE(answer.ok()) << answer;
    EXPECT_TRUE(answer->changed);
  }

  using Ids = std::vector<std::string>;

  /// Ids of what a worker with these names gets, in order. They stay locked.
  Ids got(std::vector<ServedOrchestration> served, std::size_t count = 10) {
    Ids ids;
    for (const OrchestrationItem& item : fetch(serving(std::move(served), count)).items) {
      ids.push_back(item.id);
    }
    return ids;
  }
};

TEST_P(ServedNames, DecideWhichInstancesAreLocked) {
  start_as("a", "alpha", "1");
  advance(1s);
  start_as("b", "beta", "1");
  EXPECT_EQ(got({{"gamma", "1"}}), Ids{});
  EXPECT_EQ(got({{"beta", "1"}}), Ids{"b"});
  EXPECT_EQ(got({{"alpha", "1"}}), Ids{"a"});
}

TEST_P(ServedNames, AreComparedWholeAndWithCase) {
  start_as("a", "alpha", "1");
  EXPECT_EQ(got({{"alph", "1"}, {"alpha2", "1"}, {"Alpha", "1"}, {"al%", "1"}}), Ids{});
  EXPECT_EQ(got({{"alpha", "1"}}), Ids{"a"});
}

TEST_P(ServedNames, AreServedByExactVersion) {
  start_as("one", kFlow, "1.0");
  advance(1s);
  start_as("two", kFlow, "2.0");
  EXPECT_EQ(got({{kFlow, "1"}, {kFlow, "1.0.0"}, {kFlow, "3.0"}}), Ids{});
  EXPECT_EQ(got({{kFlow, "2.0"}}), Ids{"two"});
  EXPECT_EQ(got({{kFlow, "1.0"}}), Ids{"one"});
}

TEST_P(ServedNames, DoNotMixWithVersionsOfOtherNames) {
  start_as("a", "alpha", "2");
  advance(1s);
  start_as("b", "beta", "1");
  EXPECT_EQ(got({{"alpha", "1"}, {"beta", "2"}}), Ids{});
  EXPECT_EQ(got({{"alpha", "2"}, {"beta", "1"}}), (Ids{"a", "b"}));
}

TEST_P(ServedNames, WithAnEmptyVersionStandForRunsStartedWithoutOne) {
  start_as("open", kFlow, "");
  advance(1s);
  start_as("fixed", kFlow, "1");
  EXPECT_EQ(got({{kFlow, "2"}}), Ids{});
  EXPECT_EQ(got({{kFlow, ""}}), Ids{"open"});
  EXPECT_EQ(got({{kFlow, "1"}}), Ids{"fixed"});
}

TEST_P(ServedNames, AreNeededToLockAnything) {
  start("a");
  EXPECT_EQ(got({}), Ids{});
  EXPECT_EQ(got({{kFlow, kVersion}}), Ids{"a"});
}

TEST_P(ServedNames, AreServedInTheirQueueAlone) {
  start_as("here", kFlow, kVersion);
  advance(1s);
  start_as("there", kFlow, kVersion, "other");
  FetchOrchestrationItems request = fetch_request(10);
  request.queue = "other";
  const FetchedOrchestrationItems there = fetch(request);
  ASSERT_EQ(there.items.size(), 1u);
  EXPECT_EQ(there.items[0].id, "there");
  EXPECT_EQ(there.items[0].queue, "other");
  EXPECT_EQ(got({{kFlow, kVersion}}), Ids{"here"});
}

TEST_P(ServedNames, AreNeverBlockedByUnservedOnes) {
  for (int i = 0; i < 300; ++i) start_as("old" + std::to_string(i), "retired", "1");
  advance(1s);
  start("young");
  EXPECT_EQ(got({{kFlow, kVersion}}, 1), Ids{"young"});
}

TEST_P(ServedNames, LeaveSkippedInstancesUnlocked) {
  start_as("skipped", "beta", "1");
  advance(1s);
  start_as("taken", "alpha", "1");
  EXPECT_EQ(got({{"alpha", "1"}}, 2), Ids{"taken"});
  const FetchedOrchestrationItems other = fetch(serving({{"beta", "1"}}));
  ASSERT_EQ(other.items.size(), 1u);
  EXPECT_EQ(other.items[0].id, "skipped");
  EXPECT_EQ(other.items[0].losses, 0);
  EXPECT_EQ(other.items[0].deferrals, 0);
}

TEST_P(ServedNames, AreLookedAtBeforeARowThatCannotBeRead) {
  start_as("broken", "beta", "1");
  advance(1s);
  start_as("whole", "alpha", "1");
  under_test().corrupt({.table = RowRef::Table::kMessage, .instance = info("broken").key});
  EXPECT_EQ(got({{"alpha", "1"}}), Ids{"whole"});
  const FetchedOrchestrationItems other = fetch(serving({{"beta", "1"}}));
  ASSERT_EQ(other.items.size(), 1u);
  EXPECT_TRUE(other.items[0].problem);
}

TEST_P(ServedNames, AreMergedByDueTime) {
  start_as("1", "alpha", "1");
  advance(1s);
  start_as("2", "beta", "1");
  advance(1s);
  start_as("3", "alpha", "2");
  advance(1s);
  start_as("4", "alpha", "1");
  advance(1s);
  start_as("5", "beta", "");
  EXPECT_EQ(got({{"beta", ""}, {"alpha", "2"}, {"beta", "1"}, {"alpha", "1"}}, 4),
            (Ids{"1", "2", "3", "4"}));
  EXPECT_EQ(got({{"beta", ""}, {"alpha", "1"}}, 4), Ids{"5"});
}

TEST_P(ServedNames, GivenTwiceLockAnInstanceOnce) {
  start("a");
  advance(1s);
  start("b");
  EXPECT_EQ(got({{kFlow, kVersion}, {kFlow, kVersion}, {kFlow, kVersion}}), (Ids{"a", "b"}));
}

TEST_P(ServedNames, DecideOverLapsedLocksToo) {
  start("a");
  lock("a");
  advance(kLock);
  EXPECT_EQ(got({{"another", "1"}}), Ids{});
  EXPECT_EQ(got({{"another", "1"}}), Ids{});
  EXPECT_EQ(lock("a").losses, 1) << "whoever cannot take it charges nothing";
}

TEST_P(ServedNames, FollowTheVersionThatTheFirstTurnSettled) {
  start_as("a", kFlow, "");
  const FetchedOrchestrationItems first = fetch(serving({{kFlow, ""}}));
  ASSERT_EQ(first.items.size(), 1u);
  TurnCommit decided = turn(first.items[0]);
  decided.version = "7";
  commit(decided);
  poke("a");
  EXPECT_EQ(got({{kFlow, ""}, {kFlow, "6"}}), Ids{});
  EXPECT_EQ(got({{kFlow, "7"}}), Ids{"a"});
}

TEST_P(ServedNames, FollowTheVersionOfTheNextExecution) {
  for (const bool changes : {false, true}) {
    const std::string id = changes ? "changes" : "keeps";
    start(id);
    const OrchestrationItem item = lock(id);
    TurnCommit decided = turn(item);
    finish(decided, item, ExecutionStatus::kContinuedAsNew);
    if (changes) decided.next->version = "2";
    EXPECT_TRUE(commit(decided).more_now);
    EXPECT_EQ(got({{kFlow, changes ? kVersion : "2"}}), Ids{});
    EXPECT_EQ(got({{kFlow, changes ? "2" : kVersion}}), Ids{id});
  }
}

TEST_P(ServedNames, OfAChildAreItsOwn) {
  start("parent");
  const OrchestrationItem item = lock("parent");
  TurnCommit decided = turn(item);
  const EventId event = schedule_child(decided, item, "child", ClosePolicy::kAbandon);
  decided.children[0].name = "small";
  decided.children[0].version = "3";
  decided.children[0].queue = "other";
  decided.children[0].input = "{\"n\":1}";
  commit(decided);

  EXPECT_EQ(got({{kFlow, kVersion}, {"small", "3"}}), Ids{}) << "not in the parent's queue";
  FetchOrchestrationItems request = serving({{"small", "3"}});
  request.queue = "other";
  const FetchedOrchestrationItems fetched = fetch(request);
  ASSERT_EQ(fetched.items.size(), 1u);
  const ParentLink link{item.instance, item.execution, event, ClosePolicy::kAbandon};
  EXPECT_EQ(fetched.items[0].id, "child");
  EXPECT_EQ(fetched.items[0].parent, link);
  EXPECT_EQ(info("child").parent, link);
  const std::vector<HistoryEvent> events = history("child");
  ASSERT_EQ(kinds(events), std::vector{EventKind::kStarted});
  EXPECT_EQ(events[0].payload, "{\"n\":1}");
}

TEST_P(ServedNames, AreAnnouncedWhileUnservedOnesAreNot) {
  start_as("unserved", "retired", "1");
  StartOrchestration later = start_request("later");
  later.delay = 10s;
  start(later);
  const FetchedOrchestrationItems fetched = fetch(serving({{kFlow, kVersion}}));
  EXPECT_TRUE(fetched.items.empty());
  ASSERT_TRUE(fetched.next_at);
  EXPECT_GT(*fetched.next_at, fetched.now) << "a worker would spin on what it cannot take";
  EXPECT_LE(*fetched.next_at, fetched.now + 10s);
}

TEST_P(ServedNames, DoNotMatterOnceTheTimeForCleanupIsOver) {
  const OrchestrationItem begun = start_with_work("a", 1);
  EXPECT_FALSE(begun.cleanup_at);
  start_as("unserved", "retired", "1");
  const TimePoint over = now() + 10s;
  cancel_within("a", 10s);
  EXPECT_EQ(got({{"another", "1"}}), Ids{}) << "its own code has time to clean up";
  const FetchedOrchestrationItems early = fetch(serving({}));
  EXPECT_TRUE(early.items.empty());
  EXPECT_EQ(early.next_at, over) << "a worker without the code must come back for it";
  advance(10s);
  const FetchedOrchestrationItems late = fetch(serving({{"another", "1"}}));
  ASSERT_EQ(late.items.size(), 1u);
  EXPECT_EQ(late.items[0].id, "a");
  EXPECT_EQ(late.items[0].cleanup_at, over);
  EXPECT_EQ(late.items[0].losses, 0);
  EXPECT_EQ(late.items[0].messages.size(), 2u) << "the cancel and the end of its cleanup";

  TurnCommit decided = turn(late.items[0]);
  decided.status = ExecutionStatus::kCanceling;
  commit(decided);
  EXPECT_EQ(got({}), Ids{}) << "there is no message for it";
  poke("a");
  EXPECT_EQ(got({}), Ids{"a"}) << "turn for turn until it has ended";
}

TEST_P(ServedNames, DoNotMatterOnceTheDeadlineHasCome) {
  StartOrchestration request = start_request("a");
  request.run_timeout = 10s;
  const TimePoint over = now() + 10s;
  start(std::move(request));
  const OrchestrationItem begun = lock("a");
  EXPECT_FALSE(begun.cleanup_at) << "nobody has canceled it";
  commit(turn(begun));
  poke("a");
  const FetchedOrchestrationItems early = fetch(serving({{"another", "1"}}));
  EXPECT_TRUE(early.items.empty());
  EXPECT_EQ(early.next_at, over) << "a worker without the code must come back for it";
  advance(10s);
  const FetchedOrchestrationItems late = fetch(serving({{"another", "1"}}));
  ASSERT_EQ(late.items.size(), 1u);
  EXPECT_EQ(late.items[0].deadline, over);
  EXPECT_FALSE(late.items[0].cleanup_at);
  abandon(late.items[0]);
  cancel_within("a", 10s);
  EXPECT_EQ(got({}), Ids{}) << "its own code has time to clean up";
}

TEST_P(ServedNames, DoNotMatterForTheDeadlineOfTheNextExecution) {
  StartOrchestration request = start_request("a");
  request.run_timeout = 10s;
  start(std::move(request));
  end("a", ExecutionStatus::kContinuedAsNew);
  EXPECT_EQ(got({}), Ids{});
  advance(10s);
  EXPECT_EQ(got({}), Ids{"a"});
}

TEST_P(ServedNames, OfARunPastItsCleanupLockItOnceAndInItsQueueAlone) {
  start_with_work("a", 1);
  cancel_within("a", 10s);
  advance(10s);
  FetchOrchestrationItems elsewhere = serving({});
  elsewhere.queue = "other";
  EXPECT_TRUE(fetch(elsewhere).items.empty());
  EXPECT_EQ(got({{kFlow, kVersion}}), Ids{"a"});
}

TEST_P(ServedNames, OfARunPastItsCleanupLeaveItsBackoffAlone) {
  start_with_work("a", 1);
  cancel_within("a", 10s);
  advance(10s);
  const FetchedOrchestrationItems first = fetch(serving({}));
  ASSERT_EQ(first.items.size(), 1u);
  abandon(first.items[0], 5s);
  const FetchedOrchestrationItems held = fetch(serving({}));
  EXPECT_TRUE(held.items.empty());
  EXPECT_EQ(held.next_at, now() + 5s);
  advance(5s);
  const FetchedOrchestrationItems again = fetch(serving({}));
  ASSERT_EQ(again.items.size(), 1u);
  EXPECT_EQ(again.items[0].cleanup_at, first.items[0].cleanup_at);
}

TEST_P(ServedNames, MatterAgainForTheNextRunUnderTheId) {
  start_with_work("a", 1);
  cancel_within("a", 10s);
  advance(10s);
  const FetchedOrchestrationItems ending = fetch(serving({}));
  ASSERT_EQ(ending.items.size(), 1u);
  TurnCommit decided = turn(ending.items[0]);
  finish(decided, ending.items[0], ExecutionStatus::kCanceled);
  commit(decided);
  start("a");
  EXPECT_EQ(got({}), Ids{});
  EXPECT_FALSE(lock("a").cleanup_at);
}

TEST_P(ServedNames, ThatOverlapBetweenThreadsLockEachInstanceOnce) {
  constexpr int kThreads = 6;
  constexpr int kInstances = 60;
  const std::vector<std::string> names = {"alpha", "beta", "gamma"};
  for (int i = 0; i < kInstances; ++i) start_as("i" + std::to_string(i), names[i % 3], "1");
  std::vector<Ids> locked(kThreads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const std::vector<ServedOrchestration> served = {{names[thread % 3], "1"},
                                                       {names[(thread + 1) % 3], "1"}};
      for (int bound = 0; bound < kInstances + 1; ++bound) {
        const auto fetched = store().fetch_orchestration_items(serving(served, 3));
        if (!fetched.ok() || fetched->items.empty()) return;
        for (const OrchestrationItem& item : fetched->items) locked[thread].push_back(item.id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> all;
  for (const Ids& mine : locked) {
    for (const std::string& id : mine) EXPECT_TRUE(all.insert(id).second) << id << " twice";
  }
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kInstances));
}

PERDURE_CONFORMANCE_SUITE(ServedNames);

}  // namespace perdure::conformance
