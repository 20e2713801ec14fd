#pragma once

#include <set>
#include <vector>

#include "tests/sqlite/crash/world.h"

namespace perdure::sqlite::crash {

/// Where the calls of an execution stand, by its history.
struct Calls {
  explicit Calls(const std::vector<HistoryEvent>& history) {
    for (const HistoryEvent& event : history) see(event);
  }

  void see(const HistoryEvent& event);

  std::set<EventId> open;
  std::set<EventId> dropped;
};

/// Adds the event of each message that was fetched with the turn, answers of dropped calls left
/// out.
void take_in_messages(Turn& turn, Calls& calls);

}  // namespace perdure::sqlite::crash
