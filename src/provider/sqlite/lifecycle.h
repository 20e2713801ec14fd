#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/event.h"
#include "model/request.h"
#include "model/status.h"
#include "model/work_item.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/writer.h"

/// Beginning and end of executions: the one path for turns, cancels, terminates and starts.
/// Requires: an open write transaction.
namespace perdure::sqlite {

/// What a new execution begins with.
struct ExecutionSpec {
  ExecutionNo execution;
  std::string name;
  std::string version;
  std::string queue;
  std::string input;
  int priority = 0;
  TimePoint start_at{};
  std::optional<TimePoint> deadline;
  std::string custom_status;
  std::int64_t custom_status_version = 0;
  std::span<const HistoryEvent> carried;  ///< after `started`
  EventId continues;  ///< the last event of the execution that continued as this one; 0 = none did
};

/// Execution row, `started` event and those carried, start message, deadline message, line.
/// Requires: the instance row exists and no execution of it is live.
void begin_execution(WriteContext& context, InstanceKey key, const ExecutionSpec& spec);

/// Creates an instance or gives an ended one its next execution, and begins it. Early events of the
/// id follow the start.
InstanceKey begin_instance(WriteContext& context,
                           const std::string& id,
                           const std::optional<InstanceRow>& existing,
                           const std::optional<ParentLink>& parent,
                           ExecutionSpec spec);

/// How an execution ends.
struct ExecutionEnd {
  ExecutionStatus status = ExecutionStatus::kCompleted;
  std::string output;
  Failure failure;
  std::string reason;  ///< of a cancel or terminate, for the parent
  EventId last_event;
  Duration cleanup_timeout{};  ///< for children that are canceled
  /// False when the caller reaches the descendants itself, so that its limit holds for all levels.
  bool take_children = true;
};

/// Ends an execution whose terminal event is in history: work, messages, lock, requests, children,
/// parent, a stored start. Not for continued_as_new, where the instance goes on (see
/// end_before_next).
void end_execution(WriteContext& context,
                   const InstanceRow& instance,
                   const ExecutionRow& execution,
                   const ExecutionEnd& end,
                   std::vector<TouchedClaim>& touched);

/// The same for continue-as-new, as far as it belongs to the execution that ends: events, signals,
/// updates and a cancel stay for the next one, and so do line and lock.
void end_before_next(WriteContext& context,
                     const InstanceRow& instance,
                     const ExecutionRow& execution,
                     const ExecutionEnd& end,
                     std::vector<TouchedClaim>& touched);

/// What a cancel or a terminate has reached.
struct TreeReach {
  std::vector<TouchedClaim> touched;
  std::int64_t descendants = 0;
  bool more = false;            ///< a cascade was stored for the rest
  std::vector<Error> problems;  ///< of those that could not be read and were left as they are
};

/// How a tree is brought down.
struct TakedownOrder {
  RequestKind kind = RequestKind::kCancel;  ///< or kTerminate
  std::string reason;
  Duration cleanup_timeout{};
  std::int64_t max_descendants = 1'000;
  /// The run has ended: its children are reached also when they were started under a shield. A
  /// cancel spares those, and below them; a terminate spares none.
  bool of_end = false;
};

/// Cancels or terminates the current execution of one instance, without its descendants. False, and
/// nothing is written, when it is terminal or (cancel) was requested before.
bool take_down_run(WriteContext& context,
                   InstanceKey key,
                   const TakedownOrder& order,
                   std::vector<TouchedClaim>& touched);

/// The same for an instance that the caller did not ask for by its id. When it cannot be read it is
/// left as it is and becomes a problem of `reach`: nobody else suffers from it.
bool take_down_other(WriteContext& context,
                     InstanceKey key,
                     const TakedownOrder& order,
                     TreeReach& reach);

/// The same for the descendants of an execution whose close policy is not abandon, as far as no
/// shield spares them, up to the limit; the rest is stored as a cascade.
void take_down_descendants(WriteContext& context,
                           InstanceKey key,
                           ExecutionNo execution,
                           const TakedownOrder& order,
                           TreeReach& reach);

/// Stores that descendants of an execution are still to be reached.
void store_cascade(WriteContext& context,
                   InstanceKey key,
                   ExecutionNo execution,
                   const TakedownOrder& order);

/// Up to `limit` descendants that are still to be reached. Answers how many were, and whether there
/// are more.
std::int64_t reach_descendants(WriteContext& context,
                               InstanceKey key,
                               ExecutionNo execution,
                               const TakedownOrder& order,
                               std::int64_t limit,
                               TreeReach& reach);

}  // namespace perdure::sqlite
