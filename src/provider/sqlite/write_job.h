#pragma once

#include <chrono>
#include <cstddef>

#include "base/error.h"
#include "base/time.h"
#include "provider/sqlite/change_hub.h"
#include "provider/sqlite/connection.h"

namespace perdure::sqlite {

/// What an entry needs while it writes.
struct WriteContext {
  Connection& db;
  TimePoint now;
  Topics& topics;
};

/// A submitted request: one or more entries that succeed or fail each by itself.
class WriteJob {
 public:
  WriteJob() = default;
  WriteJob(const WriteJob&) = delete;
  WriteJob& operator=(const WriteJob&) = delete;
  virtual ~WriteJob() = default;

  virtual std::size_t entries() const = 0;
  /// About how many rows it writes.
  virtual std::size_t rows() const { return entries(); }

  /// Writes one entry inside an open transaction and keeps its answer; an entry that is refused
  /// writes nothing and keeps that as its answer. Throws SqliteError. After a rollback it is called
  /// again and overwrites its answer.
  virtual void apply(std::size_t entry, WriteContext& context) = 0;

  /// The answer of this entry is `error`, whatever it was before.
  virtual void fail(std::size_t entry, const Error& error) = 0;

  /// Runs the completion with the kept answers: once, as the last call. Must not throw.
  virtual void answer() = 0;

  /// Goes before the jobs that are not.
  bool urgent = false;
  /// Real time after which the job is answered Busy when its commit has not begun.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

}  // namespace perdure::sqlite
