#pragma once

#include <cstddef>

#include "provider/orchestration_requests.h"
#include "provider/turn_commit.h"

/// What the turns of the provider bench write. Each of them answers one message and makes one
/// activity, so that its rows are those of the limit.
namespace perdure::bench {

inline constexpr const char* kQueue = "default";
inline constexpr const char* kOrchestration = "bench";
inline constexpr const char* kActivity = "charge";

inline constexpr std::size_t kEventsPerTurn = 3;
inline constexpr std::size_t kEventsOfLastTurn = 2;

/// A turn of the middle: 3 events, 1 work row.
TurnCommit make_turn(const OrchestrationItem& item);

/// The turn that completes the run: 2 events.
TurnCommit make_last_turn(const OrchestrationItem& item);

}  // namespace perdure::bench
