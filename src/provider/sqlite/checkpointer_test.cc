#include "provider/sqlite/checkpointer.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include <sqlite3.h>

#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/writer_test.h"

namespace perdure::sqlite {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

/// Bytes of a log of so many pages.
constexpr std::uintmax_t log_bytes(std::int64_t pages) {
  constexpr std::int64_t kHeader = 32;
  constexpr std::int64_t kFrame = 24 + 4096;
  return static_cast<std::uintmax_t>(kHeader + pages * kFrame);
}

/// A writer on a file and its checkpointer, with small bounds.
class CheckpointerTest : public WriterFixture {
 protected:
  static constexpr std::int64_t kCopy = 40;
  static constexpr std::int64_t kRestart = 120;
  /// Each write is one group and dirties about ten pages; less than so many.
  static constexpr std::int64_t kGroup = 20;

  CheckpointerTest() { other_->exec("CREATE TABLE big (x INTEGER PRIMARY KEY, data)"); }
  ~CheckpointerTest() override {
    checkpointer_->stop();
    writer_.reset();
  }

  void start_both(bool thread, milliseconds patience) {
    start_both({.thread = thread,
                .copy_pages = kCopy,
                .restart_pages = kRestart,
                .reader_patience = patience,
                .open = [this] { return open(); }});
  }
  void start_both(Checkpointer::Options options) {
    const bool thread = options.thread;
    checkpointer_ = std::make_unique<Checkpointer>(std::move(options));
    start({.thread = thread, .checkpointer = checkpointer_.get()});
  }

  /// Replaces rows, so that the file itself stays small.
  void write() {
    const std::int64_t row = written_++ % 50;
    const auto outcome = submit({[row](WriteContext& context) {
      context.db.run_text("INSERT OR REPLACE INTO big VALUES (?, zeroblob(30000))", row);
    }});
    if (!writer_->has_thread()) {
      EXPECT_TRUE(writer_->poll_once());
      checkpointer_->run_pending();
    }
    EXPECT_EQ(outcome->text(), "ok");
  }

  std::uintmax_t log_size() const { return std::filesystem::file_size(dir_.file("db-wal")); }

  /// A snapshot that lasts until it goes.
  std::unique_ptr<Connection> read_snapshot() {
    auto reader = Connection::open(dir_.file("db"), Access::kReadOnly);
    reader->set_busy_timeout(kLong);
    look(*reader);
    return reader;
  }
  static void look(Connection& reader) {
    reader.exec("BEGIN");
    Query row = reader.query_text("SELECT count(*) FROM big");
    row.next();
  }

  std::int64_t written_ = 0;
  std::unique_ptr<Checkpointer> checkpointer_;
};

TEST_F(CheckpointerTest, KeepsTheLogShortUnderConstantLoadWithReaders) {
  start_both(true, kLong);
  std::atomic<bool> stop{false};
  std::atomic<int> snapshots{0};
  std::vector<std::jthread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      auto reader = read_snapshot();
      while (!stop) {
        reader->exec("COMMIT");
        look(*reader);
        ++snapshots;
      }
    });
  }
  constexpr std::int64_t kBound = 2 * kRestart + kGroup;
  std::uintmax_t longest = 0;
  // Several times as much as the log may hold, and while the readers read.
  while (written_ < kBound || snapshots < 100) {
    write();
    longest = std::max(longest, log_size());
    if (HasFailure()) break;
  }
  stop = true;
  EXPECT_LE(longest, log_bytes(kBound));
}

TEST_F(CheckpointerTest, WithoutAThreadWorksWhenItIsCalled) {
  start_both(false, milliseconds(0));
  std::uintmax_t longest = 0;
  for (int i = 0; i < 200; ++i) {
    write();
    longest = std::max(longest, log_size());
  }
  EXPECT_LE(longest, log_bytes(kCopy + kGroup));
  EXPECT_FALSE(checkpointer_->run_pending()) << "nothing is due";
}

TEST_F(CheckpointerTest, AReaderThatStaysStopsNeitherTheWriterNorTheLogForEver) {
  start_both(false, milliseconds(1));
  write();
  auto reader = read_snapshot();
  for (int i = 0; i < 100; ++i) write();
  EXPECT_GT(log_size(), log_bytes(2 * kRestart)) << "the reader needs it";
  reader.reset();
  const std::uintmax_t before = log_size();
  for (int i = 0; i < 100; ++i) write();
  EXPECT_LE(log_size(), before + log_bytes(kCopy + kGroup)) << "it is used from its beginning";
}

TEST_F(CheckpointerTest, HoldsTheWriterOnlyAsLongAsItsPatience) {
  start_both(true, milliseconds(1));
  write();
  const auto reader = read_snapshot();
  for (int i = 0; i < 100; ++i) write();
  EXPECT_GT(log_size(), log_bytes(2 * kRestart));
}

TEST_F(CheckpointerTest, ItsEndDoesNotWaitForReaders) {
  start_both(true, hours(24));
  write();
  const auto reader = read_snapshot();
  // The writer is held sooner or later; nobody waits for its answer.
  for (int i = 0; i < 200; ++i) {
    submit({[i](WriteContext& context) {
      context.db.run_text("INSERT INTO big VALUES (?, zeroblob(30000))", 1'000 + i);
    }});
  }
  checkpointer_->stop();
  writer_.reset();
  checkpointer_.reset(new Checkpointer({.thread = false, .open = [this] { return open(); }}));
}

TEST_F(CheckpointerTest, ThatCannotOpenTheStoreHarmsNobody) {
  // Shared with the checkpointer's thread, which tries on until the fixture stops it.
  const auto tries = std::make_shared<std::atomic<int>>(0);
  start_both({.thread = true,
              .copy_pages = kCopy,
              .restart_pages = kRestart,
              .open = [tries]() -> std::unique_ptr<Connection> {
                ++*tries;
                throw SqliteError(SQLITE_CANTOPEN, "open", "gone");
              }});
  for (int i = 0; i < 100; ++i) write();
  EXPECT_GT(*tries, 1);
  EXPECT_GT(log_size(), log_bytes(2 * kRestart));
}

TEST_F(CheckpointerTest, LosesNothing) {
  start_both(true, kLong);
  for (std::int64_t x = 0; x < 300; ++x) {
    write();
    EXPECT_EQ(submit({insert(x)})->text(), "ok");
  }
  EXPECT_EQ(stored().size(), 300U);
  Query check = other_->query_text("PRAGMA integrity_check");
  ASSERT_TRUE(check.next());
  EXPECT_EQ(check.text(0), "ok");
}

}  // namespace
}  // namespace perdure::sqlite
