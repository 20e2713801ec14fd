#include "tests/conformance/corrupt_steps.h"

namespace perdure::conformance {

/// A row of an instance, or of its work, that cannot be read: the instance or the item is blocked
/// and named, and nothing else suffers.
class CorruptRows : public CorruptSteps {
 protected:
  /// The whole life of an instance with a bad row beside one that is sound.
  void block_and_delete(Table table, Damage how, const std::string& prefix);
  void expect_shown_as_blocked(const std::string& id, InstanceKey key);
  void expect_cancel_is_whole(const std::string& id);

  /// Work rows of one instance, ready to be claimed.
  std::vector<WorkItem> ready_work(const std::string& id, int count) {
    start_with_work(id, count);
    auto rows = claim_up_to(static_cast<std::size_t>(count));
    for (const WorkItem& row : rows) {
      EXPECT_TRUE(try_settle(settled(row, WorkOutcome::Kind::kGivenBack)).ok());
    }
    return rows;
  }

  bool damage_work(WorkId work, Damage how) {
    RowRef row;
    row.table = Table::kWork;
    row.work = work;
    return damage(row, how);
  }
};

void CorruptRows::expect_shown_as_blocked(const std::string& id, InstanceKey key) {
  EXPECT_EQ(listed(key).blocked, BlockedReason::kCorrupt);
  const auto found = store().get_instance(id);
  if (found.ok()) {
    EXPECT_EQ(found->current.blocked, BlockedReason::kCorrupt);
  } else {
    expect_named(found.error(), key.value);
  }
}

/// Canceled, or refused as a whole.
void CorruptRows::expect_cancel_is_whole(const std::string& id) {
  const ChangeSeq before = newest_change();
  CancelOrchestration request;
  request.id = id;
  const auto canceled = store().cancel_orchestration(request);
  if (canceled.ok()) {
    EXPECT_TRUE(canceled->changed);
    EXPECT_GT(newest_change(), before);
  } else {
    expect_named(canceled.error(), "key ");
    EXPECT_EQ(newest_change(), before) << "half a cancel";
  }
}

void CorruptRows::block_and_delete(Table table, Damage how, const std::string& prefix) {
  const std::string bad = prefix + "bad";
  const std::string good = prefix + "good";
  const InstanceKey bad_key = start(bad).instance;
  const InstanceKey good_key = start(good).instance;
  if (!damage(table, bad_key, how)) return;

  const auto items = lock_up_to(10);
  const OrchestrationItem* const bad_item = find(items, bad_key);
  const OrchestrationItem* const good_item = find(items, good_key);
  ASSERT_TRUE(bad_item != nullptr && good_item != nullptr);
  ASSERT_TRUE(bad_item->problem);
  expect_named(*bad_item->problem, "key ");
  if (table != Table::kMessage) expect_named(*bad_item->problem, bad_key.value);
  EXPECT_FALSE(good_item->problem);
  commit(turn(*good_item));
  EXPECT_FALSE(try_lock()) << "locked like any other";

  abandon(*bad_item, 1h, Charge::kDeferral, BlockedReason::kCorrupt);
  const auto again = store().fetch_orchestration_items(fetch_request(10));
  ASSERT_TRUE(again.ok()) << again;
  EXPECT_TRUE(again->items.empty()) << "held back, not fetched in a hot loop";
  if (again->next_at) {
    EXPECT_GT(*again->next_at, now());
  }

  expect_shown_as_blocked(bad, bad_key);
  EXPECT_EQ(listed(good_key).blocked, BlockedReason::kNone);
  EXPECT_TRUE(cancel(good).changed);
  expect_cancel_is_whole(bad);
  drain();

  const auto deleted = store().delete_instance({.id = bad, .force = true});
  ASSERT_TRUE(deleted.ok()) << deleted;
  EXPECT_EQ(deleted->instances, 1);
  start(bad);
  commit(turn(lock(bad)));
  EXPECT_TRUE(terminate(bad).changed);
  EXPECT_TRUE(terminate(good).changed);
}

TEST_P(CorruptRows, OfAnExecutionBlockIt) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    block_and_delete(Table::kExecution, how, prefix);
  });
}

TEST_P(CorruptRows, OfAnInstanceBlockIt) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    block_and_delete(Table::kInstance, how, prefix);
  });
}

TEST_P(CorruptRows, OfAMessageBlockItsInstance) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    block_and_delete(Table::kMessage, how, prefix);
  });
}

TEST_P(CorruptRows, OfALineBlockItsInstance) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    block_and_delete(Table::kLine, how, prefix);
  });
}

TEST_P(CorruptRows, OfALineAreShownBeforeAnybodyFetches) {
  const InstanceKey key = start("bad").instance;
  start("good");
  if (!damage(Table::kLine, key, Damage::kWrongType)) GTEST_SKIP() << "not in this store";

  EXPECT_EQ(info("bad").current.blocked, BlockedReason::kCorrupt);
  EXPECT_NE(info("bad").current.blocked_detail.find("table "), std::string::npos);
  EXPECT_EQ(info("good").current.blocked, BlockedReason::kNone);
  const InstanceSummary summary = listed(key);
  ASSERT_TRUE(summary.problem);
  expect_named(*summary.problem, key.value);
}

TEST_P(CorruptRows, OfALineDoNotKeepOutWhatOthersSend) {
  const InstanceKey key = start_and_run("bad").instance;
  start("other");
  if (!damage(Table::kLine, key, Damage::kWrongType)) GTEST_SKIP() << "not in this store";

  const OrchestrationItem other = lock("other");
  TurnCommit sends = turn(other);
  sends.raised = {{"bad", "hello", "1"}};
  commit(std::move(sends));

  RaiseEvent request;
  request.id = "bad";
  request.name = "hello";
  const auto raised = store().raise_event(request);
  ASSERT_FALSE(raised.ok()) << "a client is told";
  expect_named(raised.error(), key.value);
  const auto items = lock_up_to(10);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].instance, key);
  EXPECT_EQ(kinds(items[0].messages), (std::vector{MessageKind::kEventRaised}))
      << "the event of the other instance is there, the refused one is not";
}

TEST_P(CorruptRows, OfAHistoryHarmItsQueryOnly) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    std::vector<HistoryQuery> queries;
    for (const char* id : {"first", "bad", "last"}) {
      const OrchestrationStarted started = start(prefix + id);
      queries.push_back({started.instance, started.execution, EventId{}, 100});
    }
    if (!damage(Table::kHistory, queries[1].instance, how)) return;
    const auto pages = store().read_history(queries);
    ASSERT_TRUE(pages.ok()) << pages;
    ASSERT_FALSE(pages->at(1).ok());
    expect_named(pages->at(1).error(), queries[1].instance.value);
    for (const std::size_t sound : {0u, 2u}) {
      ASSERT_TRUE(pages->at(sound).ok()) << pages->at(sound);
      EXPECT_EQ(kinds(pages->at(sound)->events), (std::vector{EventKind::kStarted}));
    }
    EXPECT_TRUE(terminate(prefix + "bad").changed);
    EXPECT_TRUE(store().delete_instance({.id = prefix + "bad"}).ok());
    drain();
  });
}

TEST_P(CorruptRows, OfADescendantDoNotKeepACancelFromTheOthers) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    for (const Table table : {Table::kExecution, Table::kInstance, Table::kLine}) {
      const std::string id = prefix + std::to_string(static_cast<int>(table));
      start_and_run(id);
      for (const char* child : {"a", "bad", "c"}) {
        poke(id);
        start_child_of(id, id + child);
      }
      const InstanceKey bad = info(id + "bad").key;
      if (!damage(table, bad, how)) continue;

      CancelOrchestration request;
      request.id = id;
      const auto canceled = store().cancel_orchestration(request);

      ASSERT_TRUE(canceled.ok()) << canceled;
      EXPECT_TRUE(canceled->changed);
      for (const Error& problem : canceled->problems) expect_named(problem, bad.value);
      for (const char* sound : {"", "a", "c"}) {
        EXPECT_EQ(status(id + sound), ExecutionStatus::kCanceling) << sound;
      }
      const auto deleted = store().delete_instance({.id = id, .force = true});
      ASSERT_TRUE(deleted.ok()) << deleted;
      EXPECT_EQ(deleted->instances, 4);
    }
  });
}

TEST_P(CorruptRows, OfManyDescendantsDoNotHoldUpACascade) {
  start_and_run("root");
  for (const char* child : {"a", "b", "c", "d", "e"}) {
    poke("root");
    start_child_of("root", child);
  }
  for (const char* bad : {"a", "b", "d"}) {
    if (!damage(Table::kExecution, info(bad).key, Damage::kWrongType)) {
      GTEST_SKIP() << "not in this store";
    }
  }
  CancelOrchestration request;
  request.id = "root";
  request.max_descendants = 1;
  const auto canceled = store().cancel_orchestration(request);
  ASSERT_TRUE(canceled.ok()) << canceled;
  for (int round = 0;; ++round) {
    ASSERT_LT(round, 10) << "the cascade never ends";
    const auto carried = store().carry_on_cascades({.limit = 1});
    ASSERT_TRUE(carried.ok()) << carried;
    for (const Error& problem : carried->problems) expect_named(problem, "key ");
    if (carried->remaining == 0) break;
  }
  EXPECT_EQ(status("c"), ExecutionStatus::kCanceling);
  EXPECT_EQ(status("e"), ExecutionStatus::kCanceling);
}

TEST_P(CorruptRows, OfAParentDoNotKeepItsChildFromEnding) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    for (const Table table : {Table::kExecution, Table::kInstance, Table::kLine}) {
      const std::string parent = prefix + std::to_string(static_cast<int>(table));
      start_and_run(parent);
      poke(parent);
      start_child_of(parent, parent + "child");
      const InstanceKey key = info(parent).key;
      if (!damage(table, key, how)) continue;
      poke(parent + "child");
      const auto items = lock_up_to(10);
      for (const OrchestrationItem& item : items) {
        if (item.id != parent + "child") continue;
        TurnCommit decisions = turn(item);
        finish(decisions, item, ExecutionStatus::kCompleted);
        const auto committed = try_commit(std::move(decisions));
        ASSERT_TRUE(committed.ok()) << committed;
      }
      EXPECT_EQ(status(parent + "child"), ExecutionStatus::kCompleted);
      ASSERT_TRUE(store().delete_instance({.id = parent, .force = true}).ok());
    }
  });
}

TEST_P(CorruptRows, OfADroppedChildDoNotBlockItsParent) {
  start("parent");
  const OrchestrationItem first = lock("parent");
  TurnCommit starts = turn(first);
  const EventId child = schedule_child(starts, first, "child");
  commit(std::move(starts));
  commit(turn(lock("child")));
  if (!damage(Table::kExecution, info("child").key, Damage::kWrongType)) {
    GTEST_SKIP() << "not in this store";
  }
  poke("parent");
  const OrchestrationItem second = lock("parent");
  TurnCommit drops = turn(second);
  drops.canceled_children = {child};
  const auto committed = try_commit(std::move(drops));
  EXPECT_TRUE(committed.ok()) << committed;
}

TEST_P(CorruptRows, OfWorkAreSetAsideOnceAndNamed) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    const auto rows = ready_work(prefix + "owner", 3);
    ASSERT_EQ(rows.size(), 3u);
    if (!damage_work(rows[0].id, how)) return;
    const auto fetched = store().fetch_work_items(claim_request(10));
    ASSERT_TRUE(fetched.ok()) << fetched;
    ASSERT_EQ(fetched->problems.size(), 1u);
    expect_named(fetched->problems[0], rows[0].id.value);
    ASSERT_EQ(fetched->items.size(), 2u);
    for (const WorkItem& item : fetched->items) complete(item);
    const auto again = store().fetch_work_items(claim_request(10));
    ASSERT_TRUE(again.ok()) << again;
    EXPECT_TRUE(again->items.empty() && again->problems.empty()) << "a hot loop";
    EXPECT_FALSE(again->next_at);

    EXPECT_TRUE(cancel(prefix + "owner").changed) << "the owner can be canceled";
    ASSERT_TRUE(store().delete_instance({.id = prefix + "owner", .force = true}).ok());
    const auto depths = store().queue_depths();
    ASSERT_TRUE(depths.ok()) << depths;
    EXPECT_TRUE(depths->queues.empty()) << "the row went with its owner";
  });
}

TEST_P(CorruptRows, OfWorkUnderAClaimAreNotSettled) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    if (how != Damage::kUnknownCode && how != Damage::kWrongType) return;
    start_with_work(prefix + "owner", 2);
    const auto rows = claim_up_to(2);
    ASSERT_EQ(rows.size(), 2u);
    if (!damage_work(rows[0].id, how)) return;
    AckWorkItems acks;
    for (const WorkItem& row : rows) {
      acks.entries.push_back(settled(row, WorkOutcome::Kind::kCompleted));
    }
    const auto answers = store().ack_work_items(acks);
    ASSERT_TRUE(answers.ok()) << answers;
    ASSERT_FALSE(answers->at(0).ok());
    expect_named(answers->at(0).error(), rows[0].id.value);
    EXPECT_TRUE(answers->at(1).ok()) << answers->at(1);
    EXPECT_EQ(lock(prefix + "owner").messages.size(), 1u) << "nothing of the bad one is told";
    EXPECT_EQ(check(rows[0]), ClaimState::kRenewed) << "nor written";

    advance(kLock + 1s);
    const auto fetched = store().fetch_work_items(claim_request(10));
    ASSERT_TRUE(fetched.ok()) << fetched;
    EXPECT_TRUE(fetched->items.empty());
    EXPECT_EQ(fetched->problems.size(), 1u) << "set aside when its lease is over";
    EXPECT_TRUE(terminate(prefix + "owner").changed);
  });
}

TEST_P(CorruptRows, OfOverdueWorkAreSetAsideByTheSweep) {
  NewWork overdue;
  overdue.timeouts.schedule_to_start = 10s;
  start_with_work("owner", 2, overdue);
  const auto rows = claim_up_to(2);
  ASSERT_EQ(rows.size(), 2u);
  for (const WorkItem& row : rows) {
    ASSERT_TRUE(try_settle(settled(row, WorkOutcome::Kind::kGivenBack)).ok());
  }
  if (!damage_work(rows[0].id, Damage::kWrongType)) GTEST_SKIP() << "not in this store";
  advance(kLock);
  for (int round = 0; round < 2; ++round) {
    const auto swept = store().sweep_work_items();
    ASSERT_TRUE(swept.ok()) << swept;
    if (swept->next_at) {
      EXPECT_GT(*swept->next_at, now()) << "a hot loop";
    }
    for (const Error& problem : swept->problems) expect_named(problem, rows[0].id.value);
  }
  EXPECT_EQ(status("owner"), ExecutionStatus::kRunning) << "a bad row fails no run";
}

PERDURE_CONFORMANCE_SUITE(CorruptRows);

}  // namespace perdure::conformance
