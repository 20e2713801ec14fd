#pragma once

#include <memory>

#include <perdure/detail/handler_table.h>

#include "base/random.h"
#include "runtime/attempt_timer.h"
#include "runtime/handler_pool.h"
#include "runtime/settler.h"
#include "runtime/slots.h"
#include "runtime/work_claimer.h"
#include "runtime/zombie_reaper.h"

namespace perdure::runtime {

/// Runs activities of one queue on the threads of a pool: claims as many as there are free slots;
/// each handler has a thread to itself, and its end goes to the settler. The thread of an isolated
/// handler waits for its process.
/// Cancellation: stop tokens fire through `Attempts`; a handler that does not listen keeps its slot
/// until the end of grace (AttemptTimer), and its thread is looked after by the ZombieReaper until
/// it returns. One with a process of its own is not: that process is killed.
/// Threading: `poll_once` on one thread; `close` on any.
class PooledWorker {
 public:
  /// What handlers may still use after the worker is gone: shared with each of them.
  struct Shared {
    std::shared_ptr<const detail::HandlerTable> handlers;
    std::shared_ptr<Random> random;
    std::shared_ptr<Settler> settler;
    std::shared_ptr<AttemptTimer> timer;
    ZombieReaper* reaper = nullptr;  ///< of the process
    std::shared_ptr<ZombieCount> zombies;
    ZombieTimes zombie_times;
  };

  PooledWorker(WorkClaimer::Parts parts, Shared shared, HandlerPool& pool, WorkerOptions options);

  /// Waits for a free slot, then claims and starts what there is. `worked`: there may be more.
  Step poll_once();

  /// Ends a wait for a slot: nothing is claimed any more.
  void close() { slots_->close(); }

  std::shared_ptr<const Slots> slots() const { return slots_; }

 private:
  /// Throws, and nothing of it runs, when there is no thread or no memory for it.
  void start(const std::shared_ptr<Attempt>& attempt);
  void give_back(const std::shared_ptr<Attempt>& attempt);

  const Shared shared_;
  HandlerPool& pool_;
  const WorkerOptions options_;
  std::shared_ptr<Slots> slots_;
  WorkClaimer claimer_;
};

}  // namespace perdure::runtime
