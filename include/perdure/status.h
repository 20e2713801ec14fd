#pragma once

#include <cstdint>
#include <string_view>

/// Where a run stands. The numbers are stored; never renumber.
namespace perdure {

enum class ExecutionStatus : std::uint8_t {
  kRunning = 1,
  kCompleting = 2,  ///< main has returned, accepted handlers finish
  kFailing = 3,     ///< main has failed, undo runs
  kCanceling = 4,   ///< a cancel is stored; cleanup runs
  kCompleted = 5,
  kFailed = 6,
  kCanceled = 7,
  kTerminated = 8,
  kContinuedAsNew = 9,
};

/// True for completed, failed, canceled, terminated, continued_as_new: nothing follows.
bool is_terminal(ExecutionStatus status);

/// Its name, as the command line shows it: "running", "canceled".
std::string_view to_string(ExecutionStatus status);

}  // namespace perdure
