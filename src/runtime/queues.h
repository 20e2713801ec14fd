#pragma once

#include <vector>

#include <perdure/runtime_options.h>

namespace perdure::runtime {

/// The queues that a runtime serves, with their limits: `workers`, or "default".
std::vector<WorkerSettings> served_queues(const RuntimeOptions& options);

}  // namespace perdure::runtime
