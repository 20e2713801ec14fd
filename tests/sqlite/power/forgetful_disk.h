#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <sqlite3.h>

#include "tests/sqlite/power/disk_file.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite::power {

/// A folder on a disk that forgets what was not synced. SQLite works on real files; beside them is
/// kept what a loss of power would leave: the content of each file as of its last sync, and the
/// names of the folder as of its last sync, so that a new file may vanish and a deleted one come
/// back. The index of a log (-shm) is memory and never survives.
///
/// It is SQLite's default file system while it lives. Of files of other folders nothing is kept,
/// only their syncs are left out: the real power is not lost, and real syncs take long. One at a
/// time; all connections must be closed before it goes.
/// Threading: any thread.
class ForgetfulDisk {
 public:
  enum class Syncs { kWork, kAreIgnored };

  explicit ForgetfulDisk(Syncs syncs = Syncs::kWork);
  ForgetfulDisk(const ForgetfulDisk&) = delete;
  ForgetfulDisk& operator=(const ForgetfulDisk&) = delete;
  ~ForgetfulDisk();

  std::string file(const std::string& name) const { return dir_.file(name); }

  /// Writes into an empty folder what is left when the power is lost now: just what was synced.
  void survivors(const std::string& folder) const;
  /// The same with parts of what was not synced, chosen by chance.
  void survivors(const std::string& folder, Random& random) const;

  /// Called before each write, truncation and sync of a file, on the thread that does it.
  void before_each_change(std::function<void()> hook);

 private:
  using Names = std::map<std::string, std::shared_ptr<DiskFile>>;
  struct Handle {
    std::shared_ptr<DiskFile> file;  // null: of another folder
    bool synced = false;
    const sqlite3_io_methods* system;
    std::unique_ptr<sqlite3_io_methods> hooked;
  };

  void write_files(const std::string& folder,
                   const Names& names,
                   const Tear& tear,
                   Random& r) const;
  void added(std::shared_ptr<DiskFile> content, sqlite3_file* file);
  std::shared_ptr<DiskFile> content_of(const char* name);
  Handle& handle(sqlite3_file* file);
  void announce_change();

  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out);
  static int remove(sqlite3_vfs*, const char* name, int sync_folder);
  static int open_folder(const char* name, int* descriptor);
  static int close(sqlite3_file* file);
  static int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset);
  static int truncate(sqlite3_file* file, sqlite3_int64 size);
  static int sync(sqlite3_file* file, int flags);

  const Syncs syncs_;
  const support::TempDir dir_;
  sqlite3_vfs vfs_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Names names_;   // as programs see them
  Names synced_;  // as of the last sync of the folder
  std::map<sqlite3_file*, Handle> handles_;
  std::function<void()> hook_;
};

}  // namespace perdure::sqlite::power
