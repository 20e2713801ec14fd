#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace perdure {

/// Where the worker of a queue is in its life. `kStopped` and `kFailed` may be followed by
/// `kStarting`: a runtime that others took for dead registers anew.
enum class WorkerStatus : std::uint8_t {
  kCreated,   ///< not begun yet: the process is not registered in the store
  kStarting,  ///< its threads are made
  kReady,     ///< it takes work
  kStopping,  ///< it takes no more work
  kStopped,
  kFailed,  ///< it could not start, see `last_error`; the others go on without it
};

/// "created", "starting", "ready", "stopping", "stopped", "failed".
std::string_view to_string(WorkerStatus status);

/// One queue that a runtime serves.
struct WorkerHealth {
  std::string queue;
  WorkerStatus status = WorkerStatus::kCreated;
  int slots = 0;           ///< max_concurrent_activities
  int running = 0;         ///< handlers that have a slot
  /// Threads of its handlers that were told to end, and have not for zombie_grace_period, and of
  /// its turns that were given up.
  int zombies = 0;
  std::string last_error;  ///< the newest trouble with the store, or why it failed; empty: none
};

/// How a runtime is, for the liveness and readiness checks of the program around it.
struct RuntimeHealth {
  /// False: it has too many zombies and stops; only a new process can go on.
  bool live = true;
  /// All its workers are ready.
  bool ready = false;
  int zombies = 0;  ///< of the whole process
  std::vector<WorkerHealth> workers;
};

/// What a shutdown found and left.
struct ShutdownReport {
  int running = 0;     ///< handlers that ran when it began
  int drained = 0;     ///< of them: ended by themselves within shutdown_grace_period
  int stopped = 0;     ///< ended after they were told to, before the deadline
  int left = 0;        ///< have not ended: their calls were given back all the same
  /// Threads that were told to end and live on, of handlers that were left and of calls and turns
  /// that had ended or been given up before: zombies, and those whose zombie_grace_period lasts.
  int zombies = 0;
  bool released = false;  ///< the registration was ended; otherwise others take it over
};

}  // namespace perdure
