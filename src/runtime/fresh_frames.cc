#include "runtime/fresh_frames.h"

#include <utility>

namespace perdure::runtime {

std::unique_ptr<replay::Execution> fresh_frames(const OrchestrationItem& item,
                                                const detail::OrchestrationHandler& main,
                                                const DispatcherOptions& options,
                                                Random& random,
                                                std::vector<HistoryEvent> history,
                                                bool had_turn) {
  auto frames = std::make_unique<replay::Execution>(
      replay::ExecutionSpec{item.id, item.execution, item.name, main.version, item.queue},
      main,
      replay::ExecutionOptions{options.arguments, options.max_payload_bytes},
      random);
  frames->replay(std::move(history), had_turn);
  return frames;
}

}  // namespace perdure::runtime
