#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <perdure/options.h>

#include "base/time.h"
#include "model/codes.h"
#include "model/failure.h"
#include "model/ids.h"
#include "model/retry_policy.h"

/// Work: what a worker runs. One row of the worker queue from birth to outcome, through all
/// attempts. Activities of orchestrations today; task runs, steps and map items enter the same way.
namespace perdure {

/// Stored. Never renumber.
enum class WorkState : std::uint8_t {
  kReady = 1,    ///< may be claimed now
  kDelayed = 2,  ///< waits for visible_at (a retry, a delayed start)
  kClaimed = 3,  ///< a worker holds it until locked_until
  kHeld = 4,     ///< waits for a neighbour to end, or cannot be read
};

template <>
struct CodeTable<WorkState> {
  static std::span<const CodeRow<WorkState>> rows();
};

template <>
struct CodeTable<OnCancel> {
  static std::span<const CodeRow<OnCancel>> rows();
};

/// Who is told of the outcome. Stored.
enum class OwnerKind : std::uint8_t {
  kNobody = 0,    ///< cut off: the outcome is dropped
  kActivity = 1,  ///< an activity of an orchestration: key, execution, scheduling event
};

template <>
struct CodeTable<OwnerKind> {
  static std::span<const CodeRow<OwnerKind>> rows();
};

/// Identity of the call behind a work row; every cancel finds rows by it.
struct WorkOwner {
  OwnerKind kind = OwnerKind::kActivity;
  InstanceKey instance;
  ExecutionNo execution;
  EventId event;

  bool operator==(const WorkOwner&) const = default;
};

/// Time limits of a call. Zero = none.
struct WorkTimeouts {
  Duration start_to_close{};     ///< of one attempt, from its claim
  Duration schedule_to_start{};  ///< from birth to the first claim
  Duration schedule_to_close{};  ///< from birth to the final outcome, all attempts
  Duration heartbeat{};          ///< between two heartbeats of an attempt

  bool operator==(const WorkTimeouts&) const = default;
};

/// What a commit says about a row that is to be born.
struct NewWork {
  EventId event;  ///< the scheduling event
  std::string queue;
  std::string name;
  std::string input;       ///< JSON text
  int priority = 0;        ///< higher first
  TimePoint visible_at{};  ///< in the future: born delayed
  OnCancel on_cancel = OnCancel::kTryCancel;
  bool shielded = false;  ///< survives a cancel of its run (cleanup, undo); not its end
  RetryPolicy retry;
  WorkTimeouts timeouts;

  bool operator==(const NewWork&) const = default;
};

/// A row that a worker has claimed: everything it needs to run the handler, and nothing else.
struct WorkItem {
  WorkId id;
  LockToken lock;
  TimePoint locked_until{};
  WorkOwner owner;
  std::string instance_id;    ///< text id of the owner's instance
  std::string orchestration;  ///< name of the owner's orchestration
  std::string orchestration_version;
  NewWork work;
  int failures = 0;   ///< attempts that failed
  int losses = 0;     ///< claims that were lost: process died, lease lapsed
  int deferrals = 0;  ///< given back without an outcome
  Failure last_failure;
  std::string heartbeat_details;  ///< of the last attempt, empty if none
  TimePoint created_at{};
  TimePoint first_claimed_at{};
  TimePoint claimed_at{};

  /// 1 for the first try.
  int attempt() const { return failures + losses + deferrals + 1; }
};

/// A claim that a commit took away or marked: its token is to be fired at once.
struct TouchedClaim {
  WorkId id;
  LockToken lock;
  bool marked = false;  ///< true: the row stays until its end is written; false: the row is gone
  /// For the handler: why its run was canceled or terminated. Empty: whoever made the commit knows.
  std::string reason = {};

  /// Which claim, and what became of it.
  bool operator==(const TouchedClaim& other) const {
    return id == other.id && lock == other.lock && marked == other.marked;
  }
};

/// A row with this many losses is a suspect: a process runs one suspect at a time.
inline constexpr int kSuspectLosses = 3;

/// Losses at which a row is failed as poison, unless a request says otherwise. At least
/// `kSuspectLosses`.
inline constexpr int kMaxLosses = 10;

}  // namespace perdure
