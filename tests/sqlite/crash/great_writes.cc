#include "tests/sqlite/crash/great_writes.h"

#include <atomic>
#include <csignal>

#include <sqlite3.h>

#include "base/failpoint.h"
#include "provider/sqlite/connection.h"
#include "tests/sqlite/crash/callers.h"

namespace perdure::sqlite::crash {

namespace {

/// Counts writes and syncs of database files, and dies at one of them. Stays for the life of the
/// process.
class DeadlyFile {
 public:
  static void install(int dies_at) {
    left() = dies_at;
    system() = sqlite3_vfs_find(nullptr);
    static sqlite3_vfs vfs = *system();
    vfs.zName = "deadly";
    vfs.xOpen = open;
    sqlite3_vfs_register(&vfs, 1);
  }

 private:
  static sqlite3_vfs*& system() {
    static sqlite3_vfs* vfs = nullptr;
    return vfs;
  }
  static const sqlite3_io_methods*& original() {
    static const sqlite3_io_methods* methods = nullptr;
    return methods;
  }
  static std::atomic<int>& left() {
    static std::atomic<int> changes = 0;
    return changes;
  }

  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
    const int result = system()->xOpen(system(), name, file, flags, out);
    if (result != SQLITE_OK || (flags & SQLITE_OPEN_MAIN_DB) == 0) return result;
    original() = file->pMethods;
    static sqlite3_io_methods hooked = *original();
    hooked.xWrite = write;
    hooked.xSync = sync;
    file->pMethods = &hooked;
    return result;
  }
  static void change() {
    if (--left() == 0) ::raise(SIGKILL);
  }
  static int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
    change();
    return original()->xWrite(file, bytes, count, offset);
  }
  static int sync(sqlite3_file* file, int flags) {
    change();
    return original()->xSync(file, flags);
  }
};

}  // namespace

void write_great_runs(const std::string& path,
                      Durability durability,
                      int dies_at,
                      bool with_reader) {
  // Made before, so that the only changes of the file are those of checkpoints.
  World(path, durability).close();
  if (dies_at > 0) DeadlyFile::install(dies_at);
  World world(path, durability, Driver::kCalls);
  const auto reader = Connection::open(path, Access::kReadOnly);
  if (with_reader) reader->exec("BEGIN; SELECT count(*) FROM instances");
  expect_ok(failpoint::arm_from_environment(), "arm");
  const AnswerFile answers(path);
  const std::string input = '"' + std::string(1 << 20, 'x') + '"';
  for (std::size_t number = 0; number < kGreatRuns; ++number) {
    value_of(world.store().start_orchestration(start_request(great_run(number), input)), "start");
    answers.add(number);
    // The log is copied between two calls.
    world.store().poll_once();
  }
}

}  // namespace perdure::sqlite::crash
