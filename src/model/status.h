#pragma once

#include <span>

#include <perdure/options.h>
#include <perdure/status.h>

#include "model/codes.h"

/// Statuses of an execution and the one table of allowed transitions. Constraints of the schema,
/// the documents and the tests come from it.
namespace perdure {

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

/// True when the table lists it, or when `from == to` and not terminal.
bool is_allowed(ExecutionStatus from, ExecutionStatus to);

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
