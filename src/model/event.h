#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "model/codes.h"
#include "model/failure.h"
#include "model/ids.h"

/// History: the append-only record of what one execution decided and learned.
namespace perdure {

/// Stored in every history row. Never renumber or reuse.
enum class EventKind : std::uint8_t {
  // The execution itself.
  /// name, payload = input, text = version, number = events right behind it that were carried over
  /// from the execution before, source = the last event of that one when it continued as new;
  /// always
  /// event 1
  kStarted = 1,
  kCompleted = 2,        ///< payload = output; last
  kFailed = 3,           ///< failure; last
  kCanceled = 4,         ///< text = reason; last
  kTerminated = 5,       ///< text = reason; last
  kContinuedAsNew = 6,   ///< payload = input of the next execution; last
  kCancelRequested = 7,  ///< text = reason
  /// the cleanup deadline has passed: user code is resumed no more; number = 0, or the last event
  /// that the code took part in: all behind it was written without the code
  kCleanupExpired = 8,
  /// main's first step, in code with message handlers, and when it recorded nothing: signals and
  /// updates above it were taken before; `at` is the time of the first turn
  kMainBegan = 9,

  // Activities. `source` of an answer is the event that scheduled it.
  kActivityScheduled = 10,  ///< name, payload = input, text = queue, number = hash of the input
  kActivityCompleted = 11,  ///< source, payload = result
  kActivityFailed = 12,     ///< source, failure
  kActivityCanceled = 13,   ///< source: the handler itself ended as canceled (`on_cancel = wait`)
  kActivityDropped = 14,    ///< source: the orchestration gave it up; its row goes in this commit

  // Timers.
  kTimerCreated = 20,  ///< number = due time in microseconds; source = the call it limits, or 0
  kTimerFired = 21,    ///< source
  kTimerDropped = 22,  ///< source

  // External events.
  kEventSubscribed = 30,  ///< name
  kEventReceived = 31,    ///< name, payload
  kEventDropped = 32,     ///< source: the wait was given up; the event stays for the next wait

  // Children.
  kChildScheduled = 40,    ///< name, payload = input, text = child id, number = hash of the input
  kChildCompleted = 41,    ///< source, payload = result
  kChildFailed = 42,       ///< source, failure
  kChildCanceled = 43,     ///< source, text = reason
  kChildTerminated = 44,   ///< source, text = reason
  kChildStartFailed = 45,  ///< source, text = why (the id is taken)
  kChildDropped = 46,      ///< source: given up; the child is canceled in this commit
  kDetachedStarted = 47,   ///< name, payload = input, text = id: started without a parent link

  // Undo: owed compensations, scheduled by the engine, shielded.
  kUndoScheduled = 50,  ///< source = the call that is undone, name, payload = input
  kUndoCompleted = 51,  ///< source
  kUndoFailed = 52,     ///< source, failure
  kUndoOwed = 53,       ///< source = the call, name, text = queue, payload = retry policy

  // Recorded values and markers.
  kCustomStatusSet = 60,     ///< payload
  kSideEffectRecorded = 61,  ///< name, payload: uuid, random number, side effect; or failure
  kPatchMarked = 62,         ///< name = patch id
  kScopeCanceled = 63,       ///< number = scope

  // Handlers.
  /// name, payload; number = flags (model/handled.h); source = the event by which it was kept
  /// before, of one that is taken now
  kSignalReceived = 70,
  kUpdateAccepted = 71,   ///< name, payload, text = update id; number = flags (model/handled.h)
  kUpdateCompleted = 72,  ///< source, payload
  kUpdateFailed = 73,     ///< source, failure
  kDrainExpired = 74,     ///< main has ended, and handlers had no more time: they were given up
};

template <>
struct CodeTable<EventKind> {
  static std::span<const CodeRow<EventKind>> rows();
};

/// One row of history. A flat value: which fields a kind uses stands at the enumerator; the others
/// are empty. `failure` occupies its own columns.
struct HistoryEvent {
  EventId id;
  EventKind kind = EventKind::kStarted;
  EventId source;  ///< the event that this one answers; 0 = none
  std::string name;
  std::string payload;  ///< JSON text; the store never looks inside
  std::string text;
  std::int64_t number = 0;
  Failure failure;
  TimePoint at{};  ///< time of the turn or the call that wrote it

  bool operator==(const HistoryEvent&) const = default;
};

/// The last event of a finished execution is one of these, and nothing follows it.
bool is_terminal(EventKind kind);

}  // namespace perdure
