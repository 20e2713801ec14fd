#include <algorithm>
#include <stdexcept>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

namespace perdure::conformance {

/// Nothing that cannot be served now, or at all, stands in the way of what can.
class Starvation : public Conformance {
 protected:
  /// Starts `count` instances like the given one, in as few commits as the provider makes of them.
  void start_many(const std::string& prefix, int count, const StartOrchestration& like) {
    Answers<OrchestrationStarted> answers;
    for (int i = 0; i < count; ++i) {
      StartOrchestration request = like;
      request.id = prefix + std::to_string(i);
      store().submit(std::move(request), answers.next(), {});
    }
    if (!answers.wait_for_all(store())) throw std::runtime_error("starts were not answered");
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (!answers.at(i).ok()) throw std::runtime_error("start: " + answers.at(i).error().message);
    }
  }

  void raise_many(const std::string& id, int count) {
    Answers<EventDelivery> answers;
    for (int i = 0; i < count; ++i) {
      RaiseEvent request;
      request.id = id;
      request.name = "poke";
      request.payload = "null";
      store().submit(std::move(request), answers.next(), {});
    }
    if (!answers.wait_for_all(store())) throw std::runtime_error("events were not answered");
  }

  void corrupt(RowRef::Table table, const std::string& id) {
    RowRef row;
    row.table = table;
    row.instance = info(id).key;
    row.event = EventId{1};
    under_test().corrupt(row);
  }

  void corrupt(WorkId work) {
    RowRef row;
    row.table = RowRef::Table::kWork;
    row.work = work;
    under_test().corrupt(row);
  }

  void give_back(const WorkItem& item) {
    const auto answer = try_settle(settled(item, WorkOutcome::Kind::kGivenBack));
    if (!answer.ok()) throw std::runtime_error("give back: " + answer.error().message);
  }

  static const OrchestrationItem& find(const std::vector<OrchestrationItem>& items,
                                       InstanceKey key) {
    for (const OrchestrationItem& item : items) {
      if (item.instance == key) return item;
    }
    throw std::runtime_error("the instance was not fetched");
  }
};

TEST_P(Starvation, WorkOfUnservedNamesDoesNotStandInTheWay) {
  NewWork unserved;
  unserved.name = "unserved";
  unserved.priority = 100;
  start_with_work("crowd", 1'000, unserved);
  advance(1s);
  start_with_work("one", 1);
  EXPECT_EQ(claim().instance_id, "one");
  EXPECT_FALSE(try_claim().has_value());
}

TEST_P(Starvation, WorkOfOtherQueuesDoesNotStandInTheWay) {
  NewWork elsewhere;
  elsewhere.queue = "elsewhere";
  elsewhere.priority = 100;
  start_with_work("crowd", 1'000, elsewhere);
  start_with_work("one", 1);
  EXPECT_EQ(claim().instance_id, "one");
  EXPECT_FALSE(try_claim().has_value());
}

TEST_P(Starvation, DelayedWorkDoesNotStandInTheWay) {
  NewWork delayed;
  delayed.priority = 100;
  delayed.visible_at = now() + 1h;
  start_with_work("crowd", 1'000, delayed);
  start_with_work("one", 1);
  EXPECT_EQ(claim().instance_id, "one");
  EXPECT_FALSE(try_claim().has_value());
}

TEST_P(Starvation, InstancesOfUnservedNamesDoNotStandInTheWay) {
  StartOrchestration unserved = start_request("");
  unserved.name = "unserved";
  start_many("crowd", 1'000, unserved);
  advance(1s);
  start("one");
  lock("one");
  EXPECT_FALSE(try_lock().has_value());
}

TEST_P(Starvation, InstancesOfUnservedVersionsDoNotStandInTheWay) {
  StartOrchestration unserved = start_request("");
  unserved.version = "unserved";
  start_many("crowd", 1'000, unserved);
  advance(1s);
  start("one");
  lock("one");
  EXPECT_FALSE(try_lock().has_value());
}

TEST_P(Starvation, InstancesThatAreDelayedDoNotStandInTheWay) {
  StartOrchestration delayed = start_request("");
  delayed.delay = 1h;
  start_many("crowd", 300, delayed);
  start("one");
  lock("one");
  EXPECT_FALSE(try_lock().has_value());
}

TEST_P(Starvation, ServedInstancesAreAllFoundAmongUnservedOnes) {
  StartOrchestration unserved = start_request("");
  unserved.name = "unserved";
  for (int i = 0; i < 10; ++i) {
    start_many("crowd" + std::to_string(i) + "-", 20, unserved);
    start("served" + std::to_string(i));
    advance(1s);
  }
  EXPECT_EQ(lock_up_to(50).size(), 10u);
}

TEST_P(Starvation, EventsForUnknownInstancesDoNotStandInTheWay) {
  for (int i = 0; i < 50; ++i) {
    RaiseEvent event;
    event.id = "nobody" + std::to_string(i);
    event.name = "poke";
    event.payload = "null";
    event.buffer_for = i % 2 == 0 ? Duration{} : Duration{1h};
    const auto delivery = store().raise_event(event);
    ASSERT_TRUE(delivery.ok()) << delivery;
    EXPECT_EQ(*delivery, i % 2 == 0 ? EventDelivery::kNotFound : EventDelivery::kBuffered);
  }
  start("one");
  const OrchestrationItem item = lock("one");
  EXPECT_EQ(item.messages.size(), 1u);
  EXPECT_FALSE(try_lock().has_value());
}

TEST_P(Starvation, ALockedInstanceWithManyMessagesDoesNotStandInTheWay) {
  start("locked");
  const OrchestrationItem held = lock("locked");
  raise_many("locked", 500);
  start("one");
  lock("one");
  EXPECT_FALSE(try_lock().has_value());
  EXPECT_TRUE(commit(turn(held)).more_now);
  EXPECT_EQ(lock("locked").messages.size(), 500u);
}

TEST_P(Starvation, AnInstanceThatIsHeldBackDoesNotStandInTheWay) {
  start("held");
  abandon(lock("held"), 1h);
  advance(1s);
  start("one");
  lock("one");
  EXPECT_FALSE(try_lock().has_value());
}

TEST_P(Starvation, AnInstanceThatKeepsGettingMessagesDoesNotPassItsNeighbours) {
  start("busy");
  advance(1s);
  start("calm");
  for (int round = 0; round < 3; ++round) {
    const OrchestrationItem item = lock("busy");
    advance(1s);
    raise("busy", "more");
    ASSERT_TRUE(commit(turn(item)).more_now);
    commit(turn(lock("calm")));
    advance(1s);
    poke("calm");
  }
}

TEST_P(Starvation, ACorruptMessageHarmsItsInstanceOnly) {
  start("bad");
  start("good");
  const InstanceKey bad_key = info("bad").key;
  corrupt(RowRef::Table::kMessage, "bad");
  const auto items = lock_up_to(10);
  ASSERT_EQ(items.size(), 2u);
  const OrchestrationItem& bad = find(items, bad_key);
  ASSERT_TRUE(bad.problem.has_value());
  EXPECT_EQ(bad.problem->code, ErrorCode::kCorrupt);
  const OrchestrationItem& good = find(items, info("good").key);
  EXPECT_FALSE(good.problem.has_value());
  EXPECT_EQ(kinds(good.messages), (std::vector{MessageKind::kStart}));
  commit(turn(good));
  EXPECT_FALSE(try_lock().has_value()) << "the lock of the bad one is held all the same";
  abandon(bad, 1h, Charge::kDeferral, BlockedReason::kCorrupt);
  EXPECT_EQ(info("bad").current.blocked, BlockedReason::kCorrupt);
  poke("good");
  lock("good");
}

TEST_P(Starvation, ACorruptExecutionHarmsItsInstanceOnly) {
  start("bad");
  start("good");
  const InstanceKey bad_key = info("bad").key;
  corrupt(RowRef::Table::kExecution, "bad");
  const auto items = lock_up_to(10);
  ASSERT_EQ(items.size(), 2u);
  const OrchestrationItem& bad = find(items, bad_key);
  ASSERT_TRUE(bad.problem.has_value());
  EXPECT_EQ(bad.problem->code, ErrorCode::kCorrupt);
  EXPECT_EQ(refusal(store().get_instance("bad")), ErrorCode::kCorrupt);
  const OrchestrationItem& good = find(items, info("good").key);
  EXPECT_FALSE(good.problem.has_value());
  commit(turn(good));
  EXPECT_EQ(status("good"), ExecutionStatus::kRunning);
}

TEST_P(Starvation, ACorruptHistoryHarmsItsQueryOnly) {
  std::vector<HistoryQuery> queries;
  for (const char* id : {"good", "bad", "fine"}) {
    const OrchestrationStarted started = start(id);
    HistoryQuery query;
    query.instance = started.instance;
    query.execution = started.execution;
    queries.push_back(query);
  }
  corrupt(RowRef::Table::kHistory, "bad");
  const auto pages = store().read_history(queries);
  ASSERT_TRUE(pages.ok()) << pages;
  ASSERT_EQ(pages->size(), 3u);
  for (const std::size_t i : {0u, 2u}) {
    ASSERT_TRUE(pages->at(i).ok()) << pages->at(i);
    EXPECT_EQ(kinds(pages->at(i)->events), (std::vector{EventKind::kStarted}));
  }
  EXPECT_EQ(refusal(pages->at(1)), ErrorCode::kCorrupt);
  for (const OrchestrationItem& item : lock_up_to(10)) {
    if (item.id != "bad") commit(turn(item));
  }
}

TEST_P(Starvation, ACorruptInstanceCanBeTerminated) {
  start("bad");
  corrupt(RowRef::Table::kMessage, "bad");
  const OrchestrationItem item = lock();
  ASSERT_TRUE(item.problem.has_value());
  EXPECT_TRUE(terminate("bad").changed);
  EXPECT_EQ(status("bad"), ExecutionStatus::kTerminated);
  advance(kLock + 1s);
  EXPECT_FALSE(try_lock().has_value());
}

TEST_P(Starvation, ACorruptWorkRowIsNamedOnceAndOthersAreClaimed) {
  start_with_work("a", 3);
  const auto rows = claim_up_to(3);
  ASSERT_EQ(rows.size(), 3u);
  for (const WorkItem& row : rows) give_back(row);
  corrupt(rows[0].id);
  const auto fetched = store().fetch_work_items(claim_request(10));
  ASSERT_TRUE(fetched.ok()) << fetched;
  ASSERT_EQ(fetched->problems.size(), 1u);
  EXPECT_EQ(fetched->problems[0].code, ErrorCode::kCorrupt);
  EXPECT_NE(fetched->problems[0].message.find(std::to_string(rows[0].id.value)), std::string::npos)
      << fetched->problems[0];
  ASSERT_EQ(fetched->items.size(), 2u);
  for (const WorkItem& item : fetched->items) {
    EXPECT_NE(item.id, rows[0].id);
    complete(item);
  }
  const auto again = store().fetch_work_items(claim_request(10));
  ASSERT_TRUE(again.ok()) << again;
  EXPECT_TRUE(again->items.empty());
  EXPECT_TRUE(again->problems.empty()) << "a row that was set aside is not met again";
}

TEST_P(Starvation, ACorruptWorkRowDoesNotFillTheOnlySlot) {
  start_with_work("a", 2);
  const auto rows = claim_up_to(2);
  ASSERT_EQ(rows.size(), 2u);
  for (const WorkItem& row : rows) give_back(row);
  corrupt(rows[0].id);
  // The first fetch may spend its one slot on the bad row, the second may not.
  auto served = try_claim();
  if (!served) served = try_claim();
  ASSERT_TRUE(served.has_value());
  EXPECT_EQ(served->id, rows[1].id);
}

TEST_P(Starvation, ACorruptWorkRowDoesNotStopTheSweep) {
  start_with_work("a", 2);
  const auto rows = claim_up_to(2);
  ASSERT_EQ(rows.size(), 2u);
  give_back(rows[0]);
  corrupt(rows[0].id);
  advance(kLock + 1s);
  const auto swept = store().sweep_work_items();
  ASSERT_TRUE(swept.ok()) << swept;
  EXPECT_EQ(swept->lost, 1);
  const auto free = claim_up_to(10);
  ASSERT_EQ(free.size(), 1u);
  EXPECT_EQ(free[0].id, rows[1].id);
}

PERDURE_CONFORMANCE_SUITE(Starvation);

}  // namespace perdure::conformance
