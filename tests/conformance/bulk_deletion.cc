#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// Deleting many ended instances, by id or by age.
namespace perdure::conformance {

class BulkDeletion : public Conformance {
 protected:
  InstancesDeleted delete_all(const DeleteInstances& request) {
    auto answer = store().delete_instances(request);
    if (!answer.ok()) throw std::runtime_error("delete: " + answer.error().message);
    return std::move(answer).value();
  }

  /// Everything that ended before `before`, in as many calls as it takes.
  InstancesDeleted delete_older(TimePoint before, DeleteInstances request = {}) {
    request.completed_before = before;
    InstancesDeleted sum;
    for (int round = 0; round < 1'000; ++round) {
      const InstancesDeleted answer = delete_all(request);
      EXPECT_LE(answer.roots, request.max_roots);
      sum.roots += answer.roots;
      sum.descendants += answer.descendants;
      sum.skipped += answer.skipped;
      if (!answer.next) return sum;
      request.after = answer.next;
    }
    ADD_FAILURE() << "the delete never ends";
    return sum;
  }

  void ended(const std::string& id, ExecutionStatus status = ExecutionStatus::kCompleted) {
    start(id);
    end(id, status);
  }

  bool exists(const std::string& id) { return store().get_instance(id).ok(); }

  std::vector<std::string> left() {
    std::vector<std::string> ids;
    auto page = store().list_instances({});
    if (!page.ok()) throw std::runtime_error("list: " + page.error().message);
    for (const InstanceSummary& summary : page->instances) ids.push_back(summary.id);
    return ids;
  }

  using Ids = std::vector<std::string>;
};

TEST_P(BulkDeletion, ByIdsTakesEndedRootsOnly) {
  ended("a");
  ended("b", ExecutionStatus::kFailed);
  ended("other");
  start_and_run("live");
  start("root");
  start_child_of("root", "child");
  poke("child");
  end("child", ExecutionStatus::kCompleted);
  DeleteInstances request;
  request.ids = {"a", "live", "nobody", "child", "b"};

  const InstancesDeleted answer = delete_all(request);

  EXPECT_EQ(answer.roots, 2);
  EXPECT_EQ(answer.descendants, 0);
  EXPECT_GT(answer.events, 0);
  EXPECT_FALSE(answer.removing);
  EXPECT_FALSE(answer.next);
  EXPECT_EQ(left(), (Ids{"child", "root", "live", "other"}));
}

TEST_P(BulkDeletion, ByAgeIsStrict) {
  ended("first");
  advance(10s);
  const TimePoint second = now();
  ended("second");

  EXPECT_EQ(delete_older(second).roots, 1);

  EXPECT_EQ(left(), (Ids{"second"}));
}

TEST_P(BulkDeletion, ByAgeCountsFromTheEndNotFromTheStart) {
  start_and_run("slow");
  advance(10s);
  ended("quick");
  advance(10s);
  const TimePoint before = now();
  poke("slow");
  end("slow", ExecutionStatus::kCompleted);
  advance(10s);

  EXPECT_EQ(delete_older(before).roots, 1);

  EXPECT_EQ(left(), (Ids{"slow"}));
}

TEST_P(BulkDeletion, FiltersByStatus) {
  ended("good");
  ended("bad", ExecutionStatus::kFailed);
  start("ugly");
  terminate("ugly");
  advance(1s);
  DeleteInstances request;
  request.statuses = {ExecutionStatus::kCompleted, ExecutionStatus::kTerminated};

  EXPECT_EQ(delete_older(now(), request).roots, 2);

  EXPECT_EQ(left(), (Ids{"bad"}));
}

TEST_P(BulkDeletion, NeedsAllThatIsSet) {
  ended("a");
  advance(1s);
  ended("b");
  DeleteInstances request;
  request.ids = {"a", "b"};
  request.completed_before = now();
  EXPECT_EQ(delete_all(request).roots, 1);
  EXPECT_EQ(left(), (Ids{"b"}));
}

TEST_P(BulkDeletion, TakesTheDescendants) {
  start("root");
  start_child_of("root", "child");
  poke("child");
  start_child_of("child", "grandchild");
  terminate("root");
  ended("alone");
  advance(1s);

  const InstancesDeleted answer = delete_older(now());

  EXPECT_EQ(answer.roots, 2);
  EXPECT_EQ(answer.descendants, 2);
  EXPECT_EQ(left(), Ids{});
}

TEST_P(BulkDeletion, SkipsARootWithALiveDescendant) {
  start("root");
  start_child_of("root", "free", ClosePolicy::kAbandon);
  poke("root");
  end("root", ExecutionStatus::kCompleted);
  ended("alone");
  advance(1s);

  const InstancesDeleted answer = delete_older(now());

  EXPECT_EQ(answer.roots, 1);
  EXPECT_EQ(answer.skipped, 1);
  EXPECT_EQ(left(), (Ids{"free", "root"}));
  EXPECT_EQ(status("free"), ExecutionStatus::kRunning);
}

TEST_P(BulkDeletion, LeavesALiveRunWithEndedExecutionsAlone) {
  start("loop");
  for (int i = 0; i < 3; ++i) end("loop", ExecutionStatus::kContinuedAsNew);
  advance(1s);

  EXPECT_EQ(delete_older(now()).roots, 0);

  auto executions = store().list_executions({.id = "loop"});
  ASSERT_TRUE(executions.ok());
  EXPECT_EQ(executions->executions.size(), 4u);
}

TEST_P(BulkDeletion, GoesOnFromItsCursorOldestEndFirst) {
  for (int i = 0; i < 7; ++i) {
    ended(std::to_string(i));
    advance(1s);
  }
  DeleteInstances request;
  request.completed_before = now();
  request.max_roots = 3;

  const InstancesDeleted first = delete_all(request);

  EXPECT_EQ(first.roots, 3);
  ASSERT_TRUE(first.next);
  EXPECT_EQ(left(), (Ids{"6", "5", "4", "3"}));
  request.after = first.next;
  const InstancesDeleted second = delete_all(request);
  EXPECT_EQ(second.roots, 3);
  request.after = second.next;
  const InstancesDeleted third = delete_all(request);
  EXPECT_EQ(third.roots, 1);
  EXPECT_FALSE(third.next);
}

TEST_P(BulkDeletion, CursorSurvivesEndsOfTheSameMoment) {
  for (int i = 0; i < 6; ++i) ended(std::to_string(i));
  advance(1s);
  DeleteInstances request;
  request.max_roots = 1;
  EXPECT_EQ(delete_older(now(), request).roots, 6);
  EXPECT_EQ(left(), Ids{});
}

TEST_P(BulkDeletion, StopsAtItsLimitOfRows) {
  for (int i = 0; i < 20; ++i) ended(std::to_string(i));
  advance(1s);
  DeleteInstances request;
  request.completed_before = now();
  request.limit = 10;

  const InstancesDeleted answer = delete_all(request);

  EXPECT_GT(answer.roots, 0);
  EXPECT_LT(answer.roots, 20);
  ASSERT_TRUE(answer.next);
  EXPECT_EQ(left().size(), static_cast<std::size_t>(20 - answer.roots));
  request.after = answer.next;
  EXPECT_EQ(answer.roots + delete_older(now(), request).roots, 20);
}

TEST_P(BulkDeletion, TakesAwayWorkThatStillRuns) {
  NewWork work;
  work.on_cancel = OnCancel::kWait;
  start_with_work("a", 1, work);
  const WorkItem claimed = claim();
  poke("a");
  end("a", ExecutionStatus::kCompleted);
  DeleteInstances request;
  request.ids = {"a"};

  const InstancesDeleted answer = delete_all(request);

  EXPECT_EQ(answer.touched, (std::vector<TouchedClaim>{{claimed.id, claimed.lock, false}}));
  EXPECT_EQ(check(claimed), ClaimState::kGone);
}

TEST_P(BulkDeletion, RefusesWhatItCannotMean) {
  ended("a");
  DeleteInstances request;
  EXPECT_EQ(refusal(store().delete_instances(request)), ErrorCode::kInvalidArgument) << "empty";
  request.statuses = {ExecutionStatus::kCompleted};
  EXPECT_EQ(refusal(store().delete_instances(request)), ErrorCode::kInvalidArgument)
      << "a status alone says nothing of age";
  request.ids = {"a"};
  request.statuses = {ExecutionStatus::kRunning};
  EXPECT_EQ(refusal(store().delete_instances(request)), ErrorCode::kInvalidArgument) << "live";
  request.statuses = {};
  request.limit = 0;
  EXPECT_EQ(refusal(store().delete_instances(request)), ErrorCode::kInvalidArgument) << "limit";
  request.limit = 10;
  request.max_roots = 0;
  EXPECT_EQ(refusal(store().delete_instances(request)), ErrorCode::kInvalidArgument) << "roots";
  request.max_roots = 10;
  request.ids.resize(1'001, "a");
  EXPECT_EQ(refusal(store().delete_instances(request)), ErrorCode::kInvalidArgument) << "ids";
  EXPECT_TRUE(exists("a"));
}

PERDURE_CONFORMANCE_SUITE(BulkDeletion);

}  // namespace perdure::conformance
