#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perdure/options.h>

#include "base/time.h"
#include "model/codes.h"
#include "model/ids.h"
#include "model/request.h"
#include "model/status.h"
#include "model/work_item.h"
#include "provider/call.h"

/// Requests of clients: one commit of the caller each, durable when it returns, without a worker.
/// A non-empty `request_id` makes a call repeatable: the second one with the same id changes
/// nothing and gets the stored answer of the first (without touched claims), as long as that is
/// kept (run_requests.h). Errors, and events that reached nobody, are not stored. The same id for
/// another kind of call is InvalidArgument.
///
/// A row that cannot be read: Corrupt, naming table and key, nothing written. That is a row of the
/// instance that was asked for, of a run that is stored to follow it, or the stored answer of the
/// request id. Rows of others (parent, descendants, work) do not fail a call; an early event that
/// cannot be read is handed on to the instance that is started, whose next fetch reports it.
namespace perdure {

/// How a start ended. Stored with request ids.
enum class StartOutcome : std::uint8_t {
  kStarted = 1,   ///< a new execution
  kExisting = 2,  ///< on_conflict = use existing: the live one
  kPending = 3,   ///< on_conflict = cancel existing: starts in the commit that ends the old run
};

template <>
struct CodeTable<StartOutcome> {
  static std::span<const CodeRow<StartOutcome>> rows();
};

struct OrchestrationStarted {
  StartOutcome outcome = StartOutcome::kStarted;
  InstanceKey instance;
  ExecutionNo execution;              ///< for kPending: the number it will get
  std::vector<TouchedClaim> touched;  ///< of the run that was canceled
  /// Of the instance; for a repeated call that of the first one, empty when it is gone since.
  std::string id = {};
  /// The live run takes no signal of the name that came with the start, as EventDelivery::kUnknown:
  /// nothing was stored.
  bool unknown_signal = false;
};

/// Range of the priority of a run: few values, since a fetch looks at each that is in use.
inline constexpr int kLowestPriority = -100;
inline constexpr int kHighestPriority = 100;

/// What a start brings along, in its commit.
struct StartMessage {
  RequestKind kind = RequestKind::kSignal;  ///< or kUpdate
  std::string name;
  std::string payload;
  std::string request = {};  ///< id of an update
};

/// Creates instance, execution, its `started` event and its start message in one commit; buffered
/// early events of the id are delivered behind the start, in their order. A delayed start is
/// hurried by nothing: the instance is not fetched before its time.
///
/// `on_reuse = only failed` allows a new start after failed, canceled or terminated.
/// A second `cancel existing` while a start is already stored replaces the stored one.
/// `with` is delivered in the same commit to the run that the answer names, also to one that was
/// there before (`use existing`); it comes behind the start. An update that is
/// known by its id (run_requests.h) starts nothing: the answer is kExisting. Not with `cancel
/// existing` (InvalidArgument): there is no run yet. Errors: Conflict (live id and `fail`; ended id
/// and not allowed), InvalidArgument (names the field).
struct StartOrchestration {
  using Answer = OrchestrationStarted;

  std::string id;
  std::string name;
  std::string version;
  std::string queue = "default";
  /// Of the run's turns among those that are due. Its activities add it to theirs, its children
  /// inherit it, and it stays through continue-as-new.
  int priority = 0;
  std::string input;
  Duration delay{};
  /// Deadline of the run, from its start; zero = none. A run_deadline message comes at that time;
  /// whoever runs the turns then cancels the run with the reason `deadline`.
  Duration run_timeout{};
  OnConflict on_conflict = OnConflict::kFail;
  OnReuse on_reuse = OnReuse::kAllow;
  Duration cleanup_timeout = std::chrono::seconds(60);  ///< for the run that is canceled
  std::string request_id;
  std::optional<StartMessage> with = {};
};

/// What became of a raised event. Stored with request ids.
enum class EventDelivery : std::uint8_t {
  kDelivered = 1,
  kBuffered = 2,  ///< unknown id: kept for `buffer_for`
  kNotFound = 3,
  kEnded = 4,
  kUnknown = 5,  ///< a signal that the code of the run does not take; nothing was stored
};

template <>
struct CodeTable<EventDelivery> {
  static std::span<const CodeRow<EventDelivery>> rows();
};

/// Sends an event, or a signal, to a live instance. Unknown ids never block anything: the answer
/// says so. A signal is not buffered for unknown ids (InvalidArgument): start the run with it. It
/// is unknown when the run has had a turn, processes that have not ended have its code, and none of
/// them declares the signal (RegisterProcess).
struct RaiseEvent {
  using Answer = EventDelivery;

  std::string id;
  std::string name;
  std::string payload;
  Duration delay{};
  Duration buffer_for{};  ///< greater than zero: keep it so long for an unknown id
  std::string request_id;
  bool as_signal = false;
};

struct CancelAnswer {
  bool changed = false;                                ///< false: terminal, or requested before
  ExecutionStatus status = ExecutionStatus::kRunning;  ///< after the call
  std::vector<TouchedClaim> touched;                   ///< fire these tokens now
  std::int64_t descendants = 0;                        ///< reached in this commit
  bool cascading = false;  ///< more descendants follow: carry_on_cascades
  /// Descendants that cannot be read: left as they are, and named. The others are reached.
  std::vector<Error> problems;
};

/// Cancels the current execution of an instance **and of all its descendants whose close policy is
/// not abandon**, in this commit, without a turn. A child that was called under a shield is spared,
/// at every level, with all below it.
///
/// For each live one without an earlier request: reason and time stored, status `canceling`, one
/// cancel message and one cleanup deadline enqueued, backoff cleared, unshielded timers and
/// unshielded unclaimed work deleted, claimed unshielded work deleted, marked or cut by its
/// `on_cancel`; the owner of an unclaimed row with `on_cancel = wait` is told in this commit. One
/// that has had no turn yet is `canceled` at once: its history ends, its parent is told, its lock
/// (a first turn under way) is gone. A turn under way is refused at its ack. Beyond
/// `max_descendants` the rest is stored as a cascade, in the same commit. Errors: NotFound.
struct CancelOrchestration {
  using Answer = CancelAnswer;

  std::string id;
  /// Only this one is meant: nothing changes when another is the current one.
  std::optional<ExecutionNo> execution;
  std::string reason;
  Duration cleanup_timeout = std::chrono::seconds(60);
  std::int64_t max_descendants = 1'000;
  std::string request_id;
};

/// Ends the current execution and its descendants at once, also one that is canceling: all work
/// rows, messages and locks go, `terminated` is the last event, the parent is told. No cleanup, no
/// undo. Errors: NotFound.
struct TerminateOrchestration {
  using Answer = CancelAnswer;

  std::string id;
  std::string reason;
  std::int64_t max_descendants = 1'000;
  std::string request_id;
};

struct CascadesCarriedOn {
  std::vector<TouchedClaim> touched;
  std::int64_t reached = 0;    ///< descendants canceled or terminated by this call
  std::int64_t remaining = 0;  ///< cascades that are not finished
  /// Cascades and descendants that cannot be read: left as they are, and named; they do not count
  /// as remaining.
  std::vector<Error> problems;
};

/// Carries on stored cascades by up to `limit` descendants; any process may, at any time, also
/// after the one that began died.
struct CarryOnCascades {
  using Answer = CascadesCarriedOn;

  std::int64_t limit = 1'000;
};

}  // namespace perdure
