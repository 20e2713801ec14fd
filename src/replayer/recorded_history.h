#pragma once

#include <vector>

#include "provider/read_requests.h"
#include "replayer/history_json.h"

namespace perdure::replayer {

/// The history of an execution of `run` as a store gave it: `events` up to its last event. The
/// version is the one it was started with; for a run started without one, the one that it is on
/// now.
RecordedHistory recorded_history(const InstanceInfo& run,
                                 const ExecutionInfo& execution,
                                 std::vector<HistoryEvent> events);

}  // namespace perdure::replayer
