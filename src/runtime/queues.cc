#include "runtime/queues.h"

namespace perdure::runtime {

std::vector<WorkerSettings> served_queues(const RuntimeOptions& options) {
  if (!options.workers.empty()) return options.workers;
  WorkerSettings all;
  all.max_concurrent_orchestrations = options.max_concurrent_orchestrations;
  all.max_concurrent_activities = options.max_concurrent_activities;
  return {all};
}

}  // namespace perdure::runtime
