#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "provider/provider.h"
#include "runtime/process_life.h"
#include "runtime/step.h"

namespace perdure::runtime {

struct ProcessWatchOptions {
  Duration interval = std::chrono::seconds(1);    ///< process_heartbeat_interval
  Duration dead_after = std::chrono::seconds(5);  ///< worker_dead_after
  int max_losses = kMaxLosses;                    ///< max_attempts
};

/// Finds the other processes of the store that are dead and takes them over.
///
/// A process is dead when the kernel has released its lock, which is looked at once per interval
/// and touches no table; or when it holds something and its heartbeat stood still for `dead_after`
/// by this observer's steady clock, while at least three heartbeats of the observer itself were
/// committed: so a store that nobody can write makes nobody look dead. An observer that could not
/// look for that long itself, because it was stopped or the store was down, begins to count anew.
/// One that holds nothing owes no heartbeat and is not dead.
///
/// The list of processes is read when others changed the store, and once per interval while one of
/// them holds something; an idle observer of idle processes reads nothing. When a holder falls
/// silent, an idle observer beats itself (`ProcessLife::beat_while_idle`).
///
/// Call it once before this process claims or locks anything: what a dead process held is then
/// freed by a takeover, which knows all of it, and not lease by lease.
///
/// Two observers may take over the same process: one changes, the other finds it done. A crash in
/// between loses nothing: a takeover is one commit, and the next observer does it.
/// Threading: one thread for this object and its `ProcessLife`.
class ProcessWatch {
 public:
  /// Both must outlive it.
  ProcessWatch(Provider& provider, ProcessLife& life, ProcessWatchOptions options);

  /// Call it when it is due, and whenever others changed the store (`store_changed`); calls before
  /// it is due only note the change. Worked: a process was taken over, its work is free. Trouble:
  /// LockLost when this very process is not registered any more; else the store did not answer, and
  /// it is tried again one interval later.
  Step poll_once(SteadyTime now, bool store_changed);

  /// When the next call may do something.
  SteadyTime due() const { return due_; }

 private:
  /// What was seen of another process.
  struct Peer {
    std::string host;
    std::int64_t pid = 0;
    bool owes_beats = false;  ///< it holds something, and its counter can be read
    bool released = false;
    std::int64_t heartbeat = 0;
    SteadyTime since{};          ///< when it was first seen owing beats with this counter
    std::int64_t own_beats = 0;  ///< of the observer at that time
  };

  bool must_list() const;
  Status list(SteadyTime now);
  Peer look(const ProcessInfo& process, SteadyTime now) const;
  Status probe();
  bool is_silent(const Peer& peer, SteadyTime now) const;
  bool someone_falls_silent(SteadyTime now) const;
  Step take_over_dead(SteadyTime now);
  /// Answers whether this call ended it.
  Result<bool> take_over(Epoch epoch, const Peer& peer);

  Provider& provider_;
  ProcessLife& life_;
  const ProcessWatchOptions options_;
  std::map<Epoch, Peer> peers_;
  SteadyTime listed_at_{};
  bool list_is_old_ = true;
  SteadyTime due_{};
};

}  // namespace perdure::runtime
