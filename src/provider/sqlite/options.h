#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "provider/provider.h"

namespace perdure::sqlite {

/// What survives a power loss. A killed process never loses anything that was answered.
enum class Durability : std::uint8_t {
  kFull,     ///< every commit is on the disk when it is answered (synchronous=FULL)
  kRelaxed,  ///< the last commits may be lost with the power; never a part of one (NORMAL)
};

struct Options {
  /// A file, made when it is missing in a folder that exists, or ":memory:".
  std::string path;
  Durability durability = Durability::kFull;
  /// False: `poll_once()` drives the writer, for tests on one thread.
  bool writer_thread = true;
  /// True: a store that exists is looked at and never written; see `open`.
  bool read_only = false;
  /// How often a waiting thread looks whether another process has committed.
  std::chrono::milliseconds foreign_poll = std::chrono::milliseconds(50);
  /// Must outlive the provider.
  Clock* clock = &system_clock();
};

/// Opens a store and brings its schema up to date; with `read_only` neither makes a file nor
/// changes the schema: one that is missing, in memory, or of another schema version than this
/// program's is InvalidArgument, and writes through the answer fail. Errors name the path and what
/// to do; on an error nothing was created or changed: InvalidArgument (no such folder, no database,
/// a network file system, a newer schema, an option out of range), Unavailable (no rights), Busy.
Result<std::unique_ptr<Provider>> open(const Options& options);

}  // namespace perdure::sqlite
