#include "provider/sqlite/sqlite_provider.h"

#include <filesystem>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "base/failpoint.h"
#include "provider/sqlite/connection.h"
#include "provider/sqlite/options.h"
#include "tests/support/temp_dir.h"

/// What is SQLite's own business; everything else is held to the conformance suite.
namespace perdure::sqlite {
namespace {

using namespace std::chrono_literals;

class SqliteProviderTest : public ::testing::Test {
 protected:
  SqliteProviderTest() {
    Options options;
    options.path = path_;
    auto provider = open(options);
    EXPECT_TRUE(provider.ok());
    provider_ = std::move(provider).value();
  }

  Result<OrchestrationStarted> start(const std::string& id, CallOptions options = {}) {
    StartOrchestration request;
    request.id = id;
    request.name = "checkout";
    return provider_->start_orchestration(request, options);
  }

  /// Another connection that writes, as another process would.
  std::unique_ptr<Connection> hold_write_lock() {
    auto other = Connection::open(path_, Access::kReadWrite);
    other->set_busy_timeout(5s);
    other->exec("BEGIN IMMEDIATE");
    return other;
  }

  support::TempDir dir_;
  const std::string path_ = dir_.file("store.db");
  std::unique_ptr<Provider> provider_;
};

TEST_F(SqliteProviderTest, ReadersDoNotWaitForAWriter) {
  ASSERT_TRUE(start("a").ok());
  auto other = hold_write_lock();
  EXPECT_TRUE(provider_->get_instance("a").ok());
  EXPECT_TRUE(provider_->list_processes().ok());
}

TEST_F(SqliteProviderTest, WritesWaitForAnotherProcessAndGoOn) {
  auto other = hold_write_lock();
  auto started = std::async(std::launch::async, [this] { return start("a"); });
  EXPECT_EQ(started.wait_for(50ms), std::future_status::timeout);
  other->exec("ROLLBACK");
  EXPECT_TRUE(started.get().ok());
}

TEST_F(SqliteProviderTest, WritesAreBusyAfterTheirTimeoutAndNothingIsWritten) {
  auto other = hold_write_lock();
  const auto late = start("a", {.timeout = 30ms});
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.code(), ErrorCode::kBusy);
  other->exec("ROLLBACK");
  EXPECT_EQ(provider_->get_instance("a").code(), ErrorCode::kNotFound);
  EXPECT_TRUE(start("a").ok());
}

TEST_F(SqliteProviderTest, WritesOfManyThreadsShareCommits) {
  constexpr int kThreads = 16;
  failpoint::set_counting(true);
  auto other = hold_write_lock();  // so that all of them are queued when the writer begins
  std::vector<std::future<Result<OrchestrationStarted>>> started;
  for (int i = 0; i < kThreads; ++i) {
    started.push_back(
        std::async(std::launch::async, [this, i] { return start("run-" + std::to_string(i)); }));
  }
  // The writer tries to begin again and again; by then the others have submitted or will soon.
  while (failpoint::hits("sqlite.begin.before") < 20) std::this_thread::yield();
  const int before = failpoint::hits("sqlite.commit.before");
  other->exec("ROLLBACK");
  for (auto& each : started) EXPECT_TRUE(each.get().ok());
  const int commits = failpoint::hits("sqlite.commit.before") - before;
  failpoint::set_counting(false);
  EXPECT_LT(commits, kThreads);
}

TEST_F(SqliteProviderTest, AnEntryThatFailsDoesNotHarmItsNeighboursInTheGroup) {
  Options options;
  options.path = dir_.file("driven.db");
  options.writer_thread = false;
  auto driven = open(options);
  ASSERT_TRUE(driven.ok());
  Provider& store = **driven;
  std::vector<Status> answers(3);
  {
    // The second entry fails once, in the group.
    failpoint::Scoped fail("sqlite.entry.after",
                           {.kind = failpoint::Action::Kind::kFail,
                            .error = unavailable("the disk is full"),
                            .skip = 1,
                            .times = 1});
    for (int i = 0; i < 3; ++i) {
      StartOrchestration request;
      request.id = "run-" + std::to_string(i);
      request.name = "checkout";
      store.submit(request,
                   [&answers, i](Result<OrchestrationStarted> answer) {
                     if (!answer.ok()) answers[static_cast<std::size_t>(i)] = answer.error();
                   },
                   {});
    }
    while (store.poll_once()) {
    }
  }
  // The failure came once, in the group; alone every entry succeeded, and none was doubled.
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(answers[static_cast<std::size_t>(i)].ok()) << answers[static_cast<std::size_t>(i)];
    const auto info = store.get_instance("run-" + std::to_string(i));
    ASSERT_TRUE(info.ok());
    EXPECT_EQ(info->current.execution, ExecutionNo{1});
  }
}

TEST_F(SqliteProviderTest, PayloadsOfAnyBytesAreKept) {
  StartOrchestration request;
  request.id = "a";
  request.name = "checkout";
  request.input = std::string("\"before\0after\"", 14);
  ASSERT_TRUE(provider_->start_orchestration(request).ok());
  const auto info = provider_->get_instance("a");
  ASSERT_TRUE(info.ok());
  const auto pages =
      provider_->read_history({{.instance = info->key, .execution = ExecutionNo{1}}});
  ASSERT_TRUE(pages.ok());
  ASSERT_TRUE(pages->at(0).ok());
  EXPECT_EQ(pages->at(0)->events.at(0).payload, request.input);
}

TEST_F(SqliteProviderTest, ProcessLocksAreGoneAfterReleaseAndTakeover) {
  const auto first = provider_->register_process({.host = "here", .pid = 1, .queues = {}});
  const auto second = provider_->register_process({.host = "here", .pid = 2, .queues = {}});
  ASSERT_TRUE(first.ok() && second.ok());
  const std::string lock_of_first = path_ + "-process-" + std::to_string(first->value);
  const std::string lock_of_second = path_ + "-process-" + std::to_string(second->value);
  EXPECT_TRUE(std::filesystem::exists(lock_of_first));
  EXPECT_TRUE(std::filesystem::exists(lock_of_second));
  EXPECT_TRUE(provider_->release_process({.epoch = *first}).ok());
  EXPECT_TRUE(provider_->take_over({.epoch = *second}).ok());
  EXPECT_FALSE(std::filesystem::exists(lock_of_first));
  EXPECT_FALSE(std::filesystem::exists(lock_of_second));
}

TEST_F(SqliteProviderTest, ARegistrationThatIsRolledBackLeavesNoLockFile) {
  failpoint::Scoped fail(
      "sqlite.register.locked",
      {.kind = failpoint::Action::Kind::kFail, .error = unavailable("no"), .skip = 0, .times = -1});
  const auto epoch = provider_->register_process({.host = "here", .pid = 1, .queues = {}});
  ASSERT_FALSE(epoch.ok());
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
    EXPECT_EQ(entry.path().string().find("-process-"), std::string::npos) << entry.path();
  }
}

}  // namespace
}  // namespace perdure::sqlite
