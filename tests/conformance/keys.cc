#include <algorithm>
#include <set>
#include <stdexcept>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

namespace perdure::conformance {

/// Keys are never used twice, also when the newest row is gone; numbers of lives and changes grow.
class Keys : public Conformance {
 protected:
  /// Message ids of an instance that is ready; its turn is committed.
  std::vector<MessageId> consume(const std::string& id) {
    const OrchestrationItem item = lock(id);
    commit(turn(item));
    return ids_of(item);
  }

  static std::vector<MessageId> ids_of(const OrchestrationItem& item) {
    std::vector<MessageId> ids;
    for (const Message& message : item.messages) ids.push_back(message.id);
    return ids;
  }

  ExecutionStatus status_of(const std::string& id, ExecutionNo execution) {
    const auto found = store().get_execution(id, execution);
    if (!found.ok()) throw std::runtime_error("get_execution: " + found.error().message);
    return found->status;
  }
};

namespace {

template <class T>
void expect_unused(std::set<T>& used, const std::vector<T>& ids) {
  ASSERT_FALSE(ids.empty());
  for (const T& id : ids) EXPECT_TRUE(used.insert(id).second) << id << " was used before";
}

std::vector<WorkId> ids_of_work(const std::vector<WorkItem>& items) {
  std::vector<WorkId> ids;
  for (const WorkItem& item : items) ids.push_back(item.id);
  return ids;
}

}  // namespace

TEST_P(Keys, OfInstancesAreNotUsedTwiceWhenRunsEnd) {
  std::set<InstanceKey> used;
  for (int i = 0; i < 5; ++i) {
    const std::string id = "a" + std::to_string(i);
    const InstanceKey key = start(id).instance;
    EXPECT_TRUE(used.insert(key).second) << key;
    EXPECT_EQ(info(id).key, key);
    if (i % 2 == 0) {
      end(id, ExecutionStatus::kCompleted);
    } else {
      terminate(id);
    }
  }
}

TEST_P(Keys, OfChildrenAreOfTheSameLine) {
  const InstanceKey parent = start("parent").instance;
  start_child_of("parent", "child");
  const InstanceKey child = info("child").key;
  EXPECT_NE(child, parent);
  const InstanceKey next = start("next").instance;
  EXPECT_NE(next, parent);
  EXPECT_NE(next, child);
}

TEST_P(Keys, OfMessagesAreNotUsedTwiceWhenTheQueueIsEmptyAgain) {
  std::set<MessageId> used;
  start("a");
  expect_unused(used, consume("a"));
  for (int round = 0; round < 5; ++round) {
    poke("a");
    expect_unused(used, consume("a"));
  }
}

TEST_P(Keys, OfMessagesAreNotUsedTwiceAfterATermination) {
  std::set<MessageId> used;
  for (int round = 0; round < 3; ++round) {
    const std::string id = "a" + std::to_string(round);
    start(id);
    raise(id, "unread");
    const OrchestrationItem item = lock(id);
    expect_unused(used, ids_of(item));
    terminate(id);
  }
}

TEST_P(Keys, OfMessagesAreNotUsedTwiceAfterARunContinuesAsNew) {
  std::set<MessageId> used;
  start("a");
  for (int round = 0; round < 3; ++round) {
    const OrchestrationItem item = lock("a");
    expect_unused(used, ids_of(item));
    TurnCommit next = turn(item);
    finish(next, item, ExecutionStatus::kContinuedAsNew);
    commit(std::move(next));
  }
}

TEST_P(Keys, OfWorkAreNotUsedTwiceWhenRowsAreSettled) {
  std::set<WorkId> used;
  for (int round = 0; round < 4; ++round) {
    start_with_work("a" + std::to_string(round), 2);
    const auto items = claim_up_to(10);
    expect_unused(used, ids_of_work(items));
    for (const WorkItem& item : items) ASSERT_TRUE(try_complete(item).ok());
    end("a" + std::to_string(round), ExecutionStatus::kCompleted);
  }
}

TEST_P(Keys, OfWorkAreNotUsedTwiceWhenACancelDeletesRows) {
  std::set<WorkId> used;
  for (int round = 0; round < 4; ++round) {
    const std::string id = "a" + std::to_string(round);
    start_with_work(id, 2);
    expect_unused(used, ids_of_work(claim_up_to(10)));
    cancel(id);
    end(id, ExecutionStatus::kCanceled);
  }
}

TEST_P(Keys, OfWorkStayTheSameThroughAllAttempts) {
  start_with_work("a", 1);
  const WorkItem first = claim();
  ASSERT_TRUE(try_settle(settled(first, WorkOutcome::Kind::kGivenBack)).ok());
  const WorkItem second = claim();
  EXPECT_EQ(second.id, first.id);
  EXPECT_NE(second.lock, first.lock);
  EXPECT_EQ(second.owner, first.owner);
}

TEST_P(Keys, OfProcessesAreNotUsedTwiceWhenTheNewestEnds) {
  std::set<Epoch> used{epoch()};
  for (int round = 0; round < 5; ++round) {
    const auto newest = register_another();
    EXPECT_TRUE(used.insert(newest->epoch()).second) << newest->epoch();
    ASSERT_TRUE(store().release_process({.epoch = newest->epoch()}).ok());
  }
}

TEST_P(Keys, ExecutionsAreNumberedOnWhenARunContinuesAsNew) {
  const OrchestrationStarted started = start("a");
  EXPECT_EQ(started.execution, ExecutionNo{1});
  for (int life = 1; life <= 3; ++life) {
    EXPECT_EQ(info("a").current.execution, ExecutionNo{life});
    end("a", ExecutionStatus::kContinuedAsNew);
    EXPECT_EQ(status_of("a", ExecutionNo{life}), ExecutionStatus::kContinuedAsNew);
  }
  EXPECT_EQ(lock("a").execution, ExecutionNo{4});
  EXPECT_EQ(info("a").key, started.instance);
}

TEST_P(Keys, ExecutionsAreNumberedOnWhenAnEndedIdIsStartedAgain) {
  const OrchestrationStarted first = start("a");
  end("a", ExecutionStatus::kContinuedAsNew);
  end("a", ExecutionStatus::kCompleted);
  const OrchestrationStarted again = start("a");
  EXPECT_EQ(again.outcome, StartOutcome::kStarted);
  EXPECT_EQ(again.instance, first.instance);
  EXPECT_EQ(again.execution, ExecutionNo{3});
  EXPECT_EQ(status_of("a", ExecutionNo{1}), ExecutionStatus::kContinuedAsNew);
  EXPECT_EQ(status_of("a", ExecutionNo{2}), ExecutionStatus::kCompleted);
  EXPECT_EQ(status_of("a", ExecutionNo{3}), ExecutionStatus::kRunning);
  EXPECT_EQ(kinds(history(first.instance, ExecutionNo{1})),
            (std::vector{EventKind::kStarted, EventKind::kContinuedAsNew}));
}

TEST_P(Keys, EventsOfEveryExecutionCountFromOne) {
  start("a");
  end("a", ExecutionStatus::kContinuedAsNew);
  end("a", ExecutionStatus::kContinuedAsNew);
  const InstanceKey key = info("a").key;
  for (int life = 1; life <= 3; ++life) {
    const auto events = history(key, ExecutionNo{life});
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i].id, EventId{static_cast<std::int64_t>(i) + 1});
    }
    EXPECT_EQ(events.size(), life == 3 ? 1u : 2u);
  }
}

TEST_P(Keys, ChangesGrowWithEveryStatusChange) {
  start_and_run("a");
  ChangeSeq last = info("a").last_change;
  EXPECT_GT(last, ChangeSeq{});
  cancel("a");
  EXPECT_GT(info("a").last_change, last);
  last = info("a").last_change;
  end("a", ExecutionStatus::kCanceled);
  EXPECT_GT(info("a").last_change, last);
  last = info("a").last_change;
  start("a");
  EXPECT_GT(info("a").last_change, last);
  last = info("a").last_change;
  end("a", ExecutionStatus::kContinuedAsNew);
  EXPECT_GT(info("a").last_change, last);
  last = info("a").last_change;
  terminate("a");
  EXPECT_GT(info("a").last_change, last);
}

TEST_P(Keys, ChangesStandStillWhileTheStatusDoes) {
  start_with_work("a", 1);
  const ChangeSeq last = info("a").last_change;
  complete(claim());
  commit(turn(lock("a")));
  poke("a");
  EXPECT_EQ(info("a").last_change, last);
}

TEST_P(Keys, ChangesOfAllInstancesAreOneLine) {
  start_and_run("a");
  start_and_run("b");
  ChangeSeq last = std::max(info("a").last_change, info("b").last_change);
  EXPECT_NE(info("a").last_change, info("b").last_change);
  for (const char* id : {"a", "b"}) {
    cancel(id);
    EXPECT_GT(info(id).last_change, last);
    last = info(id).last_change;
  }
  for (const char* id : {"a", "b"}) {
    terminate(id);
    EXPECT_GT(info(id).last_change, last);
    last = info(id).last_change;
  }
}

TEST_P(Keys, OneTokenIsRefusedForTwoInstances) {
  start("a");
  start("b");
  FetchOrchestrationItems request = fetch_request(1);
  request.tokens.push_back(request.tokens[0]);
  EXPECT_EQ(refusal(store().fetch_orchestration_items(request)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(lock_up_to(2).size(), 2u);
}

TEST_P(Keys, OneTokenIsRefusedForTwoRows) {
  start_with_work("a", 2);
  FetchWorkItems request = claim_request(1);
  request.tokens.push_back(request.tokens[0]);
  EXPECT_EQ(refusal(store().fetch_work_items(request)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(claim_up_to(2).size(), 2u);
}

PERDURE_CONFORMANCE_SUITE(Keys);

}  // namespace perdure::conformance
