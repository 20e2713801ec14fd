#include <limits>
#include <set>
#include <utility>

#include "tests/conformance/conformance.h"

namespace perdure::conformance {

/// What an instance has not looked at yet: order, visibility, and which turn gets what.
class Messages : public Conformance {
 protected:
  /// Names of events, kinds of all others, in order.
  static std::vector<std::string> shown(const OrchestrationItem& item) {
    std::vector<std::string> result;
    for (const Message& message : item.messages) {
      result.push_back(message.kind == MessageKind::kEventRaised
                           ? message.name
                           : std::string(to_string(message.kind)));
    }
    return result;
  }

  using Shown = std::vector<std::string>;

  FetchedOrchestrationItems fetch(std::size_t count, std::size_t max_messages = 10'000) {
    FetchOrchestrationItems request = fetch_request(count);
    request.max_messages = max_messages;
    auto fetched = store().fetch_orchestration_items(request);
    EXPECT_TRUE(fetched.ok()) << fetched;
    return fetched.ok() ? *fetched : FetchedOrchestrationItems{};
  }
};

TEST_P(Messages, ThatArriveUnderALockWaitForTheNextTurn) {
  start_with_work("a", 1);
  const WorkItem work = claim();
  poke("a");
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(shown(item), Shown{"poke"});
  complete(work, "42");
  EXPECT_FALSE(try_lock());

  const TurnCommitted answer = commit(turn(item));
  EXPECT_TRUE(answer.more_now);
  const OrchestrationItem next = lock("a");
  ASSERT_EQ(kinds(next.messages), std::vector{MessageKind::kActivityCompleted});
  EXPECT_EQ(next.messages[0].execution, work.owner.execution);
  EXPECT_EQ(next.messages[0].source, work.owner.event);
  EXPECT_EQ(next.messages[0].payload, "42");
}

TEST_P(Messages, AreDeletedByACommitOnlyIfItsFetchMarkedThem) {
  start_and_run("a");
  raise("a", "one");
  const OrchestrationItem item = lock("a");
  raise("a", "two");
  raise("a", "three");
  commit(turn(item));
  const OrchestrationItem next = lock("a");
  EXPECT_EQ(shown(next), (Shown{"two", "three"}));
  EXPECT_FALSE(commit(turn(next)).more_now);
  EXPECT_FALSE(try_lock());
}

TEST_P(Messages, FloodingInUnderALockComeTogetherInOneTurn) {
  constexpr std::size_t kCount = 100;
  start_with_work("a", kCount);
  poke("a");
  const OrchestrationItem item = lock("a");
  const std::vector<WorkItem> work = claim_up_to(kCount);
  ASSERT_EQ(work.size(), kCount);
  for (auto one = work.rbegin(); one != work.rend(); ++one) complete(*one, one->work.input);
  EXPECT_FALSE(try_lock());

  EXPECT_TRUE(commit(turn(item)).more_now);
  const OrchestrationItem next = lock("a");
  ASSERT_EQ(next.messages.size(), kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(next.messages[i].source, work[kCount - 1 - i].owner.event);
    EXPECT_EQ(next.messages[i].payload, work[kCount - 1 - i].work.input);
  }
}

TEST_P(Messages, OfFailedWorkCarryTheFailure) {
  start_with_work("a", 1);
  const WorkItem work = claim();
  ASSERT_TRUE(try_fail(work, "no_such_card").ok());
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(kinds(item.messages), std::vector{MessageKind::kActivityFailed});
  EXPECT_EQ(item.messages[0].source, work.owner.event);
  EXPECT_EQ(item.messages[0].failure.type, "no_such_card");
}

TEST_P(Messages, KeepTheirOrderThroughAnExpiredLock) {
  start("a");
  raise("a", "one");
  const OrchestrationItem lost = lock("a");
  raise("a", "two");
  raise("a", "three");
  advance(kLock);
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(shown(item), (Shown{"start", "one", "two", "three"}));
  EXPECT_EQ(item.messages[0], lost.messages[0]);
  EXPECT_EQ(item.messages[1], lost.messages[1]);
}

TEST_P(Messages, KeepTheirOrderThroughABackoff) {
  start_and_run("a");
  raise("a", "one");
  const OrchestrationItem item = lock("a");
  TurnCommit decided = turn(item);
  schedule_timer(decided, item, now() + 5s);
  commit(decided);
  raise("a", "two");
  abandon(lock("a"), 20s);
  advance(10s);
  raise("a", "three");
  EXPECT_FALSE(try_lock());
  advance(10s);
  EXPECT_EQ(shown(lock("a")), (Shown{"two", "timer_fired", "three"}));
}

TEST_P(Messages, OfEventsComeBeforeTimersThatAreDueLater) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decided = turn(item);
  const EventId timer = schedule_timer(decided, item, now() + 10s);
  commit(decided);
  advance(5s);
  raise("a", "early");
  advance(5s);
  const OrchestrationItem next = lock("a");
  EXPECT_EQ(shown(next), (Shown{"early", "timer_fired"}));
  EXPECT_EQ(next.messages[1].source, timer);
  EXPECT_EQ(next.messages[1].execution, item.execution);
}

TEST_P(Messages, OfDueTimersComeBeforeLaterEvents) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decided = turn(item);
  schedule_timer(decided, item, now() + 10s);
  commit(decided);
  advance(20s);
  raise("a", "late");
  EXPECT_EQ(shown(lock("a")), (Shown{"timer_fired", "late"}));
}

TEST_P(Messages, OfTimersComeByDueTimeThenByCreation) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decided = turn(item);
  const TimePoint due = now() + 10s;
  const EventId second = schedule_timer(decided, item, due);
  const EventId third = schedule_timer(decided, item, due);
  const EventId first = schedule_timer(decided, item, due - 1s);
  commit(decided);
  advance(10s);
  const OrchestrationItem next = lock("a");
  ASSERT_EQ(next.messages.size(), 3u);
  EXPECT_EQ(next.messages[0].source, first);
  EXPECT_EQ(next.messages[1].source, second);
  EXPECT_EQ(next.messages[2].source, third);
  EXPECT_EQ(next.messages[2].visible_at, due);
}

TEST_P(Messages, OfOneMomentComeInTheOrderOfArrival) {
  start_with_work("a", 2);
  const std::vector<WorkItem> work = claim_up_to(2);
  ASSERT_EQ(work.size(), 2u);
  raise("a", "one");
  complete(work[1]);
  raise("a", "two");
  complete(work[0]);
  raise("a", "three");
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(shown(item),
            (Shown{"one", "activity_completed", "two", "activity_completed", "three"}));
  EXPECT_EQ(item.messages[1].source, work[1].owner.event);
}

TEST_P(Messages, OfATimerAreHiddenUntilItIsDue) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decided = turn(item);
  const TimePoint due = now() + 10s;
  schedule_timer(decided, item, due);
  const TurnCommitted answer = commit(decided);
  EXPECT_FALSE(answer.more_now);
  EXPECT_EQ(answer.next_at, due);
  advance(9s);
  const FetchedOrchestrationItems early = fetch(1);
  EXPECT_TRUE(early.items.empty());
  EXPECT_EQ(early.next_at, due);
  advance(1s);
  EXPECT_EQ(shown(lock("a")), Shown{"timer_fired"});
}

TEST_P(Messages, OfACanceledTimerNeverComeEvenIfItFellDueUnderTheLock) {
  start("a");
  OrchestrationItem item = lock("a");
  TurnCommit decided = turn(item);
  const EventId soon = schedule_timer(decided, item, now() + 10s);
  const EventId later = schedule_timer(decided, item, now() + 60s);
  commit(decided);
  poke("a");
  item = lock("a");
  advance(15s);
  TurnCommit drops = turn(item);
  drops.canceled_timers = {soon, later};
  const TurnCommitted answer = commit(drops);
  EXPECT_FALSE(answer.more_now);
  EXPECT_FALSE(answer.next_at);
  advance(60s);
  EXPECT_FALSE(try_lock());
}

TEST_P(Messages, OfDelayedStartsAndEventsAreHiddenUntilTheyAreDue) {
  StartOrchestration delayed = start_request("a");
  delayed.delay = 10s;
  start(delayed);
  EXPECT_FALSE(try_lock());
  advance(10s);
  OrchestrationItem item = lock("a");
  EXPECT_EQ(shown(item), Shown{"start"});
  commit(turn(item));

  ASSERT_TRUE(store().raise_event({.id = "a", .name = "later", .delay = 10s}).ok());
  raise("a", "now");
  item = lock("a");
  EXPECT_EQ(shown(item), Shown{"now"});
  const TurnCommitted answer = commit(turn(item));
  EXPECT_FALSE(answer.more_now);
  EXPECT_TRUE(answer.next_at);
  EXPECT_FALSE(try_lock());
  advance(10s);
  EXPECT_EQ(shown(lock("a")), Shown{"later"});
}

TEST_P(Messages, AreCutAtTheLimitAndTheRestFollows) {
  start_and_run("a");
  for (const char* name : {"1", "2", "3", "4", "5", "6", "7"}) raise("a", name);
  OrchestrationItem item = fetch(1, 3).items.at(0);
  EXPECT_EQ(shown(item), (Shown{"1", "2", "3"}));
  EXPECT_TRUE(item.more_messages);
  EXPECT_TRUE(commit(turn(item)).more_now);
  item = fetch(1, 3).items.at(0);
  EXPECT_EQ(shown(item), (Shown{"4", "5", "6"}));
  EXPECT_TRUE(item.more_messages);
  commit(turn(item));
  raise("a", "8");
  raise("a", "9");
  item = fetch(1, 3).items.at(0);
  EXPECT_EQ(shown(item), (Shown{"7", "8", "9"}));
  EXPECT_FALSE(item.more_messages) << "exactly at the limit nothing is cut";
  EXPECT_FALSE(commit(turn(item)).more_now);
}

TEST_P(Messages, AreCutButNeverBeforeACancel) {
  start_and_run("a");
  for (int i = 0; i < 5; ++i) poke("a");
  cancel("a");
  FetchOrchestrationItems request = fetch_request(1);
  request.max_messages = 2;
  const auto fetched = store().fetch_orchestration_items(request);
  ASSERT_TRUE(fetched.ok());
  ASSERT_EQ(fetched->items.size(), 1U);
  const OrchestrationItem& item = fetched->items[0];
  EXPECT_TRUE(item.more_messages);
  EXPECT_EQ(
      kinds(item.messages),
      (std::vector{MessageKind::kEventRaised, MessageKind::kEventRaised, MessageKind::kCancel}));
  EXPECT_TRUE(try_commit(turn(item)).ok()) << "the cancel was consumed";
  EXPECT_EQ(lock("a").messages.size(), 3U);
}

TEST_P(Messages, OfAnEventDoNotHurryADelayedStart) {
  StartOrchestration request = start_request("a");
  request.delay = 60s;
  start(request);
  EXPECT_EQ(raise("a", "early"), EventDelivery::kDelivered);
  EXPECT_FALSE(try_lock());
  advance(60s);
  EXPECT_EQ(kinds(lock("a").messages),
            (std::vector{MessageKind::kStart, MessageKind::kEventRaised}));
}

TEST_P(Messages, AreAnnouncedByTheEarliestTime) {
  EXPECT_FALSE(fetch(1).next_at) << "an empty store waits for nothing";
  for (const auto& [id, delay] : {std::pair{"b", 20s}, std::pair{"a", 10s}, std::pair{"c", 30s}}) {
    StartOrchestration request = start_request(id);
    request.delay = delay;
    start(request);
  }
  const FetchedOrchestrationItems none = fetch(5);
  EXPECT_TRUE(none.items.empty());
  ASSERT_TRUE(none.next_at);
  EXPECT_GT(*none.next_at, none.now);
  EXPECT_LE(*none.next_at, none.now + 10s);
  advance(10s);
  const FetchedOrchestrationItems one = fetch(5);
  ASSERT_EQ(one.items.size(), 1u);
  EXPECT_EQ(one.items[0].id, "a");
  ASSERT_TRUE(one.next_at);
  EXPECT_LE(*one.next_at, one.now + 10s);
}

TEST_P(Messages, ForUnknownAndEndedInstancesBlockNobody) {
  start("ended");
  end("ended", ExecutionStatus::kCompleted);
  EXPECT_EQ(raise("nobody", "lost"), EventDelivery::kNotFound);
  const auto unknown = store().get_instance("nobody");
  ASSERT_FALSE(unknown.ok()) << "an event creates no instance";
  EXPECT_EQ(unknown.code(), ErrorCode::kNotFound);
  EXPECT_EQ(raise("ended", "lost"), EventDelivery::kEnded);
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decided = turn(item);
  decided.raised = {{"nobody", "lost", "1"}, {"ended", "lost", "2"}, {"a", "found", "3"}};
  EXPECT_TRUE(commit(decided).more_now);
  const OrchestrationItem next = lock("a");
  EXPECT_EQ(shown(next), Shown{"found"});
  commit(turn(next));
  EXPECT_FALSE(try_lock());
}

TEST_P(Messages, AHundredThousandOfThemDoNotHinderOthers) {
  constexpr int kSenders = 10;
  constexpr int kEach = 10'000;
  start_and_run("big");
  for (int i = 0; i < kSenders; ++i) start("sender" + std::to_string(i));
  AckOrchestrationItems flood;
  for (const OrchestrationItem& sender : lock_up_to(kSenders)) {
    TurnCommit decided = turn(sender);
    for (int i = 0; i < kEach; ++i) decided.raised.push_back({"big", sender.id, std::to_string(i)});
    flood.entries.push_back(std::move(decided));
  }
  ASSERT_EQ(flood.entries.size(), static_cast<std::size_t>(kSenders));
  const auto flooded = store().ack_orchestration_items(flood);
  ASSERT_TRUE(flooded.ok()) << flooded;
  for (const auto& answer : *flooded) ASSERT_TRUE(answer.ok()) << answer;

  start("small");
  FetchedOrchestrationItems both = fetch(5);
  ASSERT_EQ(both.items.size(), 2u);
  if (both.items[0].id == "small") std::swap(both.items[0], both.items[1]);
  EXPECT_EQ(both.items[1].messages.size(), 1u);
  commit(turn(both.items[1]));

  OrchestrationItem big = std::move(both.items[0]);
  std::set<std::pair<std::string, std::string>> seen;
  std::pair<TimePoint, MessageId> last{};
  for (int round = 0; round < kSenders; ++round) {
    ASSERT_EQ(big.messages.size(), static_cast<std::size_t>(kEach));
    EXPECT_EQ(big.more_messages, round + 1 < kSenders);
    for (const Message& message : big.messages) {
      const std::pair place{message.visible_at, message.id};
      ASSERT_LT(last, place);
      last = place;
      seen.emplace(message.name, message.payload);
    }
    const bool more = commit(turn(big)).more_now;
    ASSERT_EQ(more, round + 1 < kSenders);
    if (more) big = lock("big");
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kSenders) * kEach);
}

TEST_P(Messages, AreAllHandedOverWhenTheLimitIsTheLargestNumber) {
  start_and_run("a");
  poke("a");
  FetchOrchestrationItems request = fetch_request(1);
  request.max_messages = std::numeric_limits<std::size_t>::max();
  const auto fetched = store().fetch_orchestration_items(request);
  ASSERT_TRUE(fetched.ok());
  ASSERT_EQ(fetched->items.size(), 1u);
  EXPECT_EQ(fetched->items[0].messages.size(), 1u);
}

PERDURE_CONFORMANCE_SUITE(Messages);

}  // namespace perdure::conformance
