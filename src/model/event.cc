#include "model/event.h"

#include <array>

namespace perdure {

namespace {

using enum EventKind;

constexpr auto kEventKinds = std::to_array<CodeRow<EventKind>>({
    {kStarted, "started"},
    {kCompleted, "completed"},
    {kFailed, "failed"},
    {kCanceled, "canceled"},
    {kTerminated, "terminated"},
    {kContinuedAsNew, "continued_as_new"},
    {kCancelRequested, "cancel_requested"},
    {kCleanupExpired, "cleanup_expired"},
    {kMainBegan, "main_began"},

    {kActivityScheduled, "activity_scheduled"},
    {kActivityCompleted, "activity_completed"},
    {kActivityFailed, "activity_failed"},
    {kActivityCanceled, "activity_canceled"},
    {kActivityDropped, "activity_dropped"},

    {kTimerCreated, "timer_created"},
    {kTimerFired, "timer_fired"},
    {kTimerDropped, "timer_dropped"},

    {kEventSubscribed, "event_subscribed"},
    {kEventReceived, "event_received"},
    {kEventDropped, "event_dropped"},

    {kChildScheduled, "child_scheduled"},
    {kChildCompleted, "child_completed"},
    {kChildFailed, "child_failed"},
    {kChildCanceled, "child_canceled"},
    {kChildTerminated, "child_terminated"},
    {kChildStartFailed, "child_start_failed"},
    {kChildDropped, "child_dropped"},
    {kDetachedStarted, "detached_started"},

    {kUndoScheduled, "undo_scheduled"},
    {kUndoCompleted, "undo_completed"},
    {kUndoFailed, "undo_failed"},
    {kUndoOwed, "undo_owed"},

    {kCustomStatusSet, "custom_status_set"},
    {kSideEffectRecorded, "side_effect_recorded"},
    {kPatchMarked, "patch_marked"},
    {kScopeCanceled, "scope_canceled"},

    {kSignalReceived, "signal_received"},
    {kUpdateAccepted, "update_accepted"},
    {kUpdateCompleted, "update_completed"},
    {kUpdateFailed, "update_failed"},
    {kDrainExpired, "drain_expired"},
});

}  // namespace

std::span<const CodeRow<EventKind>> CodeTable<EventKind>::rows() {
  return kEventKinds;
}

bool is_terminal(EventKind kind) {
  return kind == kCompleted || kind == kFailed || kind == kCanceled || kind == kTerminated ||
         kind == kContinuedAsNew;
}

}  // namespace perdure
