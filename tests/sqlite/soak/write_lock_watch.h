#pragma once

#include <atomic>
#include <cstdint>

#include <sqlite3.h>

namespace perdure::sqlite::soak {

/// Counts the connections of this process that hold the write lock of a store. It is the default
/// file system of SQLite while it lives; one at a time, and no connection may outlive it.
class WriteLockWatch {
 public:
  explicit WriteLockWatch(std::atomic<std::int32_t>& holders);
  WriteLockWatch(const WriteLockWatch&) = delete;
  WriteLockWatch& operator=(const WriteLockWatch&) = delete;
  ~WriteLockWatch();

 private:
  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out);
  static int shm_lock(sqlite3_file* file, int offset, int count, int flags);

  sqlite3_vfs vfs_;
};

}  // namespace perdure::sqlite::soak
