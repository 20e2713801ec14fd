#pragma once

#include <cstddef>
#include <string>

#include "base/time.h"
#include "model/work_item.h"
#include "replay/execution.h"
#include "runtime/heartbeat_throttle.h"
#include "runtime/isolation/process_limits.h"

/// Settings of the steps: what dispatchers, workers and the housekeeper read. Checked once, by
/// whoever builds them.
namespace perdure::runtime {

/// How long a turn that could not be committed waits before it is tried again: the first time,
/// doubling up to the longest.
struct Backoff {
  Duration first = std::chrono::milliseconds(500);
  Duration longest = std::chrono::minutes(1);

  /// The delay after `times` tries in a row that led to nothing (1 = the first).
  Duration after(int times) const;
};

struct DispatcherOptions {
  std::string queue = "default";
  std::size_t batch = 64;                               ///< instances of one fetch
  Duration lock_timeout = std::chrono::seconds(30);     ///< orchestrator_lock_timeout
  Duration cleanup_timeout = std::chrono::seconds(60);  ///< cancel_cleanup_timeout
  Duration handler_drain_timeout = std::chrono::seconds(60);
  Backoff backoff;
  replay::ArgumentCheck arguments = replay::ArgumentCheck::kWarn;
  std::size_t max_payload_bytes = std::size_t{2} << 20U;
  std::size_t history_page = 10'000;  ///< events of one read
  std::size_t history_warning_events = 25'000;
  /// orchestration_deadlock_timeout of the queue; 0 = off. Without one, and without one of an
  /// orchestration in the batch, turns run on the thread of the dispatcher.
  Duration deadlock_timeout{};

  replay::ExecutionOptions of_execution() const {
    return {arguments, max_payload_bytes, handler_drain_timeout};
  }
  /// Part of the cached turns that are replayed and compared after their commit, 0 to 1.
  double replay_check_fraction = 0.001;
};

struct WorkerOptions {
  std::string queue = "default";
  std::size_t slots = 64;                            ///< handlers of one claim
  Duration lock_timeout = std::chrono::seconds(30);  ///< worker_lock_timeout
  int max_losses = kMaxLosses;                       ///< max_attempts
  Duration missing_handler_delay = std::chrono::seconds(10);
  std::size_t max_payload_bytes = std::size_t{2} << 20U;
  HeartbeatThrottle throttle;
  ProcessLimits processes;  ///< of isolated handlers
};

/// Throws the public InvalidArgument, naming the field and its range.
void check(const DispatcherOptions& options);
void check(const WorkerOptions& options);

}  // namespace perdure::runtime
