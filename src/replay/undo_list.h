#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <perdure/options.h>

#include "model/event.h"
#include "model/work_item.h"

namespace perdure::replay {

/// What the event `undo_owed` keeps of the options of an undo, so that it can be scheduled from
/// history alone.
std::string encode_undo_policy(const UndoOptions& options);
/// The work row of an undo; nullopt when the text is not one that `encode_undo_policy` gave.
std::optional<NewWork> decode_undo_policy(std::string_view text);

/// The undos that a run owes: one for each call made with `undo_with`, in the order of the calls.
class UndoList {
 public:
  enum class State : std::uint8_t {
    kCalled,   ///< the call has no outcome yet
    kOwed,     ///< the call completed
    kNothing,  ///< the call did not complete: there is nothing to undo
    kRunning,
    kDone,
    kFailed,
  };
  struct Entry {
    EventId call;
    std::string name;
    std::string queue;
    std::string policy;
    std::string result;  ///< of the call: the input of the undo
    State state = State::kCalled;
    EventId undo;  ///< the event that scheduled it
    Failure failure;
  };

  /// From an `undo_owed` event.
  void add(const HistoryEvent& owed);
  bool contains(EventId call) const;
  void call_completed(EventId call, const std::string& result);
  void call_ended_otherwise(EventId call);

  /// True while the outcome of a call with an undo is not known.
  bool waits_for_calls() const { return called_ > 0; }
  /// The next to run, the newest call first; null when none is left.
  const Entry* next();
  /// That one runs, scheduled by the event `undo`. Requires: none runs.
  void begin_next(EventId undo);
  /// The one that runs; null when none does.
  const Entry* running() const;
  /// It has ended: done, or failed with `failure`. Requires: one runs.
  void end_running(State state, Failure failure);
  /// The first that failed for good; null when none did.
  const Entry* failed() const;
  /// True when one is owed, runs or may become owed.
  bool has_owed() const;

  /// Memory of the entries with their names and results, near enough.
  std::size_t bytes() const { return bytes_; }

 private:
  Entry* find(EventId call);

  std::vector<Entry> entries_;
  std::size_t called_ = 0;  // entries without an outcome
  std::size_t above_ = 0;   // no entry from here on is owed
  bool runs_ = false;       // the entry right below above_
  std::size_t bytes_ = 0;
};

}  // namespace perdure::replay
