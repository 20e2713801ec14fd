#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/failpoint.h"
#include "provider/sqlite/connection.h"
#include "provider/sqlite/options.h"
#include "tests/support/temp_dir.h"

/// The provider and SQLite's write-ahead log: its length, its end, and commits that fail in it.
namespace perdure::sqlite {
namespace {

class ProviderLog : public ::testing::Test {
 protected:
  std::unique_ptr<Provider> open_at(const std::string& path, bool thread) {
    Options options;
    options.path = path;
    options.durability = Durability::kRelaxed;
    options.writer_thread = thread;
    auto provider = open(options);
    EXPECT_TRUE(provider.ok());
    return std::move(provider).value();
  }

  static StartOrchestration start_request(int i, std::size_t input) {
    StartOrchestration request;
    request.id = "run-" + std::to_string(i);
    request.name = "checkout";
    request.input = "\"" + std::string(input, 'x') + "\"";
    return request;
  }

  std::uintmax_t log_size() const { return std::filesystem::file_size(path_ + "-wal"); }

  support::TempDir dir_;
  const std::string path_ = dir_.file("store.db");
};

TEST_F(ProviderLog, IsGoneWhenTheStoreIsClosed) {
  for (const bool thread : {true, false}) {
    {
      const auto provider = open_at(path_, thread);
      ASSERT_TRUE(provider->start_orchestration(start_request(thread ? 1 : 2, 10)).ok());
      ASSERT_TRUE(provider->get_instance("run-1").ok()) << "so that a reader has the file too";
      EXPECT_TRUE(std::filesystem::exists(path_ + "-wal"));
    }
    EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
  }
}

TEST_F(ProviderLog, StaysShortWithoutAThread) {
  const auto provider = open_at(path_, false);
  constexpr int kStarts = 120;
  constexpr std::size_t kInput = 400'000;
  std::uintmax_t longest = 0;
  for (int i = 0; i < kStarts; ++i) {
    ASSERT_TRUE(provider->start_orchestration(start_request(i, kInput)).ok());
    longest = std::max(longest, log_size());
  }
  EXPECT_LT(longest, kStarts * kInput / 2);
}

TEST_F(ProviderLog, TheWriterLeavesCheckpointsToOthers) {
  const auto provider = open_at(path_, true);
  ASSERT_TRUE(provider->start_orchestration(start_request(1, 5'000'000)).ok());
  // More than SQLite's own bound, less than ours: all of it is still in the log.
  EXPECT_GT(log_size(), 5'000'000U);
  ASSERT_TRUE(provider->start_orchestration(start_request(2, 10)).ok());
  EXPECT_LT(std::filesystem::file_size(path_), 5'000'000U);
}

/// On a file and in memory.
class FailedCommits : public ProviderLog, public ::testing::WithParamInterface<const char*> {
 protected:
  FailedCommits()
      : provider_(open_at(GetParam() == std::string(":memory:") ? ":memory:" : path_, false)) {}

  /// Two starts, one of them twice, an event for nobody and a registration, as one group.
  void write_group() {
    for (const int i : {1, 2, 1}) {
      provider_->submit(
          start_request(i, 10),
          [this](Result<OrchestrationStarted> answer) {
            answers_.push_back(answer.ok() ? "started" : std::string(to_string(answer.code())));
          },
          {});
    }
    RaiseEvent event;
    event.id = "nobody";
    event.name = "event";
    provider_->submit(event,
                      [this](Result<EventDelivery> answer) {
                        ASSERT_TRUE(answer.ok());
                        answers_.emplace_back(to_string(*answer));
                      },
                      {});
    provider_->submit(
        RegisterProcess{.host = "here", .pid = 1, .queues = {}},
        [this](Result<Epoch> answer) {
          answers_.push_back(answer.ok() ? "registered" : std::string(to_string(answer.code())));
        },
        {});
    EXPECT_TRUE(provider_->poll_once());
  }

  void expect_written_once() {
    EXPECT_EQ(
        answers_,
        (std::vector<std::string>{"started", "started", "Conflict", "not_found", "registered"}));
    for (const char* id : {"run-1", "run-2"}) {
      const auto info = provider_->get_instance(id);
      ASSERT_TRUE(info.ok()) << id;
      EXPECT_EQ(info->current.execution, ExecutionNo{1});
    }
    const auto processes = provider_->list_processes();
    ASSERT_TRUE(processes.ok());
    ASSERT_EQ(processes->size(), 1U);
    EXPECT_FALSE(processes->at(0).lock_released) << "its lock is held";
  }

  std::unique_ptr<Provider> provider_;
  std::vector<std::string> answers_;
};

TEST_P(FailedCommits, ThatLandedGiveTheRealAnswers) {
  const failpoint::Scoped armed("sqlite.commit.after", {.error = unavailable("armed")});
  write_group();
  expect_written_once();
}

TEST_P(FailedCommits, ThatDidNotLandAreDoneAgain) {
  const failpoint::Scoped armed("sqlite.commit.before", {.error = unavailable("armed")});
  write_group();
  expect_written_once();
}

INSTANTIATE_TEST_SUITE_P(On,
                         FailedCommits,
                         ::testing::Values("file", ":memory:"),
                         [](const ::testing::TestParamInfo<const char*>& param) {
                           return std::string(param.param) == "file" ? "File" : "Memory";
                         });

}  // namespace
}  // namespace perdure::sqlite
