#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/conformance.h"

/// What waits where, and for how long.
namespace perdure::conformance {

class QueueDepthReport : public Conformance {
 protected:
  QueueDepths depths() {
    auto answer = store().queue_depths();
    if (!answer.ok()) throw std::runtime_error("queue_depths: " + answer.error().message);
    EXPECT_EQ(answer->now, now());
    return std::move(answer).value();
  }

  /// Of one queue; an empty one when nothing waits there.
  QueueDepth depth(const std::string& queue = kQueue) {
    for (QueueDepth& found : depths().queues) {
      if (found.queue == queue) return std::move(found);
    }
    return {};
  }

  WorkDepth work(const std::string& name = kTask, const std::string& queue = kQueue) {
    for (WorkDepth& found : depth(queue).work) {
      if (found.name == name) return std::move(found);
    }
    return {};
  }
};

TEST_P(QueueDepthReport, OfAnEmptyStoreIsEmpty) {
  EXPECT_TRUE(depths().queues.empty());
}

TEST_P(QueueDepthReport, CountsInstancesThatWantATurn) {
  const TimePoint begin = now();
  start("a");
  advance(5s);
  start("b");
  StartOrchestration later = start_request("c");
  later.delay = 60s;
  start(later);

  QueueDepth found = depth();
  EXPECT_EQ(found.instances_ready, 2);
  EXPECT_EQ(found.instances_delayed, 1);
  EXPECT_EQ(found.instances_locked, 0);
  EXPECT_EQ(found.oldest_instance, begin);

  const OrchestrationItem item = lock("a");
  found = depth();
  EXPECT_EQ(found.instances_ready, 1);
  EXPECT_EQ(found.instances_locked, 1);
  EXPECT_EQ(found.oldest_instance, begin + 5s);

  commit(turn(item));
  found = depth();
  EXPECT_EQ(found.instances_ready, 1) << "an instance without a message waits for nothing";
  EXPECT_EQ(found.instances_locked, 0);

  advance(60s);
  EXPECT_EQ(depth().instances_ready, 2) << "its time has come";
  EXPECT_EQ(depth().instances_delayed, 0);
}

TEST_P(QueueDepthReport, OldestInstanceIsAbsentWhenNoneIsReady) {
  StartOrchestration later = start_request("a");
  later.delay = 60s;
  start(later);
  EXPECT_FALSE(depth().oldest_instance);
}

TEST_P(QueueDepthReport, CountsATimerAsDelayed) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  schedule_timer(decisions, item, now() + 30s);
  commit(std::move(decisions));
  EXPECT_EQ(depth().instances_delayed, 1);
}

TEST_P(QueueDepthReport, CountsWorkByState) {
  const TimePoint begin = now();
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  for (int i = 0; i < 3; ++i) schedule(decisions, item);
  NewWork later;
  later.visible_at = now() + 60s;
  schedule(decisions, item, later);
  commit(std::move(decisions));

  WorkDepth found = work();
  EXPECT_EQ(found.ready, 3);
  EXPECT_EQ(found.delayed, 1);
  EXPECT_EQ(found.claimed, 0);
  EXPECT_EQ(found.held, 0);
  EXPECT_EQ(found.oldest_ready, begin);

  const WorkItem claimed = claim();
  found = work();
  EXPECT_EQ(found.ready, 2);
  EXPECT_EQ(found.claimed, 1);

  advance(60s);
  found = work();
  EXPECT_EQ(found.ready, 3) << "a delayed row whose time has come";
  EXPECT_EQ(found.delayed, 0);

  complete(claimed);
  EXPECT_EQ(work().claimed, 0);
}

TEST_P(QueueDepthReport, TellsSinceWhenTheOldestRowWaits) {
  start_with_work("a", 1);
  const TimePoint first = now();
  advance(10s);
  start_with_work("b", 1);
  EXPECT_EQ(work().oldest_ready, first);
  complete(claim());
  EXPECT_EQ(work().oldest_ready, first + 10s);
  complete(claim());
  EXPECT_FALSE(work().oldest_ready);
  EXPECT_TRUE(depth().work.empty()) << "a name without rows is not listed";
}

TEST_P(QueueDepthReport, CountsSuspectsAsReady) {
  start_with_work("a", 1);
  for (int i = 0; i < kSuspectLosses; ++i) {
    claim();
    advance(kLock);
  }
  ASSERT_TRUE(store().sweep_work_items().ok());
  EXPECT_EQ(work().ready, 1);
  EXPECT_EQ(work().claimed, 0);
}

TEST_P(QueueDepthReport, CountsRowsSetAside) {
  start_with_work("a", 2);
  const WorkItem item = claim();
  ASSERT_TRUE(try_settle(settled(item, WorkOutcome::Kind::kGivenBack)).ok());
  RowRef row;
  row.table = RowRef::Table::kWork;
  row.work = item.id;
  under_test().corrupt(row);
  EXPECT_EQ(claim_up_to(2).size(), 1u);

  const WorkDepth found = work();

  EXPECT_EQ(found.held, 1);
  EXPECT_EQ(found.claimed, 1);
  EXPECT_EQ(found.ready, 0);
}

TEST_P(QueueDepthReport, KeepsQueuesAndNamesApartInTheirOrder) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  for (const auto& [queue, name] : {std::pair{"z", "one"},
                                    std::pair{"b", "two"},
                                    std::pair{"b", "one"},
                                    std::pair{"b", "two"}}) {
    NewWork new_work;
    new_work.queue = queue;
    new_work.name = name;
    schedule(decisions, item, new_work);
  }
  commit(std::move(decisions));
  StartOrchestration other = start_request("other");
  other.queue = "slow";
  start(other);

  const QueueDepths found = depths();

  std::vector<std::string> queues;
  for (const QueueDepth& queue : found.queues) queues.push_back(queue.queue);
  EXPECT_EQ(queues, (std::vector<std::string>{"b", "slow", "z"}));
  EXPECT_EQ(found.queues[1].instances_ready, 1);
  ASSERT_EQ(found.queues[0].work.size(), 2u);
  EXPECT_EQ(found.queues[0].work[0].name, "one");
  EXPECT_EQ(found.queues[0].work[0].ready, 1);
  EXPECT_EQ(found.queues[0].work[1].name, "two");
  EXPECT_EQ(found.queues[0].work[1].ready, 2);
  EXPECT_EQ(work("one", "z").ready, 1);
}

PERDURE_CONFORMANCE_SUITE(QueueDepthReport);

}  // namespace perdure::conformance
