#include "replayer/recorded_history.h"

#include <utility>

namespace perdure::replayer {

RecordedHistory recorded_history(const InstanceInfo& run,
                                 const ExecutionInfo& execution,
                                 std::vector<HistoryEvent> events) {
  RecordedHistory history;
  history.instance_id = run.id;
  history.execution = execution.execution;
  history.name = run.name;
  history.version = run.version;
  history.queue = run.queue;
  history.had_turn = execution.last_turn.serial != 0;
  if (!events.empty()) {
    // An id that was used again may have been another orchestration before.
    history.name = events.front().name;
    if (!events.front().text.empty()) history.version = events.front().text;
  }
  history.events = std::move(events);
  return history;
}

}  // namespace perdure::replayer
