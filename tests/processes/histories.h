#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "provider/provider.h"

namespace perdure::test {

/// One execution as it is stored.
struct StoredExecution {
  std::string id;
  std::string name;
  ExecutionNo execution;
  ExecutionStatus status = ExecutionStatus::kRunning;
  std::vector<HistoryEvent> events;

  bool operator==(const StoredExecution&) const = default;
  std::int64_t count(EventKind kind) const;
};

/// Everything that a store holds, children and former executions included, by id and execution.
/// Throws std::runtime_error when something cannot be read.
std::vector<StoredExecution> read_all(Provider& store);

/// What is wrong with an execution that has ended, whatever its code: a command that was answered
/// twice or never, an end that is not the last event. Empty when nothing is.
std::string violation_in(const StoredExecution& execution);

/// What is left in the queues; empty when nothing waits.
std::string left_in_queues(Provider& store);

}  // namespace perdure::test
