#pragma once

#include <memory>
#include <vector>

#include <perdure/detail/handler_table.h>

#include "base/random.h"
#include "provider/orchestration_requests.h"
#include "replay/execution.h"

namespace perdure::runtime {

/// The frames of the execution of `item` by `main`, run through `history`; `had_turn` says whether
/// it is what committed turns recorded. Without `main`: of one that is ended without its code.
/// `main` and `random` must outlive them.
std::unique_ptr<replay::Execution> fresh_frames(const OrchestrationItem& item,
                                                const detail::OrchestrationHandler* main,
                                                const replay::ExecutionOptions& limits,
                                                Random& random,
                                                std::vector<HistoryEvent> history,
                                                bool had_turn);

}  // namespace perdure::runtime
