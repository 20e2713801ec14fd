#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <perdure/runtime_options.h>

#include "base/kick_gate.h"
#include "base/time.h"

namespace perdure::runtime {

/// When is done what with a thread that does not end, from the moment in which it was told to.
struct ZombieTimes {
  Duration retry_interval = std::chrono::seconds(1);    ///< zombie_retry_interval; doubles
  Duration retry_max_delay = std::chrono::seconds(60);  ///< zombie_retry_max_delay
  Duration grace = std::chrono::seconds(10);            ///< zombie_grace_period
  Duration give_up_after = std::chrono::hours(1);       ///< zombie_give_up_after
};

/// Those of a runtime.
ZombieTimes zombie_times(const RuntimeOptions& options);

/// How many zombies somebody has. Shared with the threads, which may outlive the owner.
using ZombieCount = std::atomic<int>;

/// A thread that was told to end.
struct Stray {
  /// It is inside while it runs on. Empty: it can neither be kicked nor looked at.
  std::shared_ptr<KickGate> gate;
  bool kicks = false;  ///< its blocking system calls may be ended
  ZombieTimes times;
  std::shared_ptr<ZombieCount> count;  ///< of its queue; counted there, too
  std::function<std::string()> what;   ///< asked when there is something to say of it
};

/// Looks after threads of this process that were told to end: tries again to end them, counts those
/// that live on as zombies, and gives them up in the end. It kills nobody.
///
/// Told at 0: kicked at 1, 3, 7, 15 .. s when they may be; a zombie at 10 s, with its stack in the
/// log; given up after an hour. One that returns leaves the count, one that was given up stays in
/// it. By real time. Threading: any thread; `poll_once` on one.
class ZombieReaper {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Id = std::uint64_t;

  ZombieReaper() = default;
  ZombieReaper(const ZombieReaper&) = delete;
  ZombieReaper& operator=(const ZombieReaper&) = delete;

  Id watch(Stray stray, Time told_at);
  /// The thread has returned.
  void returned(Id id);

  std::size_t count() const;
  /// Threads that were told to end and have not, zombies or not yet, and those that were given up.
  std::size_t alive(const std::vector<std::shared_ptr<ZombieCount>>& of) const;
  /// Waits until none of them is alive; false when the time is over first.
  bool wait_until_none(const std::vector<std::shared_ptr<ZombieCount>>& of, Time until);

  /// Hears of the count whenever it has grown, and once at the begin, for its own lifetime. When it
  /// is gone no call is under way. Must not call back here.
  class [[nodiscard]] Listening {
   public:
    Listening(ZombieReaper& reaper, std::function<void(std::size_t)> hears);
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
    ~Listening();

   private:
    ZombieReaper& reaper_;
    std::list<std::function<void(std::size_t)>>::iterator place_;
  };

  /// Does what is due; answers when the next is.
  std::optional<Time> poll_once(Time now);
  /// Waits until then, or until there may be something earlier.
  void wait(std::optional<Time> until);

 private:
  struct Watched {
    Stray stray;
    Time told_at;
    Time retry_at;
    Duration interval{};
    bool counted = false;

    Time next() const;
  };
  struct Due {
    Time at;
    Id id = 0;
    bool operator<(const Due& other) const { return at > other.at; }  // the earliest on top
  };

  /// With mutex_ held.
  std::size_t count_alive(const std::vector<std::shared_ptr<ZombieCount>>& of) const;
  std::optional<Due> take_due(Time now);
  void act(Id id, Watched& watched, Time now);
  void become_zombie(Id id, Watched& watched, Time now);
  void give_up(Id id, const Watched& watched);
  void tell(std::size_t count);
  void push(Due due);

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // for who polls
  std::condition_variable ended_;    // for who waits until none is left
  // Guarded by mutex_. What a Watched holds is changed by `poll_once` alone, but for its place here.
  std::unordered_map<Id, std::shared_ptr<Watched>> watched_;
  std::vector<Due> due_;  // a heap; those that have returned are found when their time comes
  Id last_id_ = 0;
  std::size_t count_ = 0;
  bool woken_ = false;

  std::mutex listening_mutex_;
  std::list<std::function<void(std::size_t)>> listeners_;  // guarded by listening_mutex_
};

/// The one of this process, with its thread. Never destroyed.
ZombieReaper& process_reaper();

}  // namespace perdure::runtime
