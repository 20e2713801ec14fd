#include "model/message.h"

#include <array>

namespace perdure {

namespace {

using enum MessageKind;

constexpr auto kMessageKinds = std::to_array<CodeRow<MessageKind>>({
    {kStart, "start"},
    {kActivityCompleted, "activity_completed"},
    {kActivityFailed, "activity_failed"},
    {kActivityCanceled, "activity_canceled"},
    {kTimerFired, "timer_fired"},
    {kEventRaised, "event_raised"},
    {kChildCompleted, "child_completed"},
    {kChildFailed, "child_failed"},
    {kChildCanceled, "child_canceled"},
    {kChildTerminated, "child_terminated"},
    {kChildStartFailed, "child_start_failed"},
    {kCancel, "cancel"},
    {kCleanupDeadline, "cleanup_deadline"},
    {kRunDeadline, "run_deadline"},
    {kDrainDeadline, "drain_deadline"},
    {kSignal, "signal"},
    {kUpdate, "update"},
    {kQuery, "query"},
    {kWake, "wake"},
});

}  // namespace

std::span<const CodeRow<MessageKind>> CodeTable<MessageKind>::rows() {
  return kMessageKinds;
}

bool belongs_to_execution(MessageKind kind) {
  switch (kind) {
    case kStart:
    case kActivityCompleted:
    case kActivityFailed:
    case kActivityCanceled:
    case kTimerFired:
    case kChildCompleted:
    case kChildFailed:
    case kChildCanceled:
    case kChildTerminated:
    case kChildStartFailed:
    case kCleanupDeadline:
    case kRunDeadline:
    case kDrainDeadline:
    case kWake:
      return true;
    case kEventRaised:
    case kCancel:
    case kSignal:
    case kUpdate:
    case kQuery:
      return false;
  }
  return false;
}

}  // namespace perdure
