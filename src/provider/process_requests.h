#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/work_item.h"
#include "provider/call.h"

/// Processes: who may hold claims. A process proves life by what the kernel releases at its death
/// (a lock of its own) and by a heartbeat counter; how long a silent counter means death is decided
/// by the observer, with its own steady clock.
namespace perdure {

/// Which signals the code of one orchestration takes that a process runs.
struct DeclaredSignals {
  std::string orchestration;
  std::string version;  ///< as runs have it; empty: of runs that began without one
  std::vector<std::string> signals;
};

/// Registers this process and takes its kernel lock, held by the provider object until it is
/// destroyed. The answer is an epoch that was never given before.
struct RegisterProcess {
  using Answer = Epoch;

  std::string host;
  std::int64_t pid = 0;
  std::vector<std::string> queues;  ///< shown to people
  /// Until it has ended (released or taken over; a dead one counts until then), a signal to a run of
  /// one of these is refused when no process that has not ended declares it (RaiseEvent). Live runs
  /// of these that keep a signal which is declared here get a turn (a `wake`), unless one is due.
  std::vector<DeclaredSignals> declared = {};
};

/// Adds one to the heartbeat counter and answers it. LockLost when the epoch has ended: fire all
/// tokens, drop all frames, register anew.
struct HeartbeatProcess {
  using Answer = std::int64_t;

  Epoch epoch;
};

struct ProcessEnded {
  bool changed = false;  ///< false: it had ended before
  std::int64_t freed_claims = 0;
  std::int64_t freed_locks = 0;
  std::int64_t ended_rows = 0;  ///< marked, cut or poisoned rows: ended, owners told
  std::vector<Error> problems;  ///< work rows that cannot be read: set aside (held) and named
};

/// Ends the epoch of a dead process in one commit: its claims and instance locks are freed (a loss
/// each), queries of ended executions that it had fetched are handed out again, its marked and cut rows are ended as canceled, and a row that reaches `max_losses` is
/// failed as poison if it was all that the process held; owners told. From then on its tokens fence
/// nothing and its requests are refused. Runs that keep a signal which it had no handler for, and
/// another living process with the same code has, get a turn. Errors: NotFound; InvalidArgument for
/// a `max_losses` out of its range.
struct TakeOverProcess {
  using Answer = ProcessEnded;

  Epoch epoch;
  int max_losses = kMaxLosses;
};

/// The last act of a process: ends its own epoch. As a takeover, but what is left is given back (a
/// deferral each), not lost. The kernel lock is released.
struct ReleaseProcess {
  using Answer = ProcessEnded;

  Epoch epoch;
};

struct ProcessInfo {
  Epoch epoch;
  std::string host;
  std::int64_t pid = 0;
  std::vector<std::string> queues;
  std::int64_t heartbeat = 0;
  TimePoint registered_at{};
  /// It has claimed work or locked instances: only then it owes heartbeats.
  bool holds = false;
  /// True: the kernel has released its lock: the process is dead, take over now. False proves
  /// nothing.
  bool lock_released = false;
  /// Set when the row cannot be read: which table and key. The epoch is right, it can be taken over
  /// by it, and `holds` and `lock_released` tell; the rest is not known.
  std::optional<Error> problem;
};

}  // namespace perdure
