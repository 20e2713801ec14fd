#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <perdure/time.h>

namespace perdure {

/// One task queue that a runtime serves.
struct WorkerSettings {
  std::string queue = "default";
  int max_concurrent_orchestrations = 200;  ///< 1 to 100000: instances locked at a time
  int max_concurrent_activities = 200;      ///< 1 to 100000: handlers that run at a time
  /// Unset: that of the runtime.
  std::optional<Duration> orchestration_deadlock_timeout = {};
};

/// Settings of a runtime. A value; `check` says which one is out of its range. Durations are in
/// real time. `perdure settings` and docs/operations.md list them with ranges and meanings.
struct RuntimeOptions {
  /// The queues that it serves; empty: "default", with the two limits below.
  std::vector<WorkerSettings> workers = {};
  int max_concurrent_orchestrations = 200;
  int max_concurrent_activities = 200;

  // Locks.
  Duration orchestrator_lock_timeout = std::chrono::seconds(30);
  Duration worker_lock_timeout = std::chrono::seconds(30);
  /// Claims are renewed so long before they end; half the timeout when it is not shorter than that.
  Duration worker_lock_renewal_buffer = std::chrono::seconds(5);

  // Orchestrations.
  /// How long the code of a turn may take by its own fault: time in which it was ready to run and
  /// got no processor does not count. Then the turn is given up, shown as blocked: deadlock, and
  /// tried again later. 0 = off. An orchestration may have its own (`OrchestrationOptions`).
  Duration orchestration_deadlock_timeout = std::chrono::seconds(2);
  Duration cancel_cleanup_timeout = std::chrono::seconds(60);
  Duration handler_drain_timeout = std::chrono::seconds(60);
  std::size_t max_cached_orchestrations = 10'000;  ///< 0: nothing is kept between turns
  std::size_t max_cache_bytes = std::size_t{256} << 20U;
  /// Part of the cached turns that are replayed and compared: 0 to 1.
  double replay_check_fraction = 0.001;
  /// A call with other arguments than the history has (an input, a queue, a due time) blocks the
  /// run as any other difference does; otherwise it is a warning in the log.
  bool strict_arguments = false;
  std::size_t history_warning_events = 25'000;

  // Activities.
  int max_attempts = 10;  ///< claims of a call that may be lost before it is failed as poison
  Duration cancellation_poll_interval = std::chrono::seconds(1);
  Duration activity_cancellation_grace_period = std::chrono::seconds(10);
  Duration default_heartbeat_throttle_interval = std::chrono::seconds(30);
  Duration max_heartbeat_throttle_interval = std::chrono::seconds(60);

  // Shutdown and handlers that do not stop.
  Duration shutdown_grace_period = std::chrono::seconds(10);
  Duration shutdown_force_timeout = std::chrono::seconds(5);
  Duration force_exit_timeout = std::chrono::seconds(60);  ///< 0 = off
  int max_zombie_count = 10;  ///< 0: zombies never end the process
  Duration zombie_retry_interval = std::chrono::seconds(1);
  Duration zombie_retry_max_delay = std::chrono::seconds(60);
  Duration zombie_grace_period = std::chrono::seconds(10);
  Duration zombie_give_up_after = std::chrono::hours(1);
  Duration zombie_shutdown_timeout = std::chrono::seconds(30);

  // The store and other processes.
  Duration store_poll_interval = std::chrono::seconds(1);
  Duration process_heartbeat_interval = std::chrono::seconds(1);
  Duration worker_dead_after = std::chrono::seconds(5);
  std::size_t max_payload_bytes = std::size_t{2} << 20U;
};

/// Throws InvalidArgument that names the field, its range and its value.
void check(const RuntimeOptions& options);

}  // namespace perdure
