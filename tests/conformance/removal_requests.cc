#include "tests/conformance/deletion_steps.h"

/// Deletes and prunes that are repeated with their request id.
namespace perdure::conformance {

class RemovalRequests : public DeletionSteps {
 protected:
  void ended(const std::string& id) {
    start(id);
    end(id, ExecutionStatus::kCompleted);
  }
};

TEST_P(RemovalRequests, ARepeatedDeleteSparesTheNextRunOfTheId) {
  ended("a");
  const DeleteInstance request{.id = "a", .request_id = "r"};
  const auto first = store().delete_instance(request);
  ended("a");

  const auto second = store().delete_instance(request);

  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->instances, 1);
  EXPECT_EQ(second->instances, first->instances);
  EXPECT_EQ(second->events, first->events);
  EXPECT_EQ(second->removing, first->removing);
  EXPECT_TRUE(exists("a"));
}

TEST_P(RemovalRequests, ARefusedDeleteMayBeMadeAgainUnderItsId) {
  const DeleteInstance request{.id = "a", .request_id = "r"};
  EXPECT_EQ(refusal(store().delete_instance(request)), ErrorCode::kNotFound);
  start("a");
  EXPECT_EQ(refusal(store().delete_instance(request)), ErrorCode::kConflict);
  end("a", ExecutionStatus::kCompleted);
  EXPECT_TRUE(store().delete_instance(request).ok());
  EXPECT_FALSE(exists("a"));
}

TEST_P(RemovalRequests, ARepeatedBulkDeleteAnswersAsTheFirst) {
  for (const char* id : {"a", "b", "c"}) {
    ended(id);
    advance(1s);
  }
  const DeleteInstances request{.completed_before = now() + 1h, .max_roots = 2, .request_id = "r"};
  const auto first = store().delete_instances(request);
  const auto second = store().delete_instances(request);

  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->roots, 2);
  ASSERT_TRUE(first->next.has_value());
  EXPECT_EQ(second->roots, first->roots);
  EXPECT_EQ(second->descendants, first->descendants);
  EXPECT_EQ(second->skipped, first->skipped);
  EXPECT_EQ(second->events, first->events);
  EXPECT_EQ(second->removing, first->removing);
  EXPECT_EQ(second->next, first->next);
  EXPECT_TRUE(exists("c"));
}

TEST_P(RemovalRequests, ARepeatedPruneRemovesNothingMore) {
  start("loop");
  end("loop", ExecutionStatus::kContinuedAsNew);
  const PruneExecutions request{.id = "loop", .request_id = "r"};
  const auto first = store().prune_executions(request);
  end("loop", ExecutionStatus::kContinuedAsNew);

  const auto second = store().prune_executions(request);

  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->executions, 1);
  EXPECT_EQ(second->executions, first->executions);
  EXPECT_EQ(second->events, first->events);
  EXPECT_EQ(second->more, first->more);
  EXPECT_EQ(second->removing, first->removing);
  EXPECT_TRUE(store().get_execution("loop", ExecutionNo{2}).ok());
}

TEST_P(RemovalRequests, AnIdBelongsToOneKindOfCall) {
  ended("a");
  ASSERT_TRUE(store().delete_instance({.id = "a", .request_id = "r"}).ok());
  start("b");
  EXPECT_EQ(refusal(store().prune_executions({.id = "b", .request_id = "r"})),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(store().delete_instances({.ids = {"b"}, .request_id = "r"})),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(store().cancel_orchestration({.id = "b", .request_id = "r"})),
            ErrorCode::kInvalidArgument);
}

TEST_P(RemovalRequests, ABadIdIsRefused) {
  ended("a");
  const std::string bad(256, 'x');
  EXPECT_EQ(refusal(store().delete_instance({.id = "a", .request_id = bad})),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(store().delete_instances({.ids = {"a"}, .request_id = bad})),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(store().prune_executions({.id = "a", .request_id = bad})),
            ErrorCode::kInvalidArgument);
  EXPECT_TRUE(exists("a"));
}

PERDURE_CONFORMANCE_SUITE(RemovalRequests);

}  // namespace perdure::conformance
