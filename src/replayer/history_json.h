#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"
#include "model/ids.h"

/// The history of one execution as JSON text: docs/history-json.md. A format for people and for
/// files beside a program's tests; it does not depend on the schema of a store.
namespace perdure::replayer {

struct RecordedHistory {
  std::string instance_id;
  ExecutionNo execution{1};
  std::string name;  ///< of the orchestration
  std::string version;
  std::string queue;
  bool had_turn = true;  ///< false: the code has not seen the events yet
  std::vector<HistoryEvent> events;

  bool operator==(const RecordedHistory&) const = default;
};

/// The text; `from_history_json` gives back the same value. InvalidArgument when a text of it is
/// not UTF-8.
std::string to_history_json(const RecordedHistory& history);

/// InvalidArgument, naming the event and the field, for anything that `to_history_json` would not
/// write: a missing, unknown or mistyped field, an unknown kind, a gap in the ids.
RecordedHistory from_history_json(std::string_view text);

}  // namespace perdure::replayer
