#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/message.h"
#include "replay/turn_decisions.h"

namespace perdure::test {

/// What a store holds for one execution, and the rules that every turn must keep. Reads decisions
/// alone: it knows nothing of the code that made them.
class ModelStore {
 public:
  struct Work {
    NewWork row;
    bool marked = false;  ///< its end will be told: canceled, or what it still became
  };
  struct Child {
    NewChild row;
    bool canceled = false;
  };

  /// `history`: the start and what was carried over.
  explicit ModelStore(std::vector<HistoryEvent> history);

  /// A client's cancel, before its message is delivered.
  void cancel();
  /// Stores a turn. The first rule that it breaks; nullopt when it keeps all.
  std::optional<std::string> commit(const replay::TurnDecisions& decisions);

  const std::vector<HistoryEvent>& history() const { return history_; }
  const std::map<std::int64_t, Work>& work() const { return work_; }
  const std::map<std::int64_t, NewTimer>& timers() const { return timers_; }
  const std::map<std::int64_t, Child>& children() const { return children_; }
  /// Names of events that somebody waits for.
  std::vector<std::string> open_waits() const;
  ExecutionStatus status() const { return status_; }
  bool canceled() const { return canceled_; }
  bool draining() const { return draining_; }
  bool has_ended() const { return ended_; }

 private:
  struct Line {
    int waits = 0;
    int events = 0;
  };
  enum class Call : std::uint8_t { kOpen, kDropped, kAnswered };

  std::optional<std::string> check_event(const HistoryEvent& event);
  std::optional<std::string> check_answer(const HistoryEvent& event);
  std::optional<std::string> check_message(const HistoryEvent& event);
  std::optional<std::string> check_replies(const replay::TurnDecisions& decisions);
  std::optional<std::string> check_rows(const replay::TurnDecisions& decisions);
  std::optional<std::string> check_end(const replay::TurnDecisions& decisions);
  std::optional<std::string> check_undos() const;
  void take_rows(const replay::TurnDecisions& decisions);
  void drop_rows(const replay::TurnDecisions& decisions);
  bool something_is_open() const;

  std::vector<HistoryEvent> history_;
  std::map<std::int64_t, Work> work_;
  std::map<std::int64_t, NewTimer> timers_;
  std::map<std::int64_t, Child> children_;
  std::map<std::string, Line> lines_;
  std::map<std::int64_t, Call> calls_;
  std::map<std::int64_t, std::string> waits_;    // name by event
  std::vector<std::int64_t> owed_;               // calls with an undo, in order
  std::set<std::int64_t> completed_;             // calls
  std::vector<std::int64_t> undone_;             // calls whose undo was scheduled, in order
  std::set<std::int64_t> running_undos_;         // scheduling events
  std::map<std::int64_t, std::string> updates_;  // id of those that run, by event
  std::map<std::string, RequestStage> told_;     // what was replied to an update
  std::set<std::int64_t> kept_signals_;          // that nobody has taken
  bool main_began_ = false;
  bool drain_begins_ = false;  // by the turn that is committed
  bool draining_ = false;
  ExecutionStatus status_ = ExecutionStatus::kRunning;
  bool canceled_ = false;
  bool cancel_seen_ = false;
  bool ended_ = false;
};

/// Both decide the same, down to the times; the first difference otherwise.
std::optional<std::string> difference(const replay::TurnDecisions& a,
                                      const replay::TurnDecisions& b);
/// One event for people, all its fields.
std::string to_line(const HistoryEvent& event);

}  // namespace perdure::test
