#pragma once

#include <map>
#include <optional>

#include "tests/sqlite/crash/world.h"

namespace perdure::sqlite::crash {

/// Starts that are committed as one group, by a store that `poll_once` drives.
class GroupOfStarts {
 public:
  void add(const std::string& id, const std::string& input) {
    StartOrchestration start = start_request(id, input);
    start.request_id = "start " + id;
    starts_.push_back(std::move(start));
  }

  /// Writes them, and answers how each of them ended.
  std::map<std::string, std::optional<ErrorCode>> write(Provider& store) const {
    std::map<std::string, std::optional<ErrorCode>> answers;
    for (const StartOrchestration& start : starts_) {
      store.submit(start,
                   [&answers, id = start.id](Result<OrchestrationStarted> started) {
                     answers[id] = started.ok() ? std::nullopt : std::optional(started.code());
                   },
                   {});
    }
    while (store.poll_once()) {
    }
    return answers;
  }

 private:
  std::vector<StartOrchestration> starts_;
};

}  // namespace perdure::sqlite::crash
