#pragma once

#include "model/codes.h"

namespace perdure {

/// A call of a client: what a stored request id belongs to, and (cancel and terminate) what a stored
/// cascade carries on. Stored. Never renumber.
enum class RequestKind : std::uint8_t {
  kStart = 1,
  kRaiseEvent = 2,
  kCancel = 3,
  kTerminate = 4,
  kDelete = 5,
  kDeleteEnded = 6,  ///< in bulk
  kPrune = 7,
  kSignal = 8,
  kUpdate = 9,  ///< a request to a run: its row holds the reply
  kQuery = 10,  ///< likewise
};

template <>
struct CodeTable<RequestKind> {
  static std::span<const CodeRow<RequestKind>> rows();
};

/// How far a request to a run (an update, a query) has come. Stored. Never renumber.
enum class RequestStage : std::uint8_t {
  kWaiting = 1,   ///< no turn has taken it yet
  kAccepted = 2,  ///< an update that is in history; its handler runs
  kAnswered = 3,  ///< its reply is there
  kRefused = 4,   ///< not taken by the engine, the failure says why; no trace in history
  kFailed = 5,    ///< taken, and its handler failed
  kRejected = 6,  ///< not taken, since its validator threw the failure; no trace in history
  kCut = 7,       ///< taken, and the run ended before its handler was done
};

template <>
struct CodeTable<RequestStage> {
  static std::span<const CodeRow<RequestStage>> rows();
};

/// True when nothing more becomes of it.
constexpr bool is_final(RequestStage stage) {
  return stage >= RequestStage::kAnswered;
}

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
