#pragma once

/// What a handler is told when nobody gave a reason: the texts of `cancel_reason()`.
namespace perdure {

inline constexpr const char* kRunCanceled = "the run was canceled";
inline constexpr const char* kRunTerminated = "the run was terminated";
inline constexpr const char* kRunDeleted = "the run was deleted";
inline constexpr const char* kRunEnded = "the run has ended";
inline constexpr const char* kCallTimedOut = "the time of the call is over";
inline constexpr const char* kCallPoisoned = "the claim was lost too often: the call has failed";
inline constexpr const char* kClaimGone =
    "the claim is gone: the call was given up, or it was given to another worker";
inline constexpr const char* kCallGivenUp = "the orchestration gave the call up";
inline constexpr const char* kRunReplaced = "replaced by a new start";

}  // namespace perdure
