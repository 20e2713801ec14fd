#include "provider/sqlite/process_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace perdure::sqlite {

namespace {

std::string lock_path(const std::string& database_path, Epoch epoch) {
  return database_path + "-process-" + std::to_string(epoch.value);
}

[[noreturn]] void fail(const char* what, const std::string& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path);
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }

  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

int lock(int descriptor, int how) {
  int result = 0;
  do {
    result = ::flock(descriptor, how);
  } while (result != 0 && errno == EINTR);
  return result;
}

/// False when the path leads to another file by now, or to none.
bool is_file_at(int descriptor, const std::string& path) {
  struct stat held {};
  struct stat named {};
  return ::fstat(descriptor, &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

}  // namespace

ProcessLock ProcessLock::acquire(const std::string& database_path, Epoch epoch) {
  std::string path = lock_path(database_path, epoch);
  for (;;) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (file.get() < 0) fail("open", path);
    if (lock(file.get(), LOCK_EX | LOCK_NB) != 0) fail("lock", path);
    // A lock on a file that was removed meanwhile would prove nothing.
    if (is_file_at(file.get(), path)) return {file.release(), std::move(path), epoch};
  }
}

ProcessLock::ProcessLock(int descriptor, std::string path, Epoch epoch)
    : descriptor_(descriptor), path_(std::move(path)), epoch_(epoch) {}

ProcessLock::ProcessLock(ProcessLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      epoch_(other.epoch_) {}

ProcessLock& ProcessLock::operator=(ProcessLock&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    path_ = std::move(other.path_);
    epoch_ = other.epoch_;
  }
  return *this;
}

ProcessLock::~ProcessLock() {
  close();
}

void ProcessLock::close() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void ProcessLock::release_and_remove() {
  // Removed while it is held: nobody can see it released.
  if (descriptor_ >= 0) ::unlink(path_.c_str());
  close();
}

bool ProcessLock::released(const std::string& database_path, Epoch epoch) {
  const std::string path = lock_path(database_path, epoch);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return false;
  // Shared: two observers do not hide a dead process from each other. The lock ends with the
  // descriptor.
  return lock(file.get(), LOCK_SH | LOCK_NB) == 0 && is_file_at(file.get(), path);
}

void ProcessLock::remove(const std::string& database_path, Epoch epoch) {
  ::unlink(lock_path(database_path, epoch).c_str());
}

}  // namespace perdure::sqlite
