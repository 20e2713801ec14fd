#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/event.h"
#include "replay/mismatch.h"
#include "replay/on_demand.h"

namespace perdure::replay {

/// What is done about a command whose arguments differ from history.
enum class ArgumentCheck : std::uint8_t { kOff, kWarn, kStrict };

/// The history of one execution while it is replayed, and the events that a turn adds to it.
/// Commands are matched one by one in the order in which the code makes them.
/// One thread. Holds no history once it has been replayed.
class Journal {
 public:
  explicit Journal(ArgumentCheck arguments) : arguments_(arguments) {}

  /// Begins a replay. Requires: nothing was loaded or recorded before.
  void load(std::vector<HistoryEvent> history);

  /// The next event of the replay, or the one so far ahead of it; null when all are used up.
  const HistoryEvent* peek(std::size_t ahead = 0) const;
  HistoryEvent take();
  /// Ends the replay: from now on commands are appended.
  void go_live();
  bool is_live() const { return live_; }

  /// A command of the code: matched with the next event of the replay, or appended with time `at`.
  /// The event as it stands in history, until the next call here; null after a mismatch, which
  /// `mismatch()` tells.
  const HistoryEvent* record(HistoryEvent command, TimePoint at);
  /// An event from outside, with its time.
  const HistoryEvent& append(HistoryEvent input);

  /// The id that the next command or event gets.
  EventId next_id() const { return EventId{last_.value + 1}; }
  EventId last_id() const { return last_; }

  /// The events that were appended since the last call.
  std::vector<HistoryEvent> take_appended();
  std::vector<std::string> take_warnings();

  const std::optional<Mismatch>& mismatch() const { return findings_.peek().mismatch; }
  void set_mismatch(Mismatch mismatch);

 private:
  struct Loaded {
    std::vector<HistoryEvent> history;
    std::size_t cursor = 0;  // the next event
  };
  /// What a replay found; most find nothing.
  struct Findings {
    std::vector<std::string> warnings;
    std::optional<Mismatch> mismatch;
  };

  const HistoryEvent* match(const HistoryEvent& command);

  ArgumentCheck arguments_;
  bool live_ = false;
  OnDemand<Loaded> loaded_;
  EventId last_;
  std::vector<HistoryEvent> appended_;
  OnDemand<Findings> findings_;
};

}  // namespace perdure::replay
