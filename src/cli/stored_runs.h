#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/history_check.h"
#include "cli/replay_result.h"
#include "provider/provider.h"

namespace perdure::cli {

/// Which executions of a store are replayed. What is set must apply.
struct ReplaySelection {
  enum class Which : std::uint8_t { kAll, kRunning, kEnded };

  std::vector<std::string> ids;  ///< of runs; empty: all
  std::string name;              ///< of the orchestration; empty: all
  Which which = Which::kAll;     ///< of each execution
};

/// Replays what is stored, the newest runs and of each run the newest execution first, and tells
/// each result at once. A row that cannot be read is a result of its run alone, and so is an id
/// that does not exist. A store in use is seen as it is at each read; what is deleted in between is
/// left out. Only reads. One thread.
class StoredRuns {
 public:
  using Tell = std::function<void(const ReplayResult&)>;

  /// Both must outlive it.
  StoredRuns(Provider& store, const HistoryCheck& check, Tell tell)
      : store_(store), check_(check), tell_(std::move(tell)) {}

  /// An error: the store as a whole cannot be read; results may have been told before.
  Status replay(const ReplaySelection& selection);

 private:
  struct Run {
    InstanceKey key;
    std::string id;
    std::string name;
    std::string version;
    std::string queue;
    ExecutionNo current;
    bool asked_for = false;  ///< by its id or by its name
  };

  Status replay_listed(const ReplaySelection& selection);
  Status replay_chosen(const std::string& id, const ReplaySelection& selection);
  Status replay_run(const Run& run, ReplaySelection::Which which);
  Status replay_current(const Run& run);
  Status replay_execution(const Run& run, const ExecutionInfo& execution);
  /// Ok when the error concerns this run alone: it is told, or the run is gone.
  Status take(const Run& run, ExecutionNo execution, const Error& error);
  void tell_unreadable(const Run& run, ExecutionNo execution, const std::string& problem);

  Provider& store_;
  const HistoryCheck& check_;
  const Tell tell_;
};

}  // namespace perdure::cli
