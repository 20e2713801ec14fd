#include "replay/commands.h"

namespace perdure::replay {

bool is_command(EventKind kind) {
  switch (kind) {
    case EventKind::kCompleted:
    case EventKind::kFailed:
    case EventKind::kCanceled:
    case EventKind::kContinuedAsNew:
    case EventKind::kActivityScheduled:
    case EventKind::kActivityDropped:
    case EventKind::kTimerCreated:
    case EventKind::kTimerDropped:
    case EventKind::kEventSubscribed:
    case EventKind::kEventDropped:
    case EventKind::kChildScheduled:
    case EventKind::kChildDropped:
    case EventKind::kDetachedStarted:
    case EventKind::kUndoOwed:
    case EventKind::kUndoScheduled:
    case EventKind::kCustomStatusSet:
    case EventKind::kSideEffectRecorded:
    case EventKind::kPatchMarked:
    case EventKind::kScopeCanceled:
    case EventKind::kUpdateCompleted:
    case EventKind::kUpdateFailed:
      return true;
    default:
      return false;
  }
}

bool same_command(const HistoryEvent& recorded, const HistoryEvent& made) {
  if (recorded.kind != made.kind || recorded.name != made.name || recorded.source != made.source) {
    return false;
  }
  switch (made.kind) {
    case EventKind::kChildScheduled:
    case EventKind::kDetachedStarted:
      return recorded.text == made.text;
    case EventKind::kScopeCanceled:
      return recorded.number == made.number;
    default:
      return true;
  }
}

bool same_arguments(const HistoryEvent& recorded, const HistoryEvent& made) {
  switch (made.kind) {
    case EventKind::kActivityScheduled:
      return recorded.number == made.number && recorded.text == made.text;
    case EventKind::kChildScheduled:
    case EventKind::kTimerCreated:
      return recorded.number == made.number;
    case EventKind::kDetachedStarted:
    case EventKind::kCompleted:
    case EventKind::kContinuedAsNew:
    case EventKind::kCustomStatusSet:
    case EventKind::kUpdateCompleted:
      return recorded.payload == made.payload;
    case EventKind::kFailed:
    case EventKind::kUpdateFailed:
      return recorded.failure == made.failure;
    case EventKind::kUndoOwed:
      return recorded.text == made.text && recorded.payload == made.payload;
    case EventKind::kScopeCanceled:
      return recorded.text == made.text;
    default:
      return true;
  }
}

std::int64_t hash_of(std::string_view payload) {
  // FNV-1a: stored in histories, so it may never change.
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char byte : payload) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001B3ULL;
  }
  return static_cast<std::int64_t>(hash);
}

}  // namespace perdure::replay
