#include "runtime/histories.h"

#include <iterator>
#include <string>
#include <utility>

namespace perdure::runtime {

namespace {

struct Reading {
  WantedHistory wanted;
  std::vector<HistoryEvent> events;
  std::optional<Error> problem;
  bool done = false;
};

void take_page(Reading& reading, Result<HistoryPage> answer) {
  if (!answer.ok()) {
    reading.problem = std::move(answer).error();
    reading.done = true;
    return;
  }
  HistoryPage page = std::move(answer).value();
  reading.done = !page.more;
  // Locked instances get no events but by their turn; a cancel or a terminate of a client may have
  // come in between, and belongs to the next fetch.
  for (HistoryEvent& event : page.events) {
    if (event.id > reading.wanted.last_event) {
      reading.done = true;
      break;
    }
    reading.events.push_back(std::move(event));
  }
  if (!reading.done) return;
  const std::int64_t got = reading.events.empty() ? 0 : reading.events.back().id.value;
  if (got == reading.wanted.last_event.value) return;
  reading.problem =
      corrupt("table history, instance key " + std::to_string(reading.wanted.instance.value) +
              ", execution " + std::to_string(reading.wanted.execution.value) +
              ": it ends at event " + std::to_string(got) + ", but the execution has " +
              std::to_string(reading.wanted.last_event.value));
}

}  // namespace

Batch<std::vector<HistoryEvent>> read_histories(Provider& provider,
                                                const std::vector<WantedHistory>& wanted,
                                                std::size_t page) {
  std::vector<Reading> readings;
  readings.reserve(wanted.size());
  for (const WantedHistory& each : wanted) readings.push_back({each, {}, {}, false});
  for (;;) {
    std::vector<HistoryQuery> queries;
    std::vector<Reading*> open;
    for (Reading& reading : readings) {
      if (reading.done) continue;
      const EventId after = reading.events.empty() ? EventId{} : reading.events.back().id;
      queries.push_back({reading.wanted.instance, reading.wanted.execution, after, page});
      open.push_back(&reading);
    }
    if (open.empty()) break;
    Result<Batch<HistoryPage>> answer = provider.read_history(queries);
    for (std::size_t i = 0; i < open.size(); ++i) {
      take_page(*open[i],
                answer.ok() ? std::move((*answer)[i]) : Result<HistoryPage>(answer.error()));
    }
  }
  Batch<std::vector<HistoryEvent>> histories;
  histories.reserve(readings.size());
  for (Reading& reading : readings) {
    if (reading.problem) {
      histories.emplace_back(std::move(*reading.problem));
    } else {
      histories.emplace_back(std::move(reading.events));
    }
  }
  return histories;
}

}  // namespace perdure::runtime
