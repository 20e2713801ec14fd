#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/event.h"
#include "model/ids.h"
#include "model/message.h"
#include "model/status.h"
#include "provider/call.h"

/// Requests of the orchestration side: lock instances, give them back, keep them.
namespace perdure {

/// A name and version that the asking worker has registered. An empty version stands for runs that
/// were started without one; their first turn settles it. Versions are compared as texts: the
/// worker lists each form of one that it serves.
struct ServedOrchestration {
  std::string name;
  std::string version;
};

/// Link from a child to the call in its parent.
struct ParentLink {
  InstanceKey instance;
  ExecutionNo execution;
  EventId event;
  ClosePolicy close_policy = ClosePolicy::kCancel;
  bool shielded = false;  ///< a cancel of the parent does not reach it; its end does

  bool operator==(const ParentLink&) const = default;
};

/// An instance that is locked for one turn.
struct OrchestrationItem {
  InstanceKey instance;
  std::string id;
  ExecutionNo execution;
  LockToken lock;
  TimePoint locked_until{};
  std::string name;
  std::string version;
  std::string queue;
  int priority = 0;  ///< of the run
  std::optional<ParentLink> parent;
  /// A terminal one: the messages are queries to an execution that has ended. There is no lock to
  /// be renewed; commit the replies, or give it back: then, after `locked_until`, or when the
  /// process that fetched them has ended, they are handed out again, until they expire.
  ExecutionStatus status = ExecutionStatus::kRunning;
  EventId last_event;   ///< history goes up to here
  LockToken last_turn;  ///< token of the turn that committed last; serial 0 = no turn yet
  std::optional<TimePoint> cancel_requested_at;
  std::string cancel_reason;
  std::optional<TimePoint> cleanup_at;  ///< canceled: when its time for cleanup is over
  std::optional<TimePoint> deadline;
  std::string custom_status;
  std::int64_t custom_status_version = 0;
  int losses = 0;                 ///< locks lost since the last committed turn
  int deferrals = 0;              ///< turns given back since the last committed turn
  std::vector<Message> messages;  ///< visible at fetch, marked, in order (visible_at, id)
  bool more_messages = false;     ///< the limit cut the list; the rest follows in the next turn
  /// Set when a row of this instance cannot be read: which table and key. The lock is held all the
  /// same; abandon it with a delay and BlockedReason::kCorrupt. Neighbours are not affected.
  std::optional<Error> problem;
};

struct FetchedOrchestrationItems {
  std::vector<OrchestrationItem> items;
  TimePoint now{};  ///< time of the store; becomes the time of the turn
  /// Fewer items than tokens: when the next one is due, or a lock that was taken before ends by
  /// itself, if there is any. A holder that is lost tells nobody.
  std::optional<TimePoint> next_at;
};

/// Locks up to `tokens.size()` instances of a queue that have a visible message, are not held back
/// and not locked (or whose lock has expired: a loss is charged), whose name and version are
/// served: higher priority first, then the oldest due. A canceled run whose time for cleanup is
/// over (`cleanup_at`) needs no code to end, nor does a run past its `deadline` to be canceled, so
/// from then on it is locked whatever is served. One instance never twice. Marks just the visible
/// messages; those of queries that have expired are deleted instead. No cost grows with the number
/// of instances that are not locked.
/// The open queries of ended executions that are served are items by themselves, one for each
/// execution. The first of them gets a token before all live runs, the others those that are left.
///
/// Errors: LockLost when the epoch has ended; InvalidArgument for a token of another epoch or one
/// that is listed twice.
/// Crash: the locks stand or none do; they end by expiry, release or takeover of the epoch.
struct FetchOrchestrationItems {
  using Answer = FetchedOrchestrationItems;

  Epoch epoch;
  std::string queue;
  std::vector<ServedOrchestration> served;
  std::vector<LockToken> tokens;  ///< made by the caller before the call, each used once
  Duration lock_for = std::chrono::seconds(30);
  std::size_t max_messages = 10'000;  ///< per instance; a visible cancel is always among them
};

/// What an abandoned turn is counted as. Never a failure: store trouble fails no run.
enum class Charge : std::uint8_t { kNothing, kLoss, kDeferral };

struct AbandonedOrchestrationItem {
  InstanceKey instance;
  LockToken lock;
  Duration delay{};  ///< the instance is not fetched before; its messages keep their order
  Charge charge = Charge::kDeferral;
  BlockedReason blocked = BlockedReason::kNone;
  std::string blocked_detail;
};

/// Gives locks back without committing anything. A delay holds the instance back, never its
/// messages. A cancel that came under the lock wins over the delay. A set blocked reason is shown
/// (its `blocked_since` is that of the first time) until a turn commits.
/// Entry errors: LockLost (not held, expired and taken, or gone): nothing written.
struct AbandonOrchestrationItems {
  using Answer = Batch<void>;

  std::vector<AbandonedOrchestrationItem> entries;
};

struct HeldOrchestrationItem {
  InstanceKey instance;
  LockToken lock;
};

/// Extends locks that are held and unexpired. The answer of an entry is the new end of the lock;
/// LockLost when it is not held any more or has expired.
struct RenewOrchestrationItemLocks {
  using Answer = Batch<TimePoint>;

  std::vector<HeldOrchestrationItem> entries;
  Duration lock_for = std::chrono::seconds(30);
};

}  // namespace perdure
