#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/event.h"
#include "model/ids.h"
#include "model/status.h"
#include "provider/call.h"
#include "provider/orchestration_requests.h"

/// Reads. They do not wait for the writer (on a file) and see what is committed.
namespace perdure {

/// Part of a history: events with an id greater than `after`, in order.
struct HistoryQuery {
  InstanceKey instance;
  ExecutionNo execution;
  EventId after;
  std::size_t limit = 100'000;
};

struct HistoryPage {
  std::vector<HistoryEvent> events;
  bool more = false;
};

/// One execution as people see it.
struct ExecutionInfo {
  ExecutionNo execution;
  ExecutionStatus status = ExecutionStatus::kRunning;
  BlockedReason blocked = BlockedReason::kNone;
  std::string blocked_detail;
  std::optional<TimePoint> blocked_since;
  std::string output;
  Failure failure;
  std::optional<TimePoint> cancel_requested_at;
  std::string cancel_reason;
  std::optional<TimePoint> canceled_at;
  std::optional<TimePoint> deadline;
  std::string custom_status;
  std::int64_t custom_status_version = 0;
  EventId last_event;
  LockToken last_turn;
  TimePoint started_at{};
  std::optional<TimePoint> completed_at;
  std::string engine_version;
  /// Only in lists: the row cannot be read, which table and key; the number alone is right.
  std::optional<Error> problem;
};

struct InstanceInfo {
  InstanceKey key;
  std::string id;
  std::string name;
  std::string version;
  std::string queue;
  std::optional<ParentLink> parent;
  TimePoint created_at{};
  ExecutionInfo current;
  ChangeSeq last_change;  ///< newest status change of the instance; see Interest::run
};

}  // namespace perdure
