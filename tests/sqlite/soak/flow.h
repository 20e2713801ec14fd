#pragma once

#include <string>
#include <vector>

#include "tests/sqlite/crash/world.h"
#include "tests/sqlite/soak/ledger.h"

/// The runs of the kill loop: what they are called and what their turns do.
namespace perdure::sqlite::soak {

inline constexpr char kSteps = 's';     ///< a timer and some rounds of activities
inline constexpr char kGather = 'g';    ///< waits for `kGathered` events
inline constexpr char kParent = 'p';    ///< waits for a child of steps
inline constexpr char kCanceled = 'x';  ///< waits until a client cancels it
inline constexpr int kGathered = 3;

/// Id of the run whose start has this number.
std::string run_id(char flavour, std::int64_t number);
char flavour_of(const std::string& id);

/// What a write leaves in the store for all to see: a payload, and the id of its request.
std::string trace(What what, std::int64_t number);
std::string request_id(What what, std::int64_t number);

/// First event of each turn, and its payload.
std::string turn_trace(const LockToken& lock);

/// The turn of whichever run this is.
crash::Turn next_turn(const OrchestrationItem& item,
                      const std::vector<HistoryEvent>& history,
                      TimePoint now);

}  // namespace perdure::sqlite::soak
