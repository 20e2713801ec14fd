#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/failure.h"
#include "model/ids.h"
#include "model/work_item.h"
#include "provider/call.h"

/// Requests of the worker side: claim, settle, keep, check, sweep. **A missing row is the signal
/// for activities**: a cancel deletes the row, so renewal answers `gone` and the late ack LockLost.
namespace perdure {

struct FetchedWorkItems {
  std::vector<WorkItem> items;
  TimePoint now{};
  /// Fewer items than tokens: when to look again although nobody commits anything: a delayed row is
  /// due, or a row on trial waits or ends its time.
  std::optional<TimePoint> next_at;
  /// Rows that cannot be read were set aside (held) and are named here; nothing else suffers.
  std::vector<Error> problems;
};

/// Claims up to `tokens.size()` ready rows of one queue, only of the given names, by priority
/// (higher first), then age. Due delayed rows and lapsed claims (a loss each) become ready first.
/// At most `max_suspects` of the rows have three losses or more. Writes no other table: a row whose
/// next loss reaches `max_losses`, a marked row and one without an owner stay as they are when
/// their lease lapses, until the sweep looks at them. So does a row whose `schedule_to_start` or
/// `schedule_to_close` is over: nobody begins what is too late.
///
/// A row whose next loss reaches `max_losses` is **on trial**: it is claimed alone, by a process
/// that holds no claim and no instance lock, and for some time (`rules::trial_time`) this process
/// gets no other row. So the loss that fails a row as poison is one that no neighbour can have
/// caused.
///
/// Errors: LockLost when the epoch has ended; InvalidArgument for a token of another epoch or one
/// that is listed twice, and for a `max_losses` out of its range.
struct FetchWorkItems {
  using Answer = FetchedWorkItems;

  Epoch epoch;
  std::string queue;
  std::vector<std::string> names;
  std::vector<LockToken> tokens;  ///< never more than free slots; registered before the call
  Duration lock_for = std::chrono::seconds(30);
  /// One less for each suspect that the process has claimed and not settled, in whatever queue.
  int max_suspects = 1;
  int max_losses = kMaxLosses;
};

/// How an attempt ended.
struct WorkOutcome {
  enum class Kind : std::uint8_t {
    kCompleted,  ///< `result`: row deleted, owner told
    kFailed,     ///< `failure`, final: row deleted, owner told
    kRetryAt,    ///< `failure`, again after `delay`: the row stays, failures + 1
    kCanceled,   ///< row deleted; the owner is told only when the call waits (`on_cancel = wait`)
    kGivenBack,  ///< no outcome: ready again after `delay`, deferrals + 1, no attempt charged
  };

  Kind kind = Kind::kCompleted;
  std::string result;
  Failure failure;
  Duration delay{};
};

struct SettledWork {
  WorkId id;
  LockToken lock;
  WorkOutcome outcome;
  std::optional<std::string> heartbeat_details;  ///< last details, for the next attempt
};

/// Settles attempts, by key and token. Entry errors: **LockLost when no row matches, nothing
/// written** (canceled, taken by another, settled before). A lapsed claim that nobody took still
/// settles. On a marked row nothing is tried again: completed and failed are the real outcome,
/// retry at is failed, canceled and given back are canceled; the owner, if it still lives, is told
/// in the same commit. A row that was cut from its owner is deleted whatever the outcome. Corrupt
/// when the owner of the row cannot be read: nothing written; the claim lapses and the row is set
/// aside.
struct AckWorkItems {
  using Answer = Batch<void>;

  std::vector<SettledWork> entries;
};

/// What a worker learns of a claim. An error of the call as a whole means: unknown, keep trying.
enum class ClaimState : std::uint8_t {
  kRenewed,   ///< still ours (renewal: extended)
  kCanceled,  ///< marked: still ours until its end is written, but it shall stop
  kGone,      ///< no such claim: canceled by deletion, taken by another, or settled
};

struct HeldClaim {
  WorkId id;
  LockToken lock;
  std::optional<std::string> heartbeat_details;  ///< stored by a renewal when set
};

/// Extends the given claims; marked ones too (grace, not the lease, ends them). A lapsed claim that
/// nobody took is renewed. One answer per claim, in order.
struct RenewWorkItemLocks {
  using Answer = std::vector<ClaimState>;

  Epoch epoch;
  std::vector<HeldClaim> claims;
  Duration lock_for = std::chrono::seconds(30);
};

struct SweptWork {
  std::int64_t promoted = 0;   ///< delayed rows that became ready
  std::int64_t lost = 0;       ///< lapsed claims that became ready again
  std::int64_t ended = 0;      ///< marked and cut rows whose lease lapsed: canceled
  std::int64_t poisoned = 0;   ///< rows failed as poison: lost alone, and often enough
  std::int64_t timed_out = 0;  ///< rows failed by schedule_to_start or schedule_to_close
  std::vector<TouchedClaim> touched;
  std::optional<TimePoint> next_at;  ///< when the next row needs the sweep
  /// Rows that cannot be read, also those that no claim would ever find, were set aside (held) and
  /// are named here.
  std::vector<Error> problems;
};

/// Does what time demands of work rows, up to `limit` rows: fails overdue rows (schedule_to_start,
/// schedule_to_close; also under a live claim, whose token is touched) and poison, ends marked rows
/// without a live lease, promotes due rows, frees lapsed claims. Each row counts once. Any process,
/// any time.
struct SweepWorkItems {
  using Answer = SweptWork;

  std::int64_t limit = 1'000;
  int max_losses = kMaxLosses;
};

}  // namespace perdure
