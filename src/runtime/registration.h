#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <perdure/detail/handler_table.h>
#include <perdure/health.h>
#include <perdure/runtime_options.h>

#include "base/random.h"
#include "provider/provider.h"
#include "provider/token_mint.h"
#include "runtime/attempt_timer.h"
#include "runtime/attempts.h"
#include "runtime/claim_watch.h"
#include "runtime/frame_cache.h"
#include "runtime/handler_pool.h"
#include "runtime/housekeeper.h"
#include "runtime/lease_keeper.h"
#include "runtime/loop.h"
#include "runtime/orchestration_dispatcher.h"
#include "runtime/pooled_worker.h"
#include "runtime/process_life.h"
#include "runtime/process_watch.h"
#include "runtime/settler.h"
#include "runtime/suspects.h"
#include "runtime/turn_keeper.h"
#include "runtime/worker_board.h"

namespace perdure::runtime {

/// All that belongs to one registration of this process in the store: its dispatchers, workers and
/// keepers in their threads, the frames between turns, the claims. Runs from its construction.
///
/// When the store says that the registration has ended (this process was taken for dead), `on_lost`
/// is called and nothing of it can write any more: `abandon` it and register anew.
/// Threading: the constructor, the functions and the destructor on one thread.
class Registration {
 public:
  /// What it works with. Handlers that outlive it share what they use.
  struct Parts {
    Provider& provider;  ///< must outlive it
    std::shared_ptr<const detail::HandlerTable> handlers;
    std::shared_ptr<Random> random;
    HandlerPool& pool;  ///< must outlive it
    std::shared_ptr<StopFirer> firer;
    std::string name;  ///< of this process, as attempts are told
    std::shared_ptr<WorkerBoard> board;
    ZombieReaper* reaper = nullptr;  ///< must outlive it
    std::shared_ptr<Quarantine> quarantine = {};
    OnStuck on_stuck = {};
    /// When turns that still run are left behind; its owner sees to it that no call of the provider
    /// lasts much longer.
    std::shared_ptr<const StopDeadline> deadline = {};
  };

  /// `on_lost` is called at most once for each thread, on threads of the registration.
  Registration(Parts parts,
               const RuntimeOptions& options,
               Epoch epoch,
               std::function<void()> on_lost);
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration();

  /// Begins no more claims and no more turns. Does not wait for those under way.
  void stop_claiming();

  /// Claims nothing more; waits for running handlers until `shutdown_grace_period` is over, fires
  /// their tokens, waits until `shutdown_force_timeout` is over, too, both counted from `began`,
  /// for all queues together; then ends the registration in one commit, which gives back what is
  /// left. Without the store that commit is left to those who take over.
  ShutdownReport shut_down(std::chrono::steady_clock::time_point began);

  /// The registration has ended: fires all tokens, lets nobody write. Waits for turns under way,
  /// until the deadline when there is one.
  void abandon();

 private:
  using Loops = std::vector<std::unique_ptr<Loop>>;

  bool begin(const WorkerSettings& worker);
  void serve(const WorkerSettings& worker);
  void look_after();
  void keep_claims();
  void watch_processes();
  void add_loop(Loops& loops, LoopOptions options, std::function<Step()> step);
  void end_claiming();
  static void end(Loops& loops);

  const Parts parts_;
  const RuntimeOptions options_;
  const std::function<void()> on_lost_;

  TokenMint tokens_;
  Attempts attempts_;
  Suspects suspects_;
  std::shared_ptr<Settler> settler_;
  const std::shared_ptr<BeatSignal> beats_ = std::make_shared<BeatSignal>();
  const std::shared_ptr<BeatSignal> overlooked_ = std::make_shared<BeatSignal>();
  FrameCache frames_;
  std::shared_ptr<AttemptTimer> timer_;
  ClaimListeners::Subscription touched_;  // after all that it uses
  ClaimWatch claims_;
  LeaseKeeper leases_;
  Housekeeper housekeeper_;
  TurnKeeper turns_;
  ProcessLife life_;
  ProcessWatch watch_;

  std::vector<std::unique_ptr<OrchestrationDispatcher>> dispatchers_;
  std::vector<std::unique_ptr<PooledWorker>> workers_;
  // Those that claim are ended first, those that keep when no handler runs any more. All claiming
  // ones are made before the first keeping one, which may nudge them.
  Loops dispatching_;
  Loops working_;
  Loops keeping_;
};

}  // namespace perdure::runtime
