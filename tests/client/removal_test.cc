#include "tests/client/client_fixture.h"

namespace perdure::test::removal_test {

namespace {

class Removal : public ClientTest {
 protected:
  void ended(const std::string& id) {
    client_.start(greeter, id);
    client_.terminate(id, "over");
  }
  bool exists(const std::string& id) {
    try {
      client_.status(id);
      return true;
    } catch (const NotFound&) {
      return false;
    }
  }
};

TEST_P(Removal, OfALiveRunNeedsForce) {
  client_.start(greeter, "a");
  EXPECT_TRUE(contains(message_of<Conflict>([&] { client_.remove("a"); }), "force"));
  EXPECT_TRUE(exists("a"));
  const RunDeleted answer = client_.remove("a", {.force = true});
  EXPECT_EQ(answer.runs, 1);
  EXPECT_EQ(answer.events, 1);
  EXPECT_FALSE(answer.removing);
  EXPECT_FALSE(exists("a"));
  EXPECT_EQ(client_.start(greeter, "a").execution(), 1) << "the id is free";
}

TEST_P(Removal, TakesTheWholeTree) {
  client_.start(family, "parent", 1);
  run();
  EXPECT_THROW(client_.remove("child-1"), Conflict);
  EXPECT_EQ(client_.remove("parent").runs, 3);
  EXPECT_TRUE(client_.list().runs.empty());
}

TEST_P(Removal, InBulkTakesEndedRunsByIdOrAge) {
  ended("a");
  ended("b");
  ended("c");
  client_.start(greeter, "live");
  const RunsDeleted some = client_.remove_ended({.ids = {"a", "live", "nobody"}});
  EXPECT_EQ(some.runs, 1);
  EXPECT_EQ(some.next, "");
  EXPECT_FALSE(exists("a"));

  DeleteFilter old;
  old.completed_before = store_->clock().now() + 1h;
  old.max_runs = 1;
  old.request_id = "nightly";  // of all pages together
  std::int64_t removed = 0;
  for (int calls = 0; calls < 10; ++calls) {
    const RunsDeleted answer = client_.remove_ended(old);
    EXPECT_LE(answer.runs, 1);
    removed += answer.runs;
    old.after = answer.next;
    if (old.after.empty()) break;
  }
  EXPECT_EQ(removed, 2);
  EXPECT_TRUE(exists("live"));
  EXPECT_EQ(client_.list().runs.size(), 1U);
}

TEST_P(Removal, InBulkNeverByAnEmptyFilter) {
  ended("a");
  EXPECT_THROW(client_.remove_ended({}), InvalidArgument);
  EXPECT_THROW(client_.remove_ended({.ids = {"a"}, .statuses = {ExecutionStatus::kRunning}}),
               InvalidArgument);
  EXPECT_TRUE(exists("a"));
}

TEST_P(Removal, OfEndedExecutionsKeepsTheNewest) {
  client_.start(countdown, "a", 3);
  for (int i = 0; i < 3; ++i) client_.raise_event("a", guest, "next");
  run();
  EXPECT_EQ(client_.status("a").execution, 4);
  const ExecutionsRemoved answer = client_.prune("a", {.keep_last = 2});
  EXPECT_EQ(answer.executions, 2);
  EXPECT_FALSE(answer.more);
  EXPECT_THROW(client_.status("a", 2), NotFound);
  EXPECT_EQ(client_.status("a", 3).status, ExecutionStatus::kContinuedAsNew);
  EXPECT_EQ(client_.prune("a", {.completed_before = TimePoint{}}).executions, 0);
  EXPECT_EQ(client_.prune("a").executions, 1);
}

PERDURE_CLIENT_SUITE(Removal);

}  // namespace

}  // namespace perdure::test::removal_test
