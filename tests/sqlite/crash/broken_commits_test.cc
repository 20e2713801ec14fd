#include <future>

#include <gtest/gtest.h>

#include "provider/sqlite/sqlite_provider.h"
#include "tests/sqlite/crash/child_process.h"
#include "tests/sqlite/crash/finish.h"
#include "tests/sqlite/crash/group.h"
#include "tests/sqlite/crash/store_rows.h"
#include "tests/support/temp_dir.h"

/// Disks that are full or fail, and processes that stand still: the store answers honestly, keeps
/// every entry whole and goes on.
namespace perdure::sqlite::crash::broken_commits_test {
namespace {

using Answers = std::map<std::string, std::optional<ErrorCode>>;

class BrokenCommits : public ::testing::Test {
 protected:
  std::unique_ptr<Provider> open_driven() {
    Options options;
    options.path = path_;
    options.clock = &clock_;
    options.writer_thread = false;
    return value_of(open(options), "open");
  }

  static void sql(Provider& store, const std::string& text) {
    expect_ok(dynamic_cast<SqliteProvider&>(store).run_sql(text), "sql");
  }

  /// Every run of the store was started once; all come to their end.
  void expect_whole(Provider& store, std::size_t instances) {
    EXPECT_EQ(integrity(path_), "ok");
    finish_everything(store, clock_);
    EXPECT_EQ(violations_at_the_end(path_), std::vector<std::string>{});
    auto db = Connection::open(path_, Access::kReadOnly);
    Query row = db->query_text("SELECT count(*) FROM executions");
    ASSERT_TRUE(row.next());
    EXPECT_EQ(static_cast<std::size_t>(row.integer(0)), instances);
  }

  const support::TempDir dir_;
  const std::string path_ = dir_.file("store.db");
  VirtualClock clock_;
};

TEST_F(BrokenCommits, AFullDiskRefusesTheEntryThatDoesNotFitAndNoOther) {
  const auto store = open_driven();
  auto db = Connection::open(path_, Access::kReadOnly);
  std::int64_t pages = 0;
  {
    Query row = db->query_text("PRAGMA page_count");
    ASSERT_TRUE(row.next());
    pages = row.integer(0);
  }
  sql(*store, "PRAGMA max_page_count = " + std::to_string(pages + 32));
  GroupOfStarts group;
  group.add("first", "1");
  group.add("great", std::string(1 << 20, 'x'));
  group.add("last", "2");
  EXPECT_EQ(group.write(*store),
            (Answers{{"first", {}}, {"great", ErrorCode::kUnavailable}, {"last", {}}}));
  EXPECT_TRUE(store->get_instance("first").ok());
  EXPECT_TRUE(store->get_instance("last").ok());
  const auto great = store->get_instance("great");
  ASSERT_FALSE(great.ok());
  EXPECT_EQ(great.code(), ErrorCode::kNotFound);

  // When there is room again; what was written before is not written again.
  sql(*store, "PRAGMA max_page_count = 1000000");
  EXPECT_EQ(group.write(*store), (Answers{{"first", {}}, {"great", {}}, {"last", {}}}));
  db.reset();
  expect_whole(*store, 3);
}

TEST_F(BrokenCommits, AFileThatMayNotGrowBreaksNoPromise) {
  ChildProcess child(PERDURE_CRASH_CHILD, {"starve", path_, "full"}, "");
  ASSERT_EQ(describe_end(child.wait_for_end()), "returned 0");
  const auto store = open_driven();
  expect_whole(*store, 4);
}

TEST_F(BrokenCommits, AProcessStoppedWhileItWritesKeepsOthersWaitingUntilItGoesOn) {
  ChildProcess child(PERDURE_CRASH_CHILD, {"stop_while_writing", path_, "full"}, "");
  child.wait_for_stop();

  const auto store = open_store(path_, clock_, Durability::kFull);
  const auto late = store->start_orchestration(start_request("late"), {.timeout = 50ms});
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.code(), ErrorCode::kBusy);
  // Reads do not wait for it, and see nothing of it.
  const auto unseen = store->get_instance("stopped");
  ASSERT_FALSE(unseen.ok());
  EXPECT_EQ(unseen.code(), ErrorCode::kNotFound);

  // Shared: the writer may still be inside it when the answer is there.
  const auto answer = std::make_shared<std::promise<Status>>();
  store->submit(
      start_request("patient"),
      [answer](Result<OrchestrationStarted> started) { answer->set_value(status_of(started)); },
      {.timeout = 10min});
  auto patient = answer->get_future();
  EXPECT_NE(patient.wait_for(0ms), std::future_status::ready);
  child.resume();
  EXPECT_EQ(describe_end(child.wait_for_end()), "returned 0");
  ASSERT_EQ(patient.wait_for(1min), std::future_status::ready);
  EXPECT_TRUE(patient.get().ok());
  EXPECT_TRUE(store->get_instance("stopped").ok());
  expect_whole(*store, 2);
}

TEST_F(BrokenCommits, AProcessKilledWhileItStandsStillHoldsNothing) {
  {
    ChildProcess child(PERDURE_CRASH_CHILD, {"stop_while_writing", path_, "full"}, "");
    child.wait_for_stop();
  }
  const auto store = open_store(path_, clock_, Durability::kFull);
  EXPECT_TRUE(store->start_orchestration(start_request("next")).ok());
  EXPECT_FALSE(store->get_instance("stopped").ok());
  expect_whole(*store, 1);
}

}  // namespace
}  // namespace perdure::sqlite::crash::broken_commits_test
