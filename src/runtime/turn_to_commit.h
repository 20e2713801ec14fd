#pragma once

#include <string>

#include "provider/orchestration_requests.h"
#include "provider/turn_commit.h"
#include "replay/turn_decisions.h"
#include "runtime/step_options.h"

namespace perdure::runtime {

/// The commit of what a turn of `item` decided. `version` is that of the code that ran it; it
/// settles the version of a run that has none.
TurnCommit to_commit(const OrchestrationItem& item,
                     const std::string& version,
                     replay::TurnDecisions decisions,
                     const DispatcherOptions& options);

}  // namespace perdure::runtime
