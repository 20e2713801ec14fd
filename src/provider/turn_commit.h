#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/decisions.h"
#include "model/event.h"
#include "model/ids.h"
#include "model/status.h"
#include "model/work_item.h"
#include "provider/call.h"
#include "provider/client_requests.h"

/// One turn, one commit.
namespace perdure {

/// All that a turn decided. Applied in the order of the fields, in one commit, or not at all.
///
/// 1. Refused, and nothing is written: with LockLost unless the lock is held and unexpired; with
///    **Conflict while the execution has a cancel that this turn has not consumed** (its message is
///    not among those marked by this turn's fetch): the lock is still held, so abandon and fetch
///    again; with InvalidArgument for event ids that do not follow `last_event` without a gap, a
///    change of status that is not a turn's to make, a terminal status without its terminal event
///    last, or work, timers and children whose event is not in this commit.
/// 2. The marked messages are deleted, later ones stay.
/// 3. Events, status, `last_turn` = the lock.
/// 4. New work is enqueued and **then** work is canceled, so a call that was made and dropped in
/// one
///    turn leaves nothing.
/// 5. Timers, children, events for others, replies.
/// 6. The lock is released; the answer says whether the instance is ready again.
///
/// A terminal status also ends what is outstanding, in the same commit: queued work deleted,
/// claimed work by its `on_cancel` (shielded or not), messages deleted (continued_as_new: those of
/// the execution), requests answered (run_requests.h), children by their close policy (shielded or
/// not; below them those that are not), the parent told, a stored start (on_conflict = cancel
/// existing) carried out. The status canceling comes from a cancel, never from a turn.
///
/// Replies to queries of an execution that has ended: `status` is the one that it has, there are no
/// events and nothing but `replies`, which are to queries. No lock is needed, since nothing can change any more; the
/// execution need not be the current one; if its row cannot be read, any terminal status will do.
/// NotFound when it is gone.
struct TurnCommit {
  InstanceKey instance;
  ExecutionNo execution;
  LockToken lock;

  /// `at` is the time of the turn as its fetch answered it; zero: the store's time of the commit.
  std::vector<HistoryEvent> events;
  ExecutionStatus status = ExecutionStatus::kRunning;
  std::string output;  ///< for completed
  Failure failure;     ///< for failed, and canceled or failed with compensation_failed
  std::optional<std::string> custom_status;
  std::optional<std::string> version;  ///< settles the version of a run started without one
  std::string engine_version;

  std::vector<NewWork> work;
  /// Scheduling events of this execution; unknown ones are fine.
  std::vector<EventId> canceled_work;
  std::vector<NewTimer> timers;
  std::vector<EventId> canceled_timers;
  std::vector<NewChild> children;  ///< id taken: a child_start_failed message to this instance
  std::vector<EventId> canceled_children;  ///< shielded or not; below them those that are not
  Duration cleanup_timeout = std::chrono::seconds(60);  ///< for children that are canceled
  std::vector<OutgoingEvent> raised;
  std::vector<Reply> replies;  ///< to requests whose rows are there; others are dropped
  /// Set: a drain_deadline message comes at that time.
  std::optional<TimePoint> drain_at;
  /// Messages of this turn that stay in the queue, unmarked, for the next execution. Only with
  /// continued_as_new (InvalidArgument otherwise).
  std::vector<MessageId> kept_messages;
  std::optional<NextExecution> next;  ///< exactly when status is continued_as_new
};

struct TurnCommitted {
  std::vector<TouchedClaim> touched;  ///< fire these tokens now
  bool more_now = false;              ///< messages are waiting that are visible already
  std::optional<TimePoint> next_at;   ///< otherwise: when the next one becomes visible
  std::vector<EventId> refused_children;
};

/// Commits turns; each entry by itself.
struct AckOrchestrationItems {
  using Answer = Batch<TurnCommitted>;

  std::vector<TurnCommit> entries;
};

}  // namespace perdure
