#include "tests/sqlite/crash/calls.h"

#include <optional>

namespace perdure::sqlite::crash {

namespace {

std::optional<EventKind> event_of(MessageKind kind) {
  switch (kind) {
    case MessageKind::kActivityCompleted:
      return EventKind::kActivityCompleted;
    case MessageKind::kActivityFailed:
      return EventKind::kActivityFailed;
    case MessageKind::kActivityCanceled:
      return EventKind::kActivityCanceled;
    case MessageKind::kTimerFired:
      return EventKind::kTimerFired;
    case MessageKind::kEventRaised:
      return EventKind::kEventReceived;
    case MessageKind::kChildCompleted:
      return EventKind::kChildCompleted;
    case MessageKind::kChildFailed:
      return EventKind::kChildFailed;
    case MessageKind::kChildCanceled:
      return EventKind::kChildCanceled;
    case MessageKind::kChildTerminated:
      return EventKind::kChildTerminated;
    case MessageKind::kChildStartFailed:
      return EventKind::kChildStartFailed;
    case MessageKind::kCancel:
      return EventKind::kCancelRequested;
    default:
      return std::nullopt;
  }
}

bool is_call(EventKind kind) {
  return kind == EventKind::kActivityScheduled || kind == EventKind::kTimerCreated ||
         kind == EventKind::kChildScheduled;
}

bool is_drop(EventKind kind) {
  return kind == EventKind::kActivityDropped || kind == EventKind::kTimerDropped ||
         kind == EventKind::kChildDropped;
}

}  // namespace

void Calls::see(const HistoryEvent& event) {
  if (is_call(event.kind)) open.insert(event.id);
  if (is_drop(event.kind)) dropped.insert(event.source);
  open.erase(event.source);
}

void take_in_messages(Turn& turn, Calls& calls) {
  for (const Message& message : turn.item.messages) {
    const auto kind = event_of(message.kind);
    if (!kind || calls.dropped.contains(message.source)) continue;
    turn.event(*kind, message.source, message.payload);
    calls.see(turn.commit.events.back());
  }
}

}  // namespace perdure::sqlite::crash
