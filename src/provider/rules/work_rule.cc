#include "provider/rules/work_rule.h"

#include <algorithm>

namespace perdure::rules {

CancelEffect cancel_effect(
    CancelCause cause, bool claimed, OnCancel on_cancel, bool shielded, bool marked_before) {
  if (cause == CancelCause::kTerminated) return CancelEffect::kDelete;
  if (cause == CancelCause::kRunCanceled && shielded) return CancelEffect::kKeep;
  if (!claimed) {
    const bool awaited = on_cancel == OnCancel::kWait && cause != CancelCause::kRunEnded;
    return awaited ? CancelEffect::kEnd : CancelEffect::kDelete;
  }
  switch (on_cancel) {
    case OnCancel::kTryCancel:
      return CancelEffect::kDelete;
    case OnCancel::kAbandon:
      return CancelEffect::kCut;
    case OnCancel::kWait:
      break;
  }
  return marked_before ? CancelEffect::kKeep : CancelEffect::kMark;
}

Settlement settle(WorkOutcome::Kind outcome, OwnerKind owner, OnCancel on_cancel, bool marked) {
  using Kind = WorkOutcome::Kind;
  Settlement settlement;
  // A row without an owner is not tried again: no step of a canceled run starts anew.
  if (owner == OwnerKind::kNobody) return settlement;
  if (!marked && outcome == Kind::kRetryAt) {
    settlement.row = Settlement::Row::kRetry;
    return settlement;
  }
  if (!marked && outcome == Kind::kGivenBack) {
    settlement.row = Settlement::Row::kGiveBack;
    return settlement;
  }
  switch (outcome) {
    case Kind::kCompleted:
      settlement.tell = MessageKind::kActivityCompleted;
      break;
    case Kind::kFailed:
    case Kind::kRetryAt:
      settlement.tell = MessageKind::kActivityFailed;
      break;
    case Kind::kCanceled:
    case Kind::kGivenBack:
      if (marked || on_cancel == OnCancel::kWait) settlement.tell = MessageKind::kActivityCanceled;
      break;
  }
  return settlement;
}

LapseEffect lapse_effect(bool unwanted, int losses_after, int max_losses, bool alone) {
  if (unwanted) return LapseEffect::kCanceled;
  return losses_after >= max_losses && alone ? LapseEffect::kPoison : LapseEffect::kReady;
}

bool is_on_trial(int losses, int max_losses) {
  return losses >= kSuspectLosses && losses + 1 >= max_losses;
}

Duration trial_time(int losses, int max_losses) {
  constexpr Duration kFirst = std::chrono::minutes(1);
  constexpr int kMostDoublings = 4;
  const int doublings = std::clamp(losses + 1 - max_losses, 0, kMostDoublings);
  return kFirst * (std::int64_t{1} << doublings);
}

std::optional<TimePoint> expiry(const WorkTimeouts& timeouts,
                                TimePoint created_at,
                                bool was_claimed) {
  std::optional<TimePoint> due;
  if (timeouts.schedule_to_close > Duration::zero()) {
    due = add(created_at, timeouts.schedule_to_close);
  }
  if (!was_claimed && timeouts.schedule_to_start > Duration::zero()) {
    const TimePoint start_by = add(created_at, timeouts.schedule_to_start);
    due = due ? std::min(*due, start_by) : start_by;
  }
  return due;
}

}  // namespace perdure::rules
