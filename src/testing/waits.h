#pragma once

#include <string>
#include <vector>

#include "model/event.h"

namespace perdure::testing {

/// What a run with this history waits for, for people: "event 'approved', a timer until ..".
std::string describe_waits(const std::vector<HistoryEvent>& history);

}  // namespace perdure::testing
