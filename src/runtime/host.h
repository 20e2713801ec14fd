#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include <perdure/detail/handler_table.h>
#include <perdure/health.h>
#include <perdure/runtime_hooks.h>
#include <perdure/runtime_options.h>

#include "provider/provider.h"
#include "runtime/ending_store.h"
#include "runtime/forced_exit.h"
#include "runtime/registration.h"
#include "runtime/stop_deadline.h"
#include "runtime/worker_board.h"
#include "runtime/zombie_reaper.h"

namespace perdure::runtime {

/// What is behind a Runtime: registers this process in the store, runs the registration, registers
/// anew when it was ended by others, and shuts down. A store that cannot be reached is tried again.
///
/// When the process has `max_zombie_count` zombies, it goes down: it shuts down by itself, and the
/// process is ended `force_exit_timeout` later, unless the host is destroyed before, or the system
/// gives no thread for that (`ForcedExit`).
/// Threading: any thread.
class Host {
 public:
  Host(std::shared_ptr<Provider> store,
       std::shared_ptr<const detail::HandlerTable> handlers,
       const RuntimeOptions& options,
       const RuntimeHooks& hooks);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  /// Stops.
  ~Host();

  /// Shuts down as `Registration::shut_down` says, and waits for threads that were told to end
  /// until `zombie_shutdown_timeout` after the begin. Any number of times; all answer the same.
  ///
  /// One deadline, `shutdown_grace_period + shutdown_force_timeout` after the first call, or after
  /// the moment in which it went down: turns that still run then are left to themselves, and the
  /// store has one more second to answer; then calls of it that have not been answered are not
  /// waited for, whenever they began. What is not bounded: the hooks and the stop callbacks of the
  /// program, destructors in its frames, reads of the store.
  ShutdownReport stop();

  RuntimeHealth health();
  const RuntimeOptions& options() const { return options_; }

 private:
  void run();
  std::optional<Epoch> register_process();
  void run_registration(Epoch epoch);
  void release(Epoch epoch);
  void begin_stop();
  void go_down(std::size_t zombies);
  void wait_for_zombies();
  OnStuck count_stuck_turns();
  bool is_stopping();
  void pause(std::chrono::milliseconds time);

  const std::shared_ptr<Provider> shared_store_;
  EndingStore store_;
  const std::shared_ptr<const detail::HandlerTable> handlers_;
  const RuntimeOptions options_;
  const RuntimeHooks hooks_;
  const std::shared_ptr<WorkerBoard> board_;
  const std::shared_ptr<Random> random_;
  const std::shared_ptr<StopFirer> firer_ = std::make_shared<ThreadedFirer>();
  const std::shared_ptr<Quarantine> quarantine_ = std::make_shared<Quarantine>();
  const std::shared_ptr<StopDeadline> deadline_ = std::make_shared<StopDeadline>();
  HandlerPool pool_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool stopping_ = false;
  std::chrono::steady_clock::time_point stop_began_{};
  bool lost_ = false;
  bool down_ = false;
  ShutdownReport report_;
  std::optional<ForcedExit> end_of_calls_;
  std::optional<ForcedExit> forced_exit_;

  std::unique_ptr<ZombieReaper::Listening> zombies_;  // after all that it uses

  std::mutex join_mutex_;
  std::thread thread_;  // joined with join_mutex_ held
};

}  // namespace perdure::runtime
