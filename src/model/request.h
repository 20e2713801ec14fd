#pragma once

#include "model/codes.h"

namespace perdure {

/// A changing call of a client: what a stored request id belongs to, and (cancel and terminate)
/// what a stored cascade carries on. Stored. Never renumber.
enum class RequestKind : std::uint8_t {
  kStart = 1,
  kRaiseEvent = 2,
  kCancel = 3,
  kTerminate = 4,
  kDelete = 5,
  kDeleteEnded = 6,  ///< in bulk
  kPrune = 7,
};

template <>
struct CodeTable<RequestKind> {
  static std::span<const CodeRow<RequestKind>> rows();
};

/// What a row of the change feed tells. Stored. Never renumber.
enum class ChangeKind : std::uint8_t {
  kStatus = 1,   ///< an execution has got a new status
  kDeleted = 2,  ///< the instance was deleted; status: its last one
};

template <>
struct CodeTable<ChangeKind> {
  static std::span<const CodeRow<ChangeKind>> rows();
};

}  // namespace perdure
