#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <perdure/time.h>

/// What waits in a store.
namespace perdure {

/// Calls of one activity in a queue.
struct QueuedCalls {
  std::string activity;
  std::int64_t ready = 0;    ///< may be claimed now
  std::int64_t delayed = 0;  ///< wait for their time, such as a retry
  std::int64_t claimed = 0;  ///< under way
  std::int64_t held = 0;     ///< set aside
  std::optional<TimePoint> oldest_ready;
};

struct QueueState {
  std::string queue;
  std::int64_t runs_ready = 0;          ///< want a turn now
  std::int64_t runs_delayed = 0;        ///< want one later: a timer, a pause, a delayed start
  std::int64_t runs_locked = 0;         ///< have a turn under way
  std::optional<TimePoint> oldest_run;  ///< since when the first of the ready ones waits
  std::vector<QueuedCalls> calls;       ///< by name
};

/// All queues in which something waits, by name. Costs as much as there are waiting rows.
struct QueueStates {
  TimePoint now{};  ///< time of the store: ages are measured from it
  std::vector<QueueState> queues;
};

}  // namespace perdure
