#include "testing/waits.h"

#include <map>

namespace perdure::testing {

std::string describe_waits(const std::vector<HistoryEvent>& history) {
  std::map<std::int64_t, std::string> open;
  std::map<std::string, int> unread;
  for (const HistoryEvent& event : history) {
    // These tell more of a call that is open: what undoes it, how long it may take.
    const bool adds = event.kind == EventKind::kUndoOwed || event.kind == EventKind::kTimerCreated;
    if (!adds) open.erase(event.source.value);
    switch (event.kind) {
      case EventKind::kActivityScheduled:
      case EventKind::kUndoScheduled:
        open[event.id.value] = "activity '" + event.name + "'";
        break;
      case EventKind::kChildScheduled:
        open[event.id.value] = "child '" + event.text + "'";
        break;
      case EventKind::kTimerCreated:
        open[event.id.value] = "a timer until " + to_string(time_from_micros(event.number));
        break;
      case EventKind::kEventSubscribed:
        if (unread[event.name] > 0) {
          --unread[event.name];
        } else {
          open[event.id.value] = "event '" + event.name + "'";
        }
        break;
      case EventKind::kEventReceived: {
        bool taken = false;
        for (auto each = open.begin(); each != open.end() && !taken; ++each) {
          if (each->second != "event '" + event.name + "'") continue;
          open.erase(each);
          taken = true;
          break;
        }
        if (!taken) ++unread[event.name];
        break;
      }
      default:
        break;
    }
  }
  std::string text;
  for (const auto& [id, each] : open) text += (text.empty() ? "" : ", ") + each;
  return text.empty() ? "nothing that its history shows" : text;
}

}  // namespace perdure::testing
