#pragma once

#include <string>

#include "model/ids.h"

namespace perdure::sqlite {

/// Proof of life that the kernel withdraws when the process dies: an exclusive `flock` on the file
/// `<database>-process-<epoch>`. Move-only. A forked child that does not exec shares the lock.
class ProcessLock {
 public:
  /// Takes the lock. Call it before others can know the epoch: between the creation of the file and
  /// the lock it looks released. Throws std::system_error, also when somebody holds it.
  static ProcessLock acquire(const std::string& database_path, Epoch epoch);

  ProcessLock(ProcessLock&& other) noexcept;
  ProcessLock& operator=(ProcessLock&& other) noexcept;
  /// Releases the lock; the file stays, as the sign of a process that did not say goodbye.
  ~ProcessLock();

  /// Removes the file, then releases.
  void release_and_remove();

  Epoch epoch() const { return epoch_; }

  /// True when the file exists and nobody holds its lock: that process is dead. False proves
  /// nothing. Changes no file and keeps no lock.
  static bool released(const std::string& database_path, Epoch epoch);

  /// Removes the file of a process that has ended; a missing one is fine.
  static void remove(const std::string& database_path, Epoch epoch);

 private:
  ProcessLock(int descriptor, std::string path, Epoch epoch);
  void close() noexcept;

  int descriptor_ = -1;
  std::string path_;
  Epoch epoch_;
};

}  // namespace perdure::sqlite
