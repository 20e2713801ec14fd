#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/deletion_steps.h"

/// Deleting an instance with its descendants, at once and in portions.
namespace perdure::conformance {

class TreeDeletion : public DeletionSteps {
 protected:
  /// A tree root -> child -> grandchild, all with a turn behind them.
  void three_generations(ClosePolicy policy = ClosePolicy::kCancel) {
    start("root");
    start_child_of("root", "child", policy);
    poke("child");
    start_child_of("child", "grandchild", policy);
  }

  /// A live root with children "0" .. "count - 1", all with a turn behind them.
  void wide_family(int count) {
    start("root");
    const OrchestrationItem item = lock("root");
    TurnCommit decisions = turn(item);
    for (int i = 0; i < count; ++i) schedule_child(decisions, item, std::to_string(i));
    commit(std::move(decisions));
    for (const OrchestrationItem& child : lock_up_to(100)) commit(turn(child));
  }

  int left_of_family(int count) {
    int left = 0;
    for (int i = 0; i < count; ++i) left += exists(std::to_string(i)) ? 1 : 0;
    return left;
  }
};

TEST_P(TreeDeletion, TakesTheWholeTree) {
  three_generations();
  terminate("root");

  const InstanceDeleted answer = delete_it("root");

  EXPECT_EQ(answer.instances, 3);
  for (const char* id : {"root", "child", "grandchild"}) EXPECT_FALSE(exists(id)) << id;
}

TEST_P(TreeDeletion, TakesTheChildrenOfEarlierExecutions) {
  start("root");
  start_child_of("root", "child");
  poke("child");
  end("child", ExecutionStatus::kCompleted);
  end("root", ExecutionStatus::kContinuedAsNew);
  end("root", ExecutionStatus::kCompleted);

  EXPECT_EQ(delete_it("root").instances, 2);

  EXPECT_FALSE(exists("child"));
}

TEST_P(TreeDeletion, OfAChildIsRefusedWhileItsParentExists) {
  three_generations();
  terminate("root");
  for (const char* id : {"child", "grandchild"}) {
    EXPECT_EQ(refusal(try_delete(id)), ErrorCode::kConflict) << id;
    EXPECT_EQ(refusal(try_delete(id, true)), ErrorCode::kConflict) << id;
    EXPECT_TRUE(exists(id)) << id;
  }
}

TEST_P(TreeDeletion, OfAnIdThatWasStartedAgainAsARootIsAllowed) {
  start("root");
  start_child_of("root", "child");
  poke("child");
  end("child", ExecutionStatus::kCompleted);
  lock("root");
  start("child");
  end("child", ExecutionStatus::kCompleted);

  EXPECT_EQ(delete_it("child").instances, 1);

  EXPECT_TRUE(exists("root"));
}

TEST_P(TreeDeletion, IsRefusedWhileADescendantIsLive) {
  three_generations(ClosePolicy::kAbandon);
  terminate("root");
  terminate("child");
  ASSERT_EQ(status("grandchild"), ExecutionStatus::kRunning);

  EXPECT_EQ(refusal(try_delete("root")), ErrorCode::kConflict);

  for (const char* id : {"root", "child", "grandchild"}) EXPECT_TRUE(exists(id)) << id;
}

TEST_P(TreeDeletion, ByForceTakesALiveTree) {
  three_generations(ClosePolicy::kAbandon);
  poke("grandchild");
  const OrchestrationItem item = lock("grandchild");
  TurnCommit decisions = turn(item);
  schedule(decisions, item);
  commit(std::move(decisions));
  const WorkItem claimed = claim();
  poke("child");
  const OrchestrationItem under_way = lock("child");

  const InstanceDeleted answer = delete_it("root", true);

  EXPECT_EQ(answer.instances, 3);
  EXPECT_EQ(answer.touched, (std::vector<TouchedClaim>{{claimed.id, claimed.lock, false}}));
  EXPECT_EQ(refusal(try_commit(turn(under_way))), ErrorCode::kLockLost);
  for (const char* id : {"root", "child", "grandchild"}) EXPECT_FALSE(exists(id)) << id;
  EXPECT_FALSE(try_lock());
}

TEST_P(TreeDeletion, OfARingOfParentsIsAllowed) {
  start("a");
  start_child_of("a", "b", ClosePolicy::kAbandon);
  poke("a");
  end("a", ExecutionStatus::kCompleted);
  poke("b");
  start_child_of("b", "a");
  terminate("b");
  ASSERT_EQ(info("a").parent->instance, info("b").key);
  ASSERT_EQ(info("b").parent->instance, info("a").key);

  EXPECT_EQ(delete_it("b").instances, 2);

  EXPECT_FALSE(exists("a"));
  EXPECT_FALSE(exists("b"));
}

TEST_P(TreeDeletion, BeyondItsLimitIsStoredAndCarriedOn) {
  wide_family(9);
  terminate("root");
  const InstanceKey key = info("root").key;

  const auto answer = try_delete("root", false, 10);

  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->removing);
  EXPECT_FALSE(exists("root")) << "the instance itself is gone at once";
  const int left = left_of_family(9);
  EXPECT_GT(left, 0);
  EXPECT_EQ(answer->instances, 1 + 9 - left);
  const RemovalsCarriedOn rest = carry_on_to_the_end(5);
  EXPECT_EQ(rest.instances, left);
  EXPECT_EQ(left_of_family(9), 0);
  EXPECT_TRUE(history(key, ExecutionNo{1}).empty());
}

TEST_P(TreeDeletion, ByForceBeyondItsLimitReachesLiveDescendantsLater) {
  wide_family(5);
  std::vector<TouchedClaim> expected;
  for (int i = 0; i < 5; ++i) poke(std::to_string(i));
  for (const OrchestrationItem& item : lock_up_to(10)) {
    TurnCommit decisions = turn(item);
    schedule(decisions, item);
    commit(std::move(decisions));
  }
  const std::vector<WorkItem> claimed = claim_up_to(10);
  ASSERT_EQ(claimed.size(), 5u);

  const auto answer = try_delete("root", true, 1);

  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->removing);
  EXPECT_EQ(answer->instances, 1);
  EXPECT_EQ(status("4"), ExecutionStatus::kRunning);
  const RemovalsCarriedOn rest = carry_on_to_the_end(1);
  EXPECT_EQ(rest.instances, 5);
  EXPECT_EQ(rest.touched.size(), 5u);
  EXPECT_EQ(left_of_family(5), 0);
  for (const WorkItem& item : claimed) EXPECT_EQ(check(item), ClaimState::kGone);
}

TEST_P(TreeDeletion, EndsTheCascadesOfTheInstance) {
  wide_family(4);
  CancelOrchestration request;
  request.id = "root";
  request.max_descendants = 1;
  const auto canceled = store().cancel_orchestration(request);
  ASSERT_TRUE(canceled.ok() && canceled->cascading);

  EXPECT_EQ(delete_it("root", true).instances, 5);

  const auto cascades = store().carry_on_cascades();
  ASSERT_TRUE(cascades.ok());
  EXPECT_EQ(cascades->reached, 0);
  EXPECT_EQ(cascades->remaining, 0);
}

PERDURE_CONFORMANCE_SUITE(TreeDeletion);

class SharedDeletion : public TreeDeletion {};

TEST_P(SharedDeletion, IsCarriedOnByAnother) {
  const auto other = under_test().second_provider();
  ASSERT_NE(other, nullptr);
  wide_family(5);
  const auto answer = try_delete("root", true, 1);
  ASSERT_TRUE(answer.ok() && answer->removing);

  const auto rest = other->carry_on_removals();

  ASSERT_TRUE(rest.ok());
  EXPECT_FALSE(rest->removing);
  EXPECT_EQ(rest->instances, 5);
  EXPECT_EQ(left_of_family(5), 0);
}

PERDURE_SHARED_CONFORMANCE_SUITE(SharedDeletion);

}  // namespace perdure::conformance
