#include "runtime/fresh_frames.h"

#include <utility>

namespace perdure::runtime {

std::unique_ptr<replay::Execution> fresh_frames(const OrchestrationItem& item,
                                                const detail::OrchestrationHandler* main,
                                                const replay::ExecutionOptions& limits,
                                                Random& random,
                                                std::vector<HistoryEvent> history,
                                                bool had_turn) {
  replay::ExecutionSpec spec{item.id,
                             item.execution,
                             item.name,
                             main == nullptr ? item.version : main->version,
                             item.queue};
  auto frames = main == nullptr
                    ? std::make_unique<replay::Execution>(std::move(spec), limits, random)
                    : std::make_unique<replay::Execution>(std::move(spec), *main, limits, random);
  frames->replay(std::move(history), had_turn);
  return frames;
}

}  // namespace perdure::runtime
