#pragma once

#include <optional>
#include <vector>

#include "model/event.h"

namespace perdure::replay {

/// The last event that the code of a run took part in, when its history says that the run was wound
/// down without it; nullopt for all other histories. Code that comes back cannot be run behind that
/// event: it would see a past that it did not make.
std::optional<EventId> wound_down_after(const std::vector<HistoryEvent>& history);

}  // namespace perdure::replay
