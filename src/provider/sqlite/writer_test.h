#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/failpoint.h"
#include "provider/sqlite/writer.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite {

/// Only tells hanging from working.
inline constexpr std::chrono::seconds kLong{60};

/// What became of a job: one answer per entry, nullopt for success.
class Outcome {
 public:
  using Answers = std::vector<std::optional<Error>>;

  void put(Answers answers) {
    const std::lock_guard lock(mutex_);
    EXPECT_FALSE(answers_.has_value()) << "answered twice";
    answers_ = std::move(answers);
    arrived_.notify_all();
  }

  bool arrived() {
    const std::lock_guard lock(mutex_);
    return answers_.has_value();
  }

  /// Fails the test when the answer does not come.
  Answers wait() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(arrived_.wait_for(lock, kLong, [this] { return answers_.has_value(); }));
    return answers_.value_or(Answers());
  }

  /// "ok" or the name of the error code, of each entry.
  std::string text() {
    std::string all;
    for (const auto& answer : wait()) {
      if (!all.empty()) all += " ";
      all += answer.has_value() ? to_string(answer->code) : "ok";
    }
    return all;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::optional<Answers> answers_;
};

/// A job whose entries are functions.
class TestJob : public WriteJob {
 public:
  using Entry = std::function<void(WriteContext&)>;

  TestJob(std::vector<Entry> entries, std::function<void(Outcome::Answers)> done)
      : entries_(std::move(entries)), answers_(entries_.size()), done_(std::move(done)) {}

  std::size_t entries() const override { return entries_.size(); }
  void apply(std::size_t entry, WriteContext& context) override {
    entries_[entry](context);
    answers_[entry].reset();
  }
  void fail(std::size_t entry, const Error& error) override { answers_[entry] = error; }
  void answer() override { done_(answers_); }

 private:
  std::vector<Entry> entries_;
  Outcome::Answers answers_;
  std::function<void(Outcome::Answers)> done_;
};

/// What tests write to, and what the writer needs of the schema.
inline constexpr std::string_view kTables =
    "CREATE TABLE t (x INTEGER PRIMARY KEY);"
    "CREATE TABLE writer_marks (writer INTEGER PRIMARY KEY, mark INTEGER NOT NULL, "
    "at INTEGER NOT NULL)";

/// A file with the table t (x INTEGER PRIMARY KEY), a writer for it, and another connection.
class WriterFixture : public ::testing::Test {
 protected:
  using Entry = TestJob::Entry;

  WriterFixture() {
    const auto db = open();
    db->exec("PRAGMA journal_mode = WAL");
    db->exec(kTables);
    other_ = open();
  }
  ~WriterFixture() override {
    writer_.reset();
    failpoint::disarm_all();
    failpoint::set_counting(false);
  }

  std::unique_ptr<Connection> open() {
    return Connection::open(dir_.file("db"), Access::kReadWrite);
  }

  void start(bool thread, std::size_t max_entries = 128) {
    start({.thread = thread, .max_entries = max_entries, .reopen = [this] {
             ++reopened_;
             return open();
           }});
  }
  void start(Writer::Options options) {
    writer_ = std::make_unique<Writer>(open(), clock_, hub_, std::move(options));
  }

  static Entry insert(std::int64_t x) {
    return [x](WriteContext& context) { context.db.run_text("INSERT INTO t VALUES (?)", x); };
  }

  struct Call {
    bool urgent = false;
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  };

  std::shared_ptr<Outcome> submit(std::vector<Entry> entries, Call call) {
    auto outcome = std::make_shared<Outcome>();
    auto job = std::make_unique<TestJob>(
        std::move(entries), [outcome](Outcome::Answers answers) { outcome->put(answers); });
    job->urgent = call.urgent;
    job->deadline = call.deadline;
    writer_->submit(std::move(job));
    return outcome;
  }
  std::shared_ptr<Outcome> submit(std::vector<Entry> entries) {
    return submit(std::move(entries), Call());
  }

  /// The values in the table, as another connection sees them.
  std::vector<std::int64_t> stored() {
    std::vector<std::int64_t> all;
    Query row = other_->query_text("SELECT x FROM t ORDER BY x");
    while (row.next()) all.push_back(row.integer(0));
    return all;
  }

  static failpoint::Action fail_with(ErrorCode code, int times = 1, int skip = 0) {
    return {.error = {code, "armed"}, .skip = skip, .times = times};
  }

  using Values = std::vector<std::int64_t>;

  support::TempDir dir_;
  VirtualClock clock_;
  ChangeHub hub_{clock_};
  int reopened_ = 0;
  std::unique_ptr<Connection> other_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace perdure::sqlite
