#include "tests/sqlite/soak/write_lock_watch.h"

#include <mutex>

namespace perdure::sqlite::soak {

namespace {

/// SQLite's callbacks carry no context of ours.
struct Hooks {
  sqlite3_vfs* system = nullptr;
  std::atomic<std::int32_t>* holders = nullptr;
  std::once_flag once;
  sqlite3_io_methods original{};
  sqlite3_io_methods hooked{};
};

Hooks& hooks() {
  static Hooks hooks;
  return hooks;
}

/// The first byte of the lock range of a log's index.
constexpr int kWriteLock = 0;

}  // namespace

WriteLockWatch::WriteLockWatch(std::atomic<std::int32_t>& holders) {
  hooks().system = sqlite3_vfs_find(nullptr);
  hooks().holders = &holders;
  vfs_ = *hooks().system;
  vfs_.zName = "write-lock-watch";
  vfs_.xOpen = open;
  sqlite3_vfs_register(&vfs_, 1);
}

WriteLockWatch::~WriteLockWatch() {
  sqlite3_vfs_unregister(&vfs_);
  sqlite3_vfs_register(hooks().system, 1);
}

int WriteLockWatch::open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
  Hooks& all = hooks();
  const int result = all.system->xOpen(all.system, name, file, flags, out);
  if (result == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0) {
    std::call_once(all.once, [&] {
      all.original = *file->pMethods;
      all.hooked = all.original;
      all.hooked.xShmLock = shm_lock;
    });
    file->pMethods = &all.hooked;
  }
  return result;
}

int WriteLockWatch::shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  const bool write_lock = offset == kWriteLock && (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  if (write_lock && (flags & SQLITE_SHM_UNLOCK) != 0) --*hooks().holders;
  const int result = hooks().original.xShmLock(file, offset, count, flags);
  if (write_lock && (flags & SQLITE_SHM_LOCK) != 0 && result == SQLITE_OK) ++*hooks().holders;
  return result;
}

}  // namespace perdure::sqlite::soak
