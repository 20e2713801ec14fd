#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <perdure/failure.h>
#include <perdure/json.h>
#include <perdure/status.h>
#include <perdure/time.h>

namespace perdure {

/// A run as people see it: its current execution, or the last one. A value.
struct RunStatus {
  std::string id;
  std::string name;
  /// As it was asked for; else that of the code that took the first turn, empty when it has none.
  std::string version;
  std::string queue;
  std::int64_t execution = 1;  ///< 1 for the first life; continue-as-new takes the next
  ExecutionStatus status = ExecutionStatus::kRunning;

  /// Why a live run does not move: "nondeterminism", "corrupt", "store_error", "unserved",
  /// "deadlock"; empty when nothing is in its way.
  std::string blocked;
  std::string blocked_detail;
  std::optional<TimePoint> blocked_since;

  Json custom_status;         ///< null when the code set none
  Json output;                ///< null unless completed
  Failure failure;            ///< of a failed run, or of an undo that failed for good
  std::string cancel_reason;  ///< why it was canceled or terminated
  std::optional<TimePoint> cancel_requested_at;
  std::optional<TimePoint> canceled_at;
  std::optional<TimePoint> deadline;
  TimePoint started_at{};
  std::optional<TimePoint> completed_at;
};

/// What became of a cancel or terminate.
struct CancelResult {
  bool changed = false;  ///< false: the run had ended, or was told before
  ExecutionStatus status = ExecutionStatus::kRunning;  ///< after the call
};

/// What became of an event that was raised.
enum class EventDelivered : std::uint8_t {
  kDelivered,
  kBuffered,  ///< no such run yet: kept for it as long as was asked
  kNotFound,
  kEnded,
};

}  // namespace perdure
