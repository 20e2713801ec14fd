#include <algorithm>

#include "tests/conformance/corrupt_steps.h"

namespace perdure::conformance {

/// A row that cannot be read in what belongs to the store as a whole: the call that needs just this
/// row is told, lists and feeds go on behind it.
class CorruptStoreRows : public CorruptSteps {
 protected:
  bool damage_request(const std::string& request_id, Damage how) {
    RowRef row;
    row.table = Table::kRequest;
    row.text_key = request_id;
    return damage(row, how);
  }

  bool damage_request(const std::string& id, RequestKind kind, Damage how) {
    RowRef row;
    row.table = Table::kRunRequest;
    row.instance = info(id).key;
    row.kind = kind;
    row.text_key = "bad";
    return damage(row, how);
  }

  /// Makes the requests "bad" and "good".
  void make_requests(const std::string& id, RequestKind kind) {
    for (const char* request : {"bad", "good"}) {
      MakeRequest made;
      made.kind = kind;
      made.id = id;
      made.request = request;
      made.name = "n";
      ASSERT_TRUE(store().make_request(made).ok());
    }
  }

  Epoch declare(std::vector<std::string> signals) {
    RegisterProcess request;
    request.host = "declares";
    request.declared.push_back({kFlow, kVersion, std::move(signals)});
    return store().register_process(std::move(request)).value();
  }

  Result<EventDelivery> signal(const std::string& id, const std::string& name) {
    RaiseEvent request;
    request.id = id;
    request.name = name;
    request.as_signal = true;
    return store().raise_event(std::move(request));
  }

  /// Answers to both.
  TurnCommit replies(const OrchestrationItem& item, RequestKind kind) {
    TurnCommit commit = turn(item);
    for (const char* request : {"bad", "good"}) {
      commit.replies.push_back({kind, request, RequestStage::kAnswered, "1", {}});
    }
    return commit;
  }
};

TEST_P(CorruptStoreRows, OfAProcessAreListedByTheirEpoch) {
  for_each_damage([this](Damage how, const std::string&) {
    const auto bad = register_another();
    const auto good = register_another();
    RowRef row;
    row.table = Table::kProcess;
    row.epoch = bad->epoch();
    if (!damage(row, how)) return;

    const auto listed = store().list_processes();
    ASSERT_TRUE(listed.ok()) << listed;
    int problems = 0;
    bool good_is_there = false;
    for (const ProcessInfo& process : *listed) {
      good_is_there |= process.epoch == good->epoch() && !process.problem && process.pid == 1;
      if (!process.problem) continue;
      ++problems;
      EXPECT_EQ(process.epoch, bad->epoch());
      expect_named(*process.problem, bad->epoch().value);
    }
    EXPECT_EQ(problems, 1);
    EXPECT_TRUE(good_is_there);
    EXPECT_TRUE(store().heartbeat_process({good->epoch()}).ok());
    const auto taken = store().take_over({bad->epoch()});
    ASSERT_TRUE(taken.ok()) << taken;
    EXPECT_TRUE(taken->changed) << "it can be taken over all the same";
    EXPECT_EQ(refusal(store().heartbeat_process({bad->epoch()})), ErrorCode::kLockLost);
  });
}

TEST_P(CorruptStoreRows, OfAProcessDoNotKeepItsLocksForEver) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    start(prefix + "a");
    const auto bad = register_another();
    FetchOrchestrationItems fetch = fetch_request(1);
    fetch.epoch = bad->epoch();
    fetch.tokens = bad->next(1);
    const auto fetched = store().fetch_orchestration_items(fetch);
    ASSERT_TRUE(fetched.ok()) << fetched;
    ASSERT_EQ(fetched->items.size(), 1u);
    RowRef row;
    row.table = Table::kProcess;
    row.epoch = bad->epoch();
    if (!damage(row, how)) {
      commit(turn(fetched->items[0]));
      return;
    }
    advance(kLock + 1s);
    commit(turn(lock(prefix + "a")));
  });
}

TEST_P(CorruptStoreRows, OfARequestAnswerThatRequestAlone) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    StartOrchestration bad = start_request(prefix + "bad");
    bad.request_id = prefix + "one";
    start(bad);
    StartOrchestration good = start_request(prefix + "good");
    good.request_id = prefix + "two";
    const OrchestrationStarted started = start(good);
    if (!damage_request(bad.request_id, how)) return;
    const ChangeSeq before = newest_change();

    const auto again = store().start_orchestration(bad);
    ASSERT_FALSE(again.ok());
    expect_named(again.error(), bad.request_id);
    EXPECT_EQ(newest_change(), before);
    EXPECT_EQ(start(good).instance, started.instance);
    CancelOrchestration other_kind;
    other_kind.id = prefix + "bad";
    other_kind.request_id = prefix + "three";
    EXPECT_TRUE(store().cancel_orchestration(other_kind).ok());
  });
}

TEST_P(CorruptStoreRows, OfTheOtherRequestKindsAreToldToo) {
  start_and_run("a");
  RaiseEvent raise;
  raise.id = "a";
  raise.name = "e";
  raise.request_id = "raise";
  ASSERT_TRUE(store().raise_event(raise).ok());
  CancelOrchestration cancel;
  cancel.id = "a";
  cancel.request_id = "cancel";
  ASSERT_TRUE(store().cancel_orchestration(cancel).ok());
  TerminateOrchestration terminate;
  terminate.id = "a";
  terminate.request_id = "terminate";
  ASSERT_TRUE(store().terminate_orchestration(terminate).ok());
  for (const char* id : {"raise", "cancel", "terminate"}) {
    if (!damage_request(id, Damage::kUnknownCode)) GTEST_SKIP() << "not in this store";
  }
  EXPECT_EQ(refusal(store().raise_event(raise)), ErrorCode::kCorrupt);
  EXPECT_EQ(refusal(store().cancel_orchestration(cancel)), ErrorCode::kCorrupt);
  EXPECT_EQ(refusal(store().terminate_orchestration(terminate)), ErrorCode::kCorrupt);
}

TEST_P(CorruptStoreRows, OfAnUpdateAnswerThatUpdateAlone) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    const std::string id = prefix + "a";
    start_and_run(id);
    make_requests(id, RequestKind::kUpdate);
    const InstanceKey key = info(id).key;
    if (!damage_request(id, RequestKind::kUpdate, how)) return drain();

    const auto seen = store().get_request({key, RequestKind::kUpdate, "bad"});
    ASSERT_FALSE(seen.ok());
    expect_named(seen.error(), "bad");
    MakeRequest again;
    again.id = id;
    again.request = "bad";
    again.name = "n";
    EXPECT_EQ(refusal(store().make_request(again)), ErrorCode::kCorrupt);
    EXPECT_TRUE(store().get_request({key, RequestKind::kUpdate, "good"}).ok());
    const OrchestrationItem item = lock(id);
    EXPECT_EQ(item.messages.size(), 2U);
    commit(replies(item, RequestKind::kUpdate));
    const auto good = store().get_request({key, RequestKind::kUpdate, "good"});
    ASSERT_TRUE(good.ok()) << good;
    EXPECT_EQ(good->stage, RequestStage::kAnswered);
    EXPECT_TRUE(terminate(id).changed);
  });
}

TEST_P(CorruptStoreRows, OfAQueryToAnEndedRunHinderNoOtherQuery) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    const std::string id = prefix + "a";
    start(id);
    end(id, ExecutionStatus::kCompleted);
    make_requests(id, RequestKind::kQuery);
    if (!damage_request(id, RequestKind::kQuery, how)) return;

    for (const OrchestrationItem& item : lock_up_to(5)) {
      if (!item.problem) commit(replies(item, RequestKind::kQuery));
    }
    const auto good = store().get_request({info(id).key, RequestKind::kQuery, "good"});
    ASSERT_TRUE(good.ok()) << good;
    EXPECT_EQ(good->stage, RequestStage::kAnswered);
    const auto bad = store().get_request({info(id).key, RequestKind::kQuery, "bad"});
    if (!bad.ok()) expect_named(bad.error(), "bad");
    EXPECT_TRUE(lock_up_to(5).empty()) << "a hot loop";
  });
}

TEST_P(CorruptStoreRows, OfADeclaredSignalHinderNoOtherSignalOrProcess) {
  start_and_run("a");
  const Epoch other = declare({"other"});
  for_each_damage([&](Damage how, const std::string&) {
    for (const char* damaged : {"bad", ""}) {
      SCOPED_TRACE(damaged);
      const Epoch bad = declare({"bad", "good"});
      RowRef row;
      row.table = Table::kDeclaredSignal;
      row.epoch = bad;
      row.text_key = damaged;
      const bool is_damaged = damage(row, how);

      EXPECT_EQ(signal("a", "good").value(), EventDelivery::kDelivered);
      EXPECT_EQ(signal("a", "other").value(), EventDelivery::kDelivered);
      EXPECT_EQ(signal("a", "nobody's").value(), EventDelivery::kUnknown);
      EXPECT_TRUE(is_damaged || signal("a", "bad").value() == EventDelivery::kDelivered);
      const auto taken = store().take_over({bad});
      ASSERT_TRUE(taken.ok()) << taken;
      EXPECT_TRUE(taken->changed);
      EXPECT_EQ(signal("a", "good").value(), EventDelivery::kUnknown) << "forgotten";
      EXPECT_EQ(signal("a", "other").value(), EventDelivery::kDelivered);
      EXPECT_EQ(raise("a", "event"), EventDelivery::kDelivered);
      EXPECT_TRUE(store().heartbeat_process({other}).ok());
    }
  });
  EXPECT_FALSE(lock("a").problem);
}

TEST_P(CorruptStoreRows, OfAStoredStartBlockTheRunBeforeIt) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    const std::string id = prefix + "a";
    start_and_run(id);
    start(prefix + "good");
    StartOrchestration next = start_request(id);
    next.on_conflict = OnConflict::kCancelExisting;
    ASSERT_EQ(start(next).outcome, StartOutcome::kPending);
    const InstanceKey key = info(id).key;
    if (!damage(Table::kPendingStart, key, how)) return drain();

    const auto items = lock_up_to(10);
    ASSERT_EQ(items.size(), 2u);
    AckOrchestrationItems acks;
    for (const OrchestrationItem& item : items) {
      acks.entries.push_back(turn(item));
      if (item.instance == key) finish(acks.entries.back(), item, ExecutionStatus::kCanceled);
    }
    const auto answers = store().ack_orchestration_items(acks);
    ASSERT_TRUE(answers.ok()) << answers;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].instance != key) {
        EXPECT_TRUE(answers->at(i).ok()) << answers->at(i);
        continue;
      }
      ASSERT_FALSE(answers->at(i).ok());
      expect_named(answers->at(i).error(), key.value);
      abandon(items[i], 1h, Charge::kDeferral, BlockedReason::kCorrupt);
    }
    EXPECT_EQ(info(id).current.blocked, BlockedReason::kCorrupt);
    EXPECT_EQ(status(id), ExecutionStatus::kCanceling) << "nothing of the end was written";
    ASSERT_TRUE(store().delete_instance({.id = id, .force = true}).ok());
    start(id);
    drain();
  });
}

TEST_P(CorruptStoreRows, OfACascadeDoNotHoldUpTheOthers) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    for (const char* root : {"bad", "good"}) {
      const std::string id = prefix + root;
      start_and_run(id);
      for (const char* child : {"-1", "-2"}) {
        poke(id);
        start_child_of(id, id + child);
      }
    }
    for (const char* root : {"bad", "good"}) {
      CancelOrchestration request;
      request.id = prefix + root;
      request.max_descendants = 1;
      const auto canceled = store().cancel_orchestration(request);
      ASSERT_TRUE(canceled.ok()) << canceled;
      ASSERT_TRUE(canceled->cascading);
    }
    const bool damaged = damage(Table::kCascade, info(prefix + "bad").key, how);
    const auto carried = store().carry_on_cascades();
    ASSERT_TRUE(carried.ok()) << carried;
    EXPECT_EQ(carried->remaining, 0) << "nobody carries on for ever";
    EXPECT_EQ(carried->problems.size(), damaged ? 1u : 0u);
    for (const Error& problem : carried->problems) expect_named(problem, "key ");
    EXPECT_EQ(status(prefix + "good-1"), ExecutionStatus::kCanceling);
    EXPECT_EQ(status(prefix + "good-2"), ExecutionStatus::kCanceling);
    for (const char* root : {"bad", "good"}) {
      ASSERT_TRUE(store().delete_instance({.id = prefix + root, .force = true}).ok());
    }
    const auto after = store().carry_on_cascades();
    ASSERT_TRUE(after.ok()) << after;
    EXPECT_TRUE(after->problems.empty()) << "it went with its instance";
  });
}

TEST_P(CorruptStoreRows, OfARemovalDoNotHoldUpTheOthers) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    const InstanceKey bad = start(prefix + "bad").instance;
    const InstanceKey good = start(prefix + "good").instance;
    for (const char* id : {"bad", "good"}) {
      const auto deleted = store().delete_instance({.id = prefix + id, .force = true, .limit = 1});
      ASSERT_TRUE(deleted.ok()) << deleted;
      ASSERT_TRUE(deleted->removing);
    }
    const bool damaged = damage(Table::kRemoval, bad, how);
    bool named = false;
    for (int round = 0;; ++round) {
      ASSERT_LT(round, 100) << "the removal never ends";
      const auto carried = store().carry_on_removals({.limit = 2});
      ASSERT_TRUE(carried.ok()) << carried;
      for (const Error& problem : carried->problems) {
        expect_named(problem, "key ");
        named |= problem.message.find(std::to_string(bad.value)) != std::string::npos;
      }
      if (!carried->removing) break;
    }
    EXPECT_EQ(named, damaged);
    EXPECT_TRUE(history(good, ExecutionNo{1}).empty());
  });
}

TEST_P(CorruptStoreRows, OfTheChangeFeedAreLeftOut) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    const ChangeSeq before = newest_change();
    for (const char* id : {"1", "2", "3", "4"}) start(prefix + id);
    RowRef row;
    row.table = Table::kChange;
    row.change = ChangeSeq{before.value + 2};
    if (!damage(row, how)) return;
    row.change = ChangeSeq{before.value + 3};
    ASSERT_TRUE(damage(row, how));

    const auto page = store().read_changes(before, 100);
    ASSERT_TRUE(page.ok()) << page;
    ASSERT_EQ(page->problems.size(), 2u);
    expect_named(page->problems[0], before.value + 2);
    expect_named(page->problems[1], before.value + 3);
    ASSERT_EQ(page->changes.size(), 2u);

    // A reader of one row at a time gets past them.
    const auto small = store().read_changes(ChangeSeq{before.value + 1}, 1);
    ASSERT_TRUE(small.ok()) << small;
    ASSERT_EQ(small->changes.size(), 1u);
    EXPECT_EQ(small->changes[0].seq, ChangeSeq{before.value + 4});
    EXPECT_FALSE(small->more);
    const auto trimmed = store().trim_changes({.keep = 1});
    EXPECT_TRUE(trimmed.ok()) << trimmed;
  });
}

TEST_P(CorruptStoreRows, OfAnEarlyEventBlockTheInstanceItIsFor) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    for (const char* id : {"bad", "good"}) {
      RaiseEvent early;
      early.id = prefix + id;
      early.name = "e";
      early.payload = "1";
      early.buffer_for = 1h;
      const auto kept = store().raise_event(early);
      ASSERT_TRUE(kept.ok()) << kept;
      ASSERT_EQ(*kept, EventDelivery::kBuffered);
    }
    RowRef row;
    row.table = Table::kEarlyEvent;
    row.text_key = prefix + "bad";
    if (!damage(row, how)) return;

    const InstanceKey bad = start(prefix + "bad").instance;
    const InstanceKey good = start(prefix + "good").instance;
    const auto items = lock_up_to(10);
    const OrchestrationItem* const bad_item = find(items, bad);
    const OrchestrationItem* const good_item = find(items, good);
    ASSERT_TRUE(bad_item != nullptr && good_item != nullptr);
    ASSERT_TRUE(bad_item->problem);
    expect_named(*bad_item->problem, "key ");
    EXPECT_EQ(kinds(good_item->messages),
              (std::vector{MessageKind::kStart, MessageKind::kEventRaised}));
    commit(turn(*good_item));
    abandon(*bad_item, 1h, Charge::kDeferral, BlockedReason::kCorrupt);
    EXPECT_FALSE(try_lock());
    EXPECT_TRUE(terminate(prefix + "bad").changed);
  });
}

TEST_P(CorruptStoreRows, OfAnOldExecutionAreListedByTheirNumber) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  finish(decisions, item, ExecutionStatus::kContinuedAsNew);
  commit(std::move(decisions));
  ASSERT_TRUE(under_test().corrupt({.table = Table::kExecution, .instance = item.instance}));

  const auto page = store().list_executions({.id = "a"});

  ASSERT_TRUE(page.ok()) << page;
  ASSERT_EQ(page->executions.size(), 2u);
  ASSERT_TRUE(page->executions[0].problem);
  expect_named(*page->executions[0].problem, item.instance.value);
  EXPECT_EQ(page->executions[0].execution, ExecutionNo{2});
  EXPECT_FALSE(page->executions[1].problem);
  EXPECT_EQ(page->executions[1].status, ExecutionStatus::kContinuedAsNew);
}

PERDURE_CONFORMANCE_SUITE(CorruptStoreRows);

}  // namespace perdure::conformance
