#include <filesystem>
#include <set>

#include <sqlite3.h>

#include "provider/sqlite/writer_test.h"

namespace perdure::sqlite {
namespace {

namespace fs = std::filesystem;

/// A file system in which syncs of logs fail at will; the default one while it lives.
class FailingSyncs {
 public:
  FailingSyncs() {
    system() = sqlite3_vfs_find(nullptr);
    vfs_ = *system();
    vfs_.zName = "failing-syncs";
    vfs_.xOpen = open;
    sqlite3_vfs_register(&vfs_, 1);
    count() = 0;
    failing().clear();
  }
  FailingSyncs(const FailingSyncs&) = delete;
  FailingSyncs& operator=(const FailingSyncs&) = delete;
  ~FailingSyncs() {
    sqlite3_vfs_register(system(), 1);
    sqlite3_vfs_unregister(&vfs_);
  }

  /// Syncs are not counted and do not fail while it lives.
  class Pause {
   public:
    Pause() { paused() = true; }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    ~Pause() { paused() = false; }
  };

  /// From now on: the syncs of these numbers fail, counted from 1.
  static void fail(std::set<int> numbers) {
    count() = 0;
    failing() = std::move(numbers);
  }

 private:
  static sqlite3_vfs*& system() {
    static sqlite3_vfs* vfs = nullptr;
    return vfs;
  }
  static sqlite3_io_methods& original() {
    static sqlite3_io_methods methods;
    return methods;
  }
  static sqlite3_io_methods& hooked() {
    static sqlite3_io_methods methods;
    return methods;
  }
  static int& count() {
    static int syncs = 0;
    return syncs;
  }
  static bool& paused() {
    static bool paused = false;
    return paused;
  }
  static std::set<int>& failing() {
    static std::set<int> numbers;
    return numbers;
  }

  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
    const int result = system()->xOpen(system(), name, file, flags, out);
    if (result == SQLITE_OK && (flags & SQLITE_OPEN_WAL) != 0) {
      original() = *file->pMethods;
      hooked() = original();
      hooked().xSync = sync;
      file->pMethods = &hooked();
    }
    return result;
  }
  static int sync(sqlite3_file* file, int flags) {
    if (!paused() && failing().contains(++count())) return SQLITE_IOERR_FSYNC;
    return original().xSync(file, flags);
  }

  sqlite3_vfs vfs_{};
};

struct WithFailingSyncs {
  FailingSyncs syncs;
};

/// The file system is a base, so that all connections open and close in it.
class WriterWhoseSyncsFail : private WithFailingSyncs, public WriterFixture {
 protected:
  /// The values that a recovery finds when the machine stops now, everything written survives, and
  /// the index of the log does not.
  Values recovered() {
    const FailingSyncs::Pause pause;
    const std::string copy = dir_.file("copy-" + std::to_string(++copies_));
    fs::copy_file(dir_.file("db"), copy);
    fs::copy_file(dir_.file("db-wal"), copy + "-wal");
    const auto db = Connection::open(copy, Access::kReadWrite);
    Values all;
    Query row = db->query_text("SELECT x FROM t ORDER BY x");
    while (row.next()) all.push_back(row.integer(0));
    return all;
  }

  void start_and_write_one() {
    start({.thread = false, .reopen = [this] {
             after_failure_ = recovered();
             return open();
           }});
    const auto first = submit({insert(0)});
    EXPECT_TRUE(writer_->poll_once());
    EXPECT_EQ(first->text(), "ok");
    // Another connection has the log too, so that it is not removed when the writer opens anew.
    EXPECT_EQ(stored(), (Values{0}));
  }

  int copies_ = 0;
  Values after_failure_;
};

TEST_F(WriterWhoseSyncsFail, DoesAGroupAgain) {
  start_and_write_one();
  FailingSyncs::fail({1});
  const auto one = submit({insert(1)});
  const auto two = submit({insert(2), insert(3)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(one->text(), "ok");
  EXPECT_EQ(two->text(), "ok ok");
  EXPECT_EQ(stored(), (Values{0, 1, 2, 3}));
  EXPECT_EQ(recovered(), stored());
}

TEST_F(WriterWhoseSyncsFail, RefusesForGoodWhatARecoveryWouldHaveBroughtBack) {
  start_and_write_one();
  // The group, then the entry alone; the looks in between succeed.
  FailingSyncs::fail({1, 3});
  const auto outcome = submit({insert(1)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(outcome->text(), "Unavailable");
  EXPECT_EQ(after_failure_, (Values{0, 1})) << "without a look it would come back";
  EXPECT_EQ(recovered(), (Values{0}));
  EXPECT_EQ(stored(), (Values{0}));
}

TEST_F(WriterWhoseSyncsFail, DoesNotKnowWhenTheLookCannotBeSyncedEither) {
  start_and_write_one();
  FailingSyncs::fail({1, 2});
  const auto outcome = submit({insert(1)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(outcome->text(), "CommitUnknown");
  const auto next = submit({insert(2)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(next->text(), "ok");
  EXPECT_EQ(recovered(), stored());
}

}  // namespace
}  // namespace perdure::sqlite
