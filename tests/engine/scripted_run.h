#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <perdure/perdure.h>

#include "base/random.h"
#include "replay/execution.h"

namespace perdure::test {

/// A run without a store: the test says what comes from outside and looks at what is decided.
/// Plays the part of a store: keeps history, open work, timers, children. Evicts after every turn
/// unless told otherwise.
class ScriptedRun {
 public:
  ScriptedRun(const Registry& registry, std::string_view name, std::string input = "null");
  /// The next execution of a run that continued as new.
  ScriptedRun(const ScriptedRun& before, const NextExecution& next);

  /// One turn with these messages; EXPECTs that it has no mismatch.
  const replay::TurnDecisions& turn(std::vector<Message> messages);
  /// The same without that expectation; nothing is kept of a turn with a mismatch.
  replay::TurnResult try_turn(std::vector<Message> messages);

  const replay::TurnDecisions& start() { return turn({}); }
  const replay::TurnDecisions& complete(std::string_view activity, std::string result = "null");
  const replay::TurnDecisions& fail(std::string_view activity, Failure failure);
  const replay::TurnDecisions& fire(std::size_t nth = 0);
  const replay::TurnDecisions& raise(std::string name, std::string payload = "null");
  const replay::TurnDecisions& cancel(std::string reason = "stop");
  const replay::TurnDecisions& signal(std::string name, std::string payload = "null");
  const replay::TurnDecisions& update(std::string name,
                                      std::string payload = "null",
                                      std::string id = "u");
  const replay::TurnDecisions& query(std::string name,
                                     std::string payload = "null",
                                     std::string id = "q");

  // Messages, for turns with several.
  Message completed(EventId call, std::string result = "null") const;
  Message failed(EventId call, Failure failure) const;
  Message canceled_answer(EventId call) const;
  Message fired(EventId timer) const;
  Message raised(std::string name, std::string payload = "null") const;
  Message cancel_message(std::string reason = "stop") const;
  Message cleanup_deadline() const;
  Message drain_deadline() const;
  Message signal_message(std::string name, std::string payload = "null") const;
  Message update_message(std::string name,
                         std::string payload = "null",
                         std::string id = "u") const;
  Message query_message(std::string name, std::string payload = "null", std::string id = "q") const;
  Message child(EventId call, MessageKind kind, std::string payload = {}) const;

  void advance(Duration step) { now_ += step; }
  TimePoint now() const { return now_; }
  void keep_frames(bool keep) { keep_frames_ = keep; }
  /// Runs the rest with other code.
  void deploy(const Registry& registry) {
    registry_ = registry;
    has_code_ = true;
    live_.reset();
  }
  /// Its code is not registered any more: turns wind it down.
  void lose_code() {
    has_code_ = false;
    live_.reset();
  }
  /// What a client's commit writes behind the turns.
  void write_end(EventKind kind, std::string text);
  void use_version(std::string version) { version_ = std::move(version); }
  void set_arguments(replay::ArgumentCheck check) { options_.arguments = check; }
  void set_max_payload(std::size_t bytes) { options_.max_payload_bytes = bytes; }

  /// Open calls of an activity, oldest first.
  std::vector<EventId> open_calls(std::string_view activity) const;
  EventId open_call(std::string_view activity) const;  ///< the oldest; 0 when none is
  std::vector<EventId> open_timers() const;
  const std::map<std::int64_t, NewWork>& work() const { return work_; }
  const std::map<std::int64_t, NewChild>& children() const { return children_; }
  const std::vector<HistoryEvent>& history() const { return history_; }
  std::vector<EventKind> kinds() const;
  /// An event in short: "activity_scheduled charge", "activity_completed of 2".
  static std::string line(const HistoryEvent& event);
  /// The history behind event `after`, in short.
  std::vector<std::string> lines(std::int64_t after = 0) const;
  /// True when today's code makes of the whole history what the turns made of it.
  bool replays();

  ExecutionStatus status() const { return status_; }
  const std::string& output() const { return output_; }
  const Failure& failure() const { return failure_; }
  const std::string& custom_status() const { return custom_status_; }
  const std::optional<NextExecution>& next() const { return last_.next; }
  const std::vector<std::string>& log() const { return log_; }
  /// Those lines of the log that are warnings.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// What the last turn decided.
  const replay::TurnDecisions& last() const { return last_; }
  /// Its replies in short: "accepted u", "answered q: 5", "refused u: bad_input".
  std::vector<std::string> replies() const;

 private:
  replay::Execution& execution();
  void keep(const replay::TurnDecisions& decisions);

  Registry registry_;
  std::string name_;
  std::string version_;
  replay::ExecutionOptions options_;
  SeededRandom random_{7};
  TimePoint now_ = TimePoint{std::chrono::hours(500'000)};
  std::int64_t execution_ = 1;
  bool keep_frames_ = false;
  bool had_turn_ = false;
  bool has_code_ = true;
  std::unique_ptr<replay::Execution> live_;
  std::vector<HistoryEvent> history_;
  std::map<std::int64_t, NewWork> work_;
  std::map<std::int64_t, NewTimer> timers_;
  std::map<std::int64_t, NewChild> children_;
  ExecutionStatus status_ = ExecutionStatus::kRunning;
  std::string output_;
  Failure failure_;
  std::string custom_status_;
  std::vector<std::string> log_;
  std::vector<std::string> warnings_;
  replay::TurnDecisions last_;
};

/// A registry with one orchestration, "demo".
template <class F>
Registry demo(F main, std::string_view version = {}) {
  using Shape = detail::MainShape<decltype(detail::as_function(main))>;
  Registry registry;
  if constexpr (std::is_void_v<typename Shape::Input>) {
    registry.add(Orchestration<typename Shape::Output()>("demo"), main, version);
  } else {
    registry.add(
        Orchestration<typename Shape::Output(typename Shape::Input)>("demo"), main, version);
  }
  return registry;
}

/// Runs a script on "demo" twice, with frames evicted after every turn and with frames kept, and
/// EXPECTs the same history and that it replays.
void both_ways(const Registry& registry, const std::function<void(ScriptedRun&)>& script);
void both_ways(const Registry& registry,
               const std::string& input,
               const std::function<void(ScriptedRun&)>& script);

inline constexpr Activity<int(int)> twice{"twice"};
inline constexpr Activity<int(int)> thrice{"thrice"};
inline constexpr Activity<void(int)> undo_twice{"undo_twice"};
inline constexpr Activity<void(int)> undo_thrice{"undo_thrice"};
inline constexpr Activity<void()> ping{"ping"};
inline constexpr Event<int> number{"number"};
inline constexpr Event<int> other{"other"};
inline constexpr Orchestration<int(int)> helper{"helper"};

}  // namespace perdure::test
