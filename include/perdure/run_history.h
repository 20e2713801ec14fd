#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <perdure/failure.h>
#include <perdure/time.h>

/// What a run decided and learned.
namespace perdure {

/// One event of a history. Which fields a kind uses stands in docs/storage-format.md; the others
/// are empty.
struct RunEvent {
  std::int64_t id = 0;      ///< 1, 2, 3 .. without gaps
  std::string kind;         ///< as in "activity_scheduled"
  std::int64_t source = 0;  ///< the event that this one answers; 0 = none
  std::string name;
  std::string payload;  ///< JSON text, or empty
  std::string text;
  std::int64_t number = 0;
  Failure failure;
  TimePoint at{};

  bool operator==(const RunEvent&) const = default;
};

/// Which part of a history.
struct HistoryOptions {
  std::int64_t execution = 0;  ///< 0: the current one
  std::int64_t after = 0;      ///< events behind this one: the last of the page before
  std::size_t limit = 1'000;   ///< of events, 1 to 100,000
};

struct HistoryEvents {
  std::int64_t execution = 1;  ///< whose events they are
  std::vector<RunEvent> events;
  bool more = false;  ///< ask again, after the last one
};

}  // namespace perdure
