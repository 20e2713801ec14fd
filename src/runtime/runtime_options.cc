#include <set>
#include <string>

#include <perdure/errors.h>
#include <perdure/runtime_options.h>

#include "model/ids.h"
#include "model/option_ranges.h"

namespace perdure {

namespace {

using option_ranges::check_count;
using option_ranges::check_size;
using option_ranges::check_time;
using option_ranges::refuse;

constexpr long long kMostAtOnce = 100'000;
void check_workers(const RuntimeOptions& options) {
  check_count(
      "max_concurrent_orchestrations", options.max_concurrent_orchestrations, 1, kMostAtOnce);
  check_count("max_concurrent_activities", options.max_concurrent_activities, 1, kMostAtOnce);
  std::set<std::string> queues;
  for (std::size_t i = 0; i < options.workers.size(); ++i) {
    const WorkerSettings& worker = options.workers[i];
    const std::string field = "workers[" + std::to_string(i) + "].";
    const Status queue = check_id(field + "queue", worker.queue);
    if (!queue.ok()) throw InvalidArgument(queue.error().message);
    if (!queues.insert(worker.queue).second) {
      throw InvalidArgument(field + "queue: '" + worker.queue + "' is listed twice");
    }
    check_count(field + "max_concurrent_orchestrations",
                worker.max_concurrent_orchestrations,
                1,
                kMostAtOnce);
    check_count(
        field + "max_concurrent_activities", worker.max_concurrent_activities, 1, kMostAtOnce);
  }
}

}  // namespace

void check(const RuntimeOptions& options) {
  constexpr Duration kNone = Duration::zero();
  constexpr Duration kTick = std::chrono::milliseconds(1);
  constexpr Duration kLock = std::chrono::milliseconds(100);
  check_workers(options);
  check_time("orchestrator_lock_timeout", options.orchestrator_lock_timeout, kLock);
  check_time("worker_lock_timeout", options.worker_lock_timeout, kLock);
  check_time("worker_lock_renewal_buffer", options.worker_lock_renewal_buffer, kNone);
  check_time("orchestration_deadlock_timeout", options.orchestration_deadlock_timeout, kNone);
  check_time("cancel_cleanup_timeout", options.cancel_cleanup_timeout, kTick);
  check_time("handler_drain_timeout", options.handler_drain_timeout, kTick);
  check_size("max_cached_orchestrations", options.max_cached_orchestrations, 0);
  check_size("max_cache_bytes", options.max_cache_bytes, 0);
  if (!(options.replay_check_fraction >= 0.0 && options.replay_check_fraction <= 1.0)) {
    refuse("replay_check_fraction", "0 to 1", std::to_string(options.replay_check_fraction));
  }
  check_size("history_warning_events", options.history_warning_events, 1);
  check_count("max_attempts", options.max_attempts, 3, 1'000);
  check_time("cancellation_poll_interval", options.cancellation_poll_interval, kTick);
  check_time(
      "activity_cancellation_grace_period", options.activity_cancellation_grace_period, kNone);
  check_time("max_heartbeat_throttle_interval", options.max_heartbeat_throttle_interval, kTick);
  check_time("default_heartbeat_throttle_interval",
             options.default_heartbeat_throttle_interval,
             kTick,
             options.max_heartbeat_throttle_interval);
  check_time("shutdown_grace_period", options.shutdown_grace_period, kNone);
  check_time("shutdown_force_timeout", options.shutdown_force_timeout, kNone);
  check_time("force_exit_timeout", options.force_exit_timeout, kNone);
  check_count("max_zombie_count", options.max_zombie_count, 1, 100'000);
  check_time("zombie_retry_max_delay", options.zombie_retry_max_delay, kTick);
  check_time("zombie_retry_interval",
             options.zombie_retry_interval,
             kTick,
             options.zombie_retry_max_delay);
  check_time("zombie_grace_period", options.zombie_grace_period, kNone);
  check_time("zombie_give_up_after", options.zombie_give_up_after, kTick);
  check_time("zombie_shutdown_timeout", options.zombie_shutdown_timeout, kNone);
  check_time("store_poll_interval", options.store_poll_interval, kTick);
  check_time("process_heartbeat_interval", options.process_heartbeat_interval, kTick);
  check_time(
      "worker_dead_after", options.worker_dead_after, 2 * options.process_heartbeat_interval);
  check_size("max_payload_bytes", options.max_payload_bytes, 1);
}

}  // namespace perdure
