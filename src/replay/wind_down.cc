#include "replay/wind_down.h"

#include <algorithm>

namespace perdure::replay {

std::optional<EventId> wound_down_after(const std::vector<HistoryEvent>& history) {
  const auto found = std::find_if(history.begin(), history.end(), [](const HistoryEvent& event) {
    return event.kind == EventKind::kCleanupExpired && event.number != 0;
  });
  if (found == history.end()) return std::nullopt;
  return EventId{found->number};
}

}  // namespace perdure::replay
