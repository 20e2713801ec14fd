#include "model/status.h"

#include <algorithm>
#include <array>

namespace perdure {

namespace {

using enum ExecutionStatus;

constexpr auto kStatuses = std::to_array<CodeRow<ExecutionStatus>>({
    {kRunning, "running"},
    {kCompleting, "completing"},
    {kFailing, "failing"},
    {kCanceling, "canceling"},
    {kCompleted, "completed"},
    {kFailed, "failed"},
    {kCanceled, "canceled"},
    {kTerminated, "terminated"},
    {kContinuedAsNew, "continued_as_new"},
});

constexpr auto kTransitions = std::to_array<StatusTransition>({
    {kRunning, kCompleting},
    {kRunning, kFailing},
    {kRunning, kCanceling},
    {kRunning, kCompleted},
    {kRunning, kFailed},
    {kRunning, kCanceled},  // a cancel before the first turn: there is nothing to clean up
    {kRunning, kTerminated},
    {kRunning, kContinuedAsNew},

    {kCompleting, kFailing},
    {kCompleting, kCanceling},
    {kCompleting, kCompleted},
    {kCompleting, kFailed},
    {kCompleting, kTerminated},
    {kCompleting, kContinuedAsNew},

    {kFailing, kCanceling},
    {kFailing, kFailed},
    {kFailing, kTerminated},

    // Whoever was told that the cancel is stored may rely on it: no other end can overtake it.
    {kCanceling, kCanceled},
    {kCanceling, kTerminated},
});

constexpr auto kClosePolicies = std::to_array<CodeRow<ClosePolicy>>({
    {ClosePolicy::kCancel, "cancel"},
    {ClosePolicy::kAbandon, "abandon"},
});

constexpr auto kBlockedReasons = std::to_array<CodeRow<BlockedReason>>({
    {BlockedReason::kNone, "none"},
    {BlockedReason::kNondeterminism, "nondeterminism"},
    {BlockedReason::kDeadlock, "deadlock"},
    {BlockedReason::kCorrupt, "corrupt"},
    {BlockedReason::kStoreError, "store_error"},
    {BlockedReason::kUnserved, "unserved"},
});

}  // namespace

std::span<const CodeRow<ExecutionStatus>> CodeTable<ExecutionStatus>::rows() {
  return kStatuses;
}

std::span<const CodeRow<ClosePolicy>> CodeTable<ClosePolicy>::rows() {
  return kClosePolicies;
}

std::span<const CodeRow<BlockedReason>> CodeTable<BlockedReason>::rows() {
  return kBlockedReasons;
}

std::span<const StatusTransition> status_transitions() {
  return kTransitions;
}

std::string_view to_string(ExecutionStatus status) {
  return to_string<ExecutionStatus>(status);
}

bool is_terminal(ExecutionStatus status) {
  switch (status) {
    case kCompleted:
    case kFailed:
    case kCanceled:
    case kTerminated:
    case kContinuedAsNew:
      return true;
    case kRunning:
    case kCompleting:
    case kFailing:
    case kCanceling:
      return false;
  }
  return false;
}

bool is_allowed(ExecutionStatus from, ExecutionStatus to) {
  if (from == to) return from_code<ExecutionStatus>(code(from)).has_value() && !is_terminal(from);
  return std::any_of(
      kTransitions.begin(), kTransitions.end(), [from, to](const StatusTransition& listed) {
        return listed.from == from && listed.to == to;
      });
}

}  // namespace perdure
