#include "tests/sqlite/power/forgetful_disk.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "base/check.h"

namespace perdure::sqlite::power {

namespace {

namespace fs = std::filesystem;
using OpenFolder = int (*)(const char*, int*);

/// SQLite's callbacks carry no context of ours.
ForgetfulDisk* the_disk = nullptr;
sqlite3_vfs* the_system = nullptr;
OpenFolder system_open_folder = nullptr;

constexpr const char* kOpenFolder = "openDirectory";
constexpr int kKept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace

ForgetfulDisk::ForgetfulDisk(Syncs syncs) : syncs_(syncs) {
  PERDURE_CHECK(the_disk == nullptr, "one disk at a time");
  the_disk = this;
  the_system = sqlite3_vfs_find(nullptr);
  vfs_ = *the_system;
  vfs_.zName = "forgetful";
  vfs_.xOpen = open;
  vfs_.xDelete = remove;
  sqlite3_vfs_register(&vfs_, 1);
  // The only use that SQLite has for a folder's descriptor is to sync it.
  system_open_folder =
      reinterpret_cast<OpenFolder>(the_system->xGetSystemCall(the_system, kOpenFolder));
  the_system->xSetSystemCall(
      the_system, kOpenFolder, reinterpret_cast<sqlite3_syscall_ptr>(open_folder));
}

ForgetfulDisk::~ForgetfulDisk() {
  PERDURE_CHECK(handles_.empty(), "a file of the disk is still open");
  the_system->xSetSystemCall(the_system, kOpenFolder, nullptr);
  sqlite3_vfs_unregister(&vfs_);
  sqlite3_vfs_register(the_system, 1);
  the_disk = nullptr;
}

void ForgetfulDisk::survivors(const std::string& folder) const {
  SeededRandom unused(0);
  const std::lock_guard lock(mutex_);
  write_files(folder, synced_, {}, unused);
}

void ForgetfulDisk::survivors(const std::string& folder, Random& random) const {
  const Tear tear{.sector = random.next() % 2 == 0 ? std::size_t{512} : std::size_t{4096},
                  .kept = static_cast<unsigned>(random.next() % 5),
                  .garbage = random.next() % 2 == 0};
  const std::lock_guard lock(mutex_);
  std::set<std::string> paths;
  for (const Names& names : {names_, synced_}) {
    for (const auto& [path, file] : names) paths.insert(path);
  }
  Names names;
  for (const std::string& path : paths) {
    const Names& from = random.next() % 2 == 0 ? names_ : synced_;
    const auto found = from.find(path);
    if (found != from.end()) names.insert(*found);
  }
  write_files(folder, names, tear, random);
}

void ForgetfulDisk::write_files(const std::string& folder,
                                const Names& names,
                                const Tear& tear,
                                Random& random) const {
  for (const auto& [path, file] : names) {
    write_file((fs::path(folder) / fs::path(path).filename()).string(),
               file->after_loss(tear, random));
  }
}

void ForgetfulDisk::before_each_change(std::function<void()> hook) {
  const std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

void ForgetfulDisk::announce_change() {
  std::function<void()> hook;
  {
    const std::lock_guard lock(mutex_);
    hook = hook_;
  }
  if (hook) hook();
}

std::shared_ptr<DiskFile> ForgetfulDisk::content_of(const char* name) {
  const std::lock_guard lock(mutex_);
  auto& content = names_[name];
  if (content == nullptr) content = std::make_shared<DiskFile>();
  return content;
}

void ForgetfulDisk::added(std::shared_ptr<DiskFile> content, sqlite3_file* file) {
  const std::lock_guard lock(mutex_);
  Handle opened{.file = std::move(content), .system = file->pMethods, .hooked = {}};
  opened.hooked = std::make_unique<sqlite3_io_methods>(*file->pMethods);
  opened.hooked->xClose = close;
  opened.hooked->xSync = sync;
  if (opened.file != nullptr) {
    opened.hooked->xWrite = write;
    opened.hooked->xTruncate = truncate;
  }
  file->pMethods = opened.hooked.get();
  handles_.insert_or_assign(file, std::move(opened));
}

ForgetfulDisk::Handle& ForgetfulDisk::handle(sqlite3_file* file) {
  const std::lock_guard lock(mutex_);
  return handles_.at(file);
}

int ForgetfulDisk::open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
  const int result = the_system->xOpen(the_system, name, file, flags, out);
  if (result != SQLITE_OK || (flags & kKept) == 0) return result;
  const bool ours = fs::path(name).parent_path() == the_disk->dir_.path();
  the_disk->added(ours ? the_disk->content_of(name) : nullptr, file);
  return result;
}

int ForgetfulDisk::remove(sqlite3_vfs*, const char* name, int sync_folder) {
  {
    const std::lock_guard lock(the_disk->mutex_);
    the_disk->names_.erase(name);
  }
  return the_system->xDelete(the_system, name, sync_folder);
}

int ForgetfulDisk::open_folder(const char* name, int* descriptor) {
  if (fs::path(name).parent_path() == the_disk->dir_.path()) {
    const std::lock_guard lock(the_disk->mutex_);
    if (the_disk->syncs_ == Syncs::kWork) the_disk->synced_ = the_disk->names_;
  }
  return system_open_folder(name, descriptor);
}

int ForgetfulDisk::close(sqlite3_file* file) {
  const sqlite3_io_methods* const system = the_disk->handle(file).system;
  const int result = system->xClose(file);
  const std::lock_guard lock(the_disk->mutex_);
  the_disk->handles_.erase(file);
  return result;
}

int ForgetfulDisk::write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  the_disk->announce_change();
  const Handle& to = the_disk->handle(file);
  {
    const std::lock_guard lock(the_disk->mutex_);
    to.file->write(static_cast<std::size_t>(offset),
                   std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(count)));
  }
  return to.system->xWrite(file, bytes, count, offset);
}

int ForgetfulDisk::truncate(sqlite3_file* file, sqlite3_int64 size) {
  the_disk->announce_change();
  const Handle& to = the_disk->handle(file);
  {
    const std::lock_guard lock(the_disk->mutex_);
    to.file->truncate(static_cast<std::size_t>(size));
  }
  return to.system->xTruncate(file, size);
}

int ForgetfulDisk::sync(sqlite3_file* file, int flags) {
  Handle& to = the_disk->handle(file);
  if (to.file == nullptr) return SQLITE_OK;
  the_disk->announce_change();
  if (the_disk->syncs_ == Syncs::kWork) {
    const std::lock_guard lock(the_disk->mutex_);
    to.file->sync();
  }
  // The first one of a new file syncs the folder too.
  if (std::exchange(to.synced, true)) return SQLITE_OK;
  return to.system->xSync(file, flags);
}

}  // namespace perdure::sqlite::power
