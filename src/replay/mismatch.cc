#include "replay/mismatch.h"

namespace perdure::replay {

namespace {

std::string quoted(const std::string& text) {
  return "'" + text + "'";
}

std::string of(const char* what, const HistoryEvent& event) {
  return std::string(what) + " event " + std::to_string(event.source.value);
}

}  // namespace

std::string to_string(const Mismatch& mismatch) {
  return "at event " + std::to_string(mismatch.position.value) + " history has " +
         mismatch.expected + ", the code gives " + mismatch.actual + ". " + mismatch.hint;
}

std::string describe(const HistoryEvent& event) {
  switch (event.kind) {
    case EventKind::kActivityScheduled:
      return "a call of activity " + quoted(event.name);
    case EventKind::kTimerCreated:
      return event.source.value == 0 ? "a timer" : of("the time limit of", event);
    case EventKind::kEventSubscribed:
      return "a wait for event " + quoted(event.name);
    case EventKind::kChildScheduled:
      return "a call of orchestration " + quoted(event.name) + " with id " + quoted(event.text);
    case EventKind::kDetachedStarted:
      return "a detached start of " + quoted(event.name) + " with id " + quoted(event.text);
    case EventKind::kActivityDropped:
    case EventKind::kTimerDropped:
    case EventKind::kEventDropped:
    case EventKind::kChildDropped:
      return of("the drop of", event);
    case EventKind::kUndoOwed:
      return "undo_with " + quoted(event.name) + of(" for", event);
    case EventKind::kUndoScheduled:
      return "undo " + quoted(event.name) + of(" of", event);
    case EventKind::kCustomStatusSet:
      return "a custom status";
    case EventKind::kSideEffectRecorded:
      return "a recorded " + event.name;
    case EventKind::kPatchMarked:
      return "patch " + quoted(event.name);
    case EventKind::kSignalReceived:
      return "signal " + quoted(event.name);
    case EventKind::kUpdateAccepted:
      return "update " + quoted(event.name);
    case EventKind::kScopeCanceled:
      return "the cancel of scope " + std::to_string(event.number);
    case EventKind::kCompleted:
    case EventKind::kFailed:
    case EventKind::kCanceled:
    case EventKind::kContinuedAsNew:
      return "the end '" + std::string(to_string(event.kind)) + "'";
    default:
      return quoted(std::string(to_string(event.kind))) +
             (event.source.value == 0 ? "" : of(" for", event));
  }
}

}  // namespace perdure::replay
