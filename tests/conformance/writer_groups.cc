#include <algorithm>
#include <functional>
#include <future>
#include <numeric>
#include <set>
#include <string>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

namespace perdure::conformance {

/// Writes are grouped into commits; nobody who asks can tell.
class WriterGroups : public Conformance {
 protected:
  static constexpr int kThreads = 8;

  /// Submits `count` starts, ids prefix0, prefix1 ..
  void submit_starts(Answers<OrchestrationStarted>& answers, const std::string& prefix, int count) {
    for (int i = 0; i < count; ++i) {
      store().submit(start_request(prefix + std::to_string(i)), answers.next(), {});
    }
  }

  void submit_raise(Answers<EventDelivery>& answers,
                    const std::string& id,
                    const std::string& payload) {
    RaiseEvent request;
    request.id = id;
    request.name = "event";
    request.payload = payload;
    store().submit(std::move(request), answers.next(), {});
  }

  void submit_cancel(Answers<CancelAnswer>& answers, const std::string& id) {
    CancelOrchestration request;
    request.id = id;
    request.reason = "because";
    store().submit(std::move(request), answers.next(), {});
  }

  /// Waits until all are answered, lets the writer pass once more, and counts the answers.
  template <class T>
  void expect_answered_once(Answers<T>& answers) {
    ASSERT_TRUE(answers.wait_for_all(store()));
    ASSERT_TRUE(store().heartbeat_process({.epoch = epoch()}).ok());
    for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers.times(i), 1) << i;
  }

  /// Runs `body(thread)` on several threads at once and gathers what they answer.
  template <class Body>
  auto on_threads(Body body) {
    std::vector<std::future<decltype(body(0))>> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.push_back(std::async(std::launch::async, body, thread));
    }
    std::vector<decltype(body(0))> answers;
    for (auto& thread : threads) answers.push_back(thread.get());
    return answers;
  }
};

TEST_P(WriterGroups, AnswerEveryRequestOnceAndByItself) {
  Answers<OrchestrationStarted> answers;
  submit_starts(answers, "a", 300);
  expect_answered_once(answers);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto started = answers.at(i);
    ASSERT_TRUE(started.ok()) << started.error();
    EXPECT_EQ(info("a" + std::to_string(i)).key, started->instance);
  }
}

TEST_P(WriterGroups, RefuseOneOfManyAndWriteTheOthers) {
  start_and_run("run");
  start("taken");
  const OrchestrationItem expired = lock("taken");
  advance(kLock + 1s);
  const auto ended = register_another();
  ASSERT_TRUE(store().release_process({.epoch = ended->epoch()}).ok());

  Answers<OrchestrationStarted> starts;
  Answers<EventDelivery> events;
  Answers<CancelAnswer> cancels;
  Answers<std::int64_t> heartbeats;
  Answers<Batch<TurnCommitted>> turns;
  store().submit(start_request("first"), starts.next(), {});
  store().submit(start_request("taken"), starts.next(), {});
  submit_cancel(cancels, "unknown");
  store().submit(start_request(std::string(1'000, 'x')), starts.next(), {});
  store().submit(HeartbeatProcess{.epoch = ended->epoch()}, heartbeats.next(), {});
  AckOrchestrationItems late;
  late.entries.push_back(turn(expired));
  store().submit(std::move(late), turns.next(), {});
  submit_raise(events, "unknown", "null");
  submit_raise(events, "run", "null");
  store().submit(HeartbeatProcess{.epoch = epoch()}, heartbeats.next(), {});
  store().submit(start_request("last"), starts.next(), {});

  expect_answered_once(starts);
  expect_answered_once(cancels);
  expect_answered_once(heartbeats);
  expect_answered_once(turns);
  expect_answered_once(events);
  EXPECT_EQ(refusal(starts.at(0)), std::nullopt);
  EXPECT_EQ(refusal(starts.at(1)), ErrorCode::kConflict);
  EXPECT_EQ(refusal(starts.at(2)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(starts.at(3)), std::nullopt);
  EXPECT_EQ(refusal(cancels.at(0)), ErrorCode::kNotFound);
  EXPECT_EQ(refusal(heartbeats.at(0)), ErrorCode::kLockLost);
  EXPECT_EQ(refusal(heartbeats.at(1)), std::nullopt);
  ASSERT_TRUE(turns.at(0).ok());
  EXPECT_EQ(refusal(turns.at(0)->at(0)), ErrorCode::kLockLost);
  ASSERT_TRUE(events.at(0).ok());
  EXPECT_EQ(*events.at(0), EventDelivery::kNotFound);
  ASSERT_TRUE(events.at(1).ok());
  EXPECT_EQ(*events.at(1), EventDelivery::kDelivered);
  EXPECT_EQ(status("first"), ExecutionStatus::kRunning);
  EXPECT_EQ(status("last"), ExecutionStatus::kRunning);
}

TEST_P(WriterGroups, RefuseOneEntryOfABatchAndWriteTheOthers) {
  start("a");
  start("b");
  start("c");
  const auto items = lock_up_to(3);
  ASSERT_EQ(items.size(), 3u);
  AckOrchestrationItems batch;
  for (const OrchestrationItem& item : items) {
    TurnCommit commit = turn(item);
    schedule(commit, item);
    batch.entries.push_back(std::move(commit));
  }
  batch.entries[1].events[0].id = EventId{items[1].last_event.value + 7};
  batch.entries[1].work[0].event = batch.entries[1].events[0].id;
  batch.entries.push_back(batch.entries[0]);
  const auto answers = store().ack_orchestration_items(batch);
  ASSERT_TRUE(answers.ok()) << answers;
  ASSERT_EQ(answers->size(), 4u);
  EXPECT_EQ(refusal(answers->at(0)), std::nullopt);
  EXPECT_EQ(refusal(answers->at(1)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(answers->at(2)), std::nullopt);
  EXPECT_EQ(refusal(answers->at(3)), ErrorCode::kLockLost) << "its turn has committed before";
  EXPECT_EQ(history(items[1].id).size(), 1u);
  EXPECT_EQ(claim_up_to(10).size(), 2u);
}

TEST_P(WriterGroups, SettleEachRowOfABatchByItself) {
  start_with_work("a", 3);
  const auto items = claim_up_to(3);
  ASSERT_EQ(items.size(), 3u);
  AckWorkItems batch;
  for (const WorkItem& item : items) {
    batch.entries.push_back(settled(item, WorkOutcome::Kind::kCompleted));
  }
  batch.entries[1].lock = mint().next();
  const auto answers = store().ack_work_items(batch);
  ASSERT_TRUE(answers.ok()) << answers;
  ASSERT_EQ(answers->size(), 3u);
  EXPECT_EQ(refusal(answers->at(0)), std::nullopt);
  EXPECT_EQ(refusal(answers->at(1)), ErrorCode::kLockLost);
  EXPECT_EQ(refusal(answers->at(2)), std::nullopt);
  EXPECT_EQ(lock("a").messages.size(), 2u);
  EXPECT_EQ(check(items[1]), ClaimState::kRenewed);
}

TEST_P(WriterGroups, AnswerEmptyBatches) {
  const auto turns = store().ack_orchestration_items({});
  ASSERT_TRUE(turns.ok()) << turns;
  EXPECT_TRUE(turns->empty());
  const auto work = store().ack_work_items({});
  ASSERT_TRUE(work.ok()) << work;
  EXPECT_TRUE(work->empty());
  EXPECT_TRUE(lock_up_to(0).empty());
  EXPECT_TRUE(claim_up_to(0).empty());
}

TEST_P(WriterGroups, StartAnIdOnceWhenSeveralOfAGroupWantIt) {
  Answers<OrchestrationStarted> answers;
  for (int i = 0; i < 5; ++i) store().submit(start_request("same"), answers.next(), {});
  expect_answered_once(answers);
  int started = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto refused = refusal(answers.at(i));
    if (refused) {
      EXPECT_EQ(*refused, ErrorCode::kConflict);
    } else {
      ++started;
    }
  }
  EXPECT_EQ(started, 1);
  EXPECT_EQ(lock("same").messages.size(), 1u);
}

TEST_P(WriterGroups, GiveAnInstanceAndARowToOneFetchOfAGroup) {
  start_with_work("a", 1);
  poke("a");
  Answers<FetchedOrchestrationItems> locks;
  Answers<FetchedWorkItems> claims;
  for (int i = 0; i < 4; ++i) {
    store().submit(fetch_request(1), locks.next(), {});
    store().submit(claim_request(1), claims.next(), {});
  }
  expect_answered_once(locks);
  expect_answered_once(claims);
  std::size_t locked = 0;
  std::size_t claimed = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(locks.at(i).ok() && claims.at(i).ok());
    locked += locks.at(i)->items.size();
    claimed += claims.at(i)->items.size();
  }
  EXPECT_EQ(locked, 1u);
  EXPECT_EQ(claimed, 1u);
}

TEST_P(WriterGroups, KeepTheOrderOfEventsToOneInstance) {
  start_and_run("a");
  Answers<EventDelivery> answers;
  for (int i = 0; i < 200; ++i) submit_raise(answers, "a", std::to_string(i));
  expect_answered_once(answers);
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(item.messages.size(), 200u);
  for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(item.messages[i].payload, std::to_string(i));
}

TEST_P(WriterGroups, LetCompletionsSubmitFurtherRequests) {
  Answers<OrchestrationStarted> answers;
  std::function<void(int)> submit_from = [&](int number) {
    // The next one is submitted before this one counts as answered, so waiting sees them all.
    auto answered = answers.next();
    store().submit(start_request("a" + std::to_string(number)),
                   [&submit_from, number, answered](Result<OrchestrationStarted> answer) {
                     if (number < 20) submit_from(number + 1);
                     answered(std::move(answer));
                   },
                   {});
  };
  submit_from(1);
  expect_answered_once(answers);
  EXPECT_EQ(answers.size(), 20u);
  EXPECT_EQ(lock_up_to(100).size(), 20u);
}

TEST_P(WriterGroups, AnswerACancelBehindManyWrites) {
  start_and_run("victim");
  Answers<OrchestrationStarted> starts;
  Answers<EventDelivery> events;
  Answers<CancelAnswer> cancels;
  submit_starts(starts, "a", 300);
  for (int i = 0; i < 100; ++i) submit_raise(events, "victim", "null");
  submit_cancel(cancels, "victim");
  submit_starts(starts, "b", 100);
  expect_answered_once(cancels);
  expect_answered_once(starts);
  expect_answered_once(events);
  ASSERT_TRUE(cancels.at(0).ok());
  EXPECT_TRUE(cancels.at(0)->changed);
  EXPECT_EQ(status("victim"), ExecutionStatus::kCanceling);
  for (std::size_t i = 0; i < starts.size(); ++i) EXPECT_EQ(refusal(starts.at(i)), std::nullopt);
}

TEST_P(WriterGroups, CancelOnceWhenSeveralOfAGroupWantIt) {
  start_and_run("victim");
  Answers<CancelAnswer> cancels;
  for (int i = 0; i < 5; ++i) submit_cancel(cancels, "victim");
  expect_answered_once(cancels);
  int changed = 0;
  for (std::size_t i = 0; i < cancels.size(); ++i) {
    ASSERT_TRUE(cancels.at(i).ok());
    EXPECT_EQ(cancels.at(i)->status, ExecutionStatus::kCanceling);
    changed += cancels.at(i)->changed ? 1 : 0;
  }
  EXPECT_EQ(changed, 1);
  EXPECT_EQ(kinds(lock("victim").messages), (std::vector{MessageKind::kCancel}));
}

TEST_P(WriterGroups, ServeManyThreadsAtOnce) {
  const auto keys = on_threads([this](int thread) {
    std::vector<InstanceKey> started;
    for (int i = 0; i < 20; ++i) {
      started.push_back(start(std::to_string(thread) + "-" + std::to_string(i)).instance);
    }
    return started;
  });
  std::set<InstanceKey> all;
  for (const auto& started : keys) all.insert(started.begin(), started.end());
  EXPECT_EQ(all.size(), 160u);
}

TEST_P(WriterGroups, StartAnIdOnceWhenManyThreadsWantIt) {
  const auto refusals = on_threads(
      [this](int) { return refusal(store().start_orchestration(start_request("same"))); });
  EXPECT_EQ(std::count(refusals.begin(), refusals.end(), std::nullopt), 1);
  EXPECT_EQ(std::count(refusals.begin(), refusals.end(), ErrorCode::kConflict), kThreads - 1);
}

TEST_P(WriterGroups, GiveEveryRowToOneThread) {
  start_with_work("a", 100);
  const auto claimed = on_threads([this](int) {
    std::vector<WorkId> mine;
    for (auto items = claim_up_to(3); !items.empty(); items = claim_up_to(3)) {
      for (const WorkItem& item : items) {
        mine.push_back(item.id);
        complete(item);
      }
    }
    return mine;
  });
  std::set<WorkId> all;
  std::size_t total = 0;
  for (const auto& mine : claimed) {
    total += mine.size();
    all.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(total, 100u);
  EXPECT_EQ(all.size(), 100u);
  EXPECT_EQ(lock("a").messages.size(), 100u);
}

TEST_P(WriterGroups, GiveEveryInstanceToOneThread) {
  Answers<OrchestrationStarted> starts;
  submit_starts(starts, "a", 80);
  expect_answered_once(starts);
  const auto done = on_threads([this](int) {
    int turns = 0;
    for (auto items = lock_up_to(3); !items.empty(); items = lock_up_to(3)) {
      for (const OrchestrationItem& item : items) {
        TurnCommit last = turn(item);
        finish(last, item, ExecutionStatus::kCompleted);
        commit(std::move(last));
        ++turns;
      }
    }
    return turns;
  });
  EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), 80);
}

TEST_P(WriterGroups, LeaveNothingToDriveWhenAllIsAnswered) {
  Answers<OrchestrationStarted> starts;
  submit_starts(starts, "a", 10);
  expect_answered_once(starts);
  EXPECT_FALSE(store().poll_once());
}

PERDURE_CONFORMANCE_SUITE(WriterGroups);

}  // namespace perdure::conformance
