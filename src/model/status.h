#pragma once

#include <span>

#include "model/codes.h"

/// Statuses of an execution and the one table of allowed transitions. Constraints of the schema,
/// the documents and the tests come from it.
namespace perdure {

/// Stored. Never renumber.
enum class ExecutionStatus : std::uint8_t {
  kRunning = 1,
  kCompleting = 2,  ///< main has returned, accepted handlers finish
  kFailing = 3,     ///< main has failed, undo runs
  kCanceling = 4,   ///< a cancel is stored; cleanup runs
  kCompleted = 5,
  kFailed = 6,
  kCanceled = 7,
  kTerminated = 8,
  kContinuedAsNew = 9,
};

template <>
struct CodeTable<ExecutionStatus> {
  static std::span<const CodeRow<ExecutionStatus>> rows();
};

struct StatusTransition {
  ExecutionStatus from;
  ExecutionStatus to;
};

/// Every allowed change, by whomever: a turn, a cancel, a terminate. Staying is always allowed for
/// a status that is not terminal and is not listed.
std::span<const StatusTransition> status_transitions();

/// True for completed, failed, canceled, terminated, continued_as_new: nothing follows.
bool is_terminal(ExecutionStatus status);

/// True when the table lists it, or when `from == to` and not terminal.
bool is_allowed(ExecutionStatus from, ExecutionStatus to);

/// What becomes of a child when its parent ends, whatever the way. Stored.
enum class ClosePolicy : std::uint8_t {
  kCancel = 1,   ///< canceled in the commit that ends the parent
  kAbandon = 2,  ///< goes on by itself
};

template <>
struct CodeTable<ClosePolicy> {
  static std::span<const CodeRow<ClosePolicy>> rows();
};

/// Why a running execution does not move; shown beside the status. Stored.
enum class BlockedReason : std::uint8_t {
  kNone = 0,
  kNondeterminism = 1,
  kDeadlock = 2,
  kCorrupt = 3,
  kStoreError = 4,
  kUnserved = 5,  ///< no worker has the name and version registered
};

template <>
struct CodeTable<BlockedReason> {
  static std::span<const CodeRow<BlockedReason>> rows();
};

}  // namespace perdure
