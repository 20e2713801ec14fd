#include "tests/engine/model_store.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "model/status.h"
#include "replay/commands.h"
#include "tests/engine/random_orchestration.h"

namespace perdure::test {

namespace {

using Broken = std::optional<std::string>;

bool is_end(ExecutionStatus status) {
  return status >= ExecutionStatus::kCompleted;
}

bool is_drop(EventKind kind) {
  return kind == EventKind::kActivityDropped || kind == EventKind::kTimerDropped ||
         kind == EventKind::kEventDropped || kind == EventKind::kChildDropped;
}

bool is_shielded_name(const std::string& name) {
  return name.starts_with(kShieldedPrefix);
}

template <class Rows>
bool has_event(const std::vector<HistoryEvent>& events, const Rows& rows) {
  return std::all_of(rows.begin(), rows.end(), [&](const auto& row) {
    return std::any_of(events.begin(), events.end(), [&](const HistoryEvent& event) {
      return event.id == row.event;
    });
  });
}

}  // namespace

ModelStore::ModelStore(std::vector<HistoryEvent> history) : history_(std::move(history)) {
  for (const HistoryEvent& event : history_) {
    if (event.kind == EventKind::kEventReceived) ++lines_[event.name].events;
    if (event.kind == EventKind::kSignalReceived) kept_signals_.insert(event.id.value);
  }
}

void ModelStore::cancel() {
  canceled_ = true;
  status_ = ExecutionStatus::kCanceling;
  std::erase_if(work_, [](const auto& each) {
    return !each.second.row.shielded && each.second.row.on_cancel != OnCancel::kWait;
  });
  for (auto& [event, work] : work_) work.marked = work.marked || !work.row.shielded;
  std::erase_if(timers_, [](const auto& each) { return !each.second.shielded; });
  for (auto& [event, child] : children_) child.canceled = child.canceled || !child.row.shielded;
}

std::optional<std::string> ModelStore::commit(const replay::TurnDecisions& decisions) {
  if (ended_) return "a turn after the end";
  drain_begins_ = decisions.drain_at.has_value();
  for (const HistoryEvent& event : decisions.events) {
    if (const Broken broken = check_event(event)) return to_line(event) + ": " + *broken;
    history_.push_back(event);
  }
  if (const Broken broken = check_rows(decisions)) return broken;
  if (const Broken broken = check_replies(decisions)) return broken;
  take_rows(decisions);
  drop_rows(decisions);
  if (const Broken broken = check_end(decisions)) return broken;
  status_ = decisions.status;
  if (!ended_ && !something_is_open()) return "it has not ended and waits for nothing";
  return std::nullopt;
}

std::optional<std::string> ModelStore::check_event(const HistoryEvent& event) {
  if (event.id.value != history_.back().id.value + 1) return "a gap before it";
  if (event.at < history_.back().at) return "older than the one before it";
  if (is_terminal(history_.back().kind)) return "an event behind the terminal one";
  const bool is_call =
      event.kind == EventKind::kActivityScheduled || event.kind == EventKind::kChildScheduled ||
      event.kind == EventKind::kEventSubscribed || event.kind == EventKind::kDetachedStarted;
  if (is_call && cancel_seen_ && !is_shielded_name(event.name)) {
    return "a command after the cancel, outside a shield";
  }
  switch (event.kind) {
    case EventKind::kCancelRequested:
      if (cancel_seen_) return "a second cancel";
      cancel_seen_ = true;
      for (auto& [name, line] : lines_) {
        if (!is_shielded_name(name)) line.waits = std::min(line.waits, line.events);
      }
      return std::nullopt;
    case EventKind::kEventReceived:
      ++lines_[event.name].events;
      return std::nullopt;
    case EventKind::kEventSubscribed:
      ++lines_[event.name].waits;
      waits_[event.id.value] = event.name;
      break;
    case EventKind::kUndoOwed:
      owed_.push_back(event.source.value);
      return std::nullopt;
    case EventKind::kUndoScheduled:
      undone_.push_back(event.source.value);
      running_undos_.insert(event.id.value);
      return std::nullopt;
    case EventKind::kMainBegan:
    case EventKind::kSignalReceived:
    case EventKind::kUpdateAccepted:
    case EventKind::kUpdateCompleted:
    case EventKind::kUpdateFailed:
    case EventKind::kDrainExpired:
      return check_message(event);
    default:
      break;
  }
  if (is_call || event.kind == EventKind::kTimerCreated) {
    calls_[event.id.value] = Call::kOpen;
    return std::nullopt;
  }
  return event.source.value == 0 ? std::nullopt : check_answer(event);
}

/// What belongs to message handlers.
std::optional<std::string> ModelStore::check_message(const HistoryEvent& event) {
  switch (event.kind) {
    case EventKind::kMainBegan:
      if (std::exchange(main_began_, true)) return "main began before";
      break;
    case EventKind::kSignalReceived:
      if (event.number == 1) {
        kept_signals_.insert(event.id.value);
      } else if (event.source.value != 0 && kept_signals_.erase(event.source.value) == 0) {
        return "a signal that was not kept, or was taken before";
      }
      break;
    case EventKind::kUpdateAccepted:
      if (cancel_seen_ || draining_) return "an update when the run takes none";
      updates_.emplace(event.id.value, event.text);
      break;
    case EventKind::kDrainExpired:
      if (!draining_ && !drain_begins_) return "it does not drain";
      updates_.clear();
      break;
    default:
      if (updates_.erase(event.source.value) == 0) return "no such update runs";
      break;
  }
  return std::nullopt;
}

/// An update is told of its acceptance at most once, and of its end once.
std::optional<std::string> ModelStore::check_replies(const replay::TurnDecisions& decisions) {
  for (const Reply& reply : decisions.replies) {
    if (reply.kind != RequestKind::kUpdate) continue;
    const auto [told, first] = told_.emplace(reply.request, reply.stage);
    if (first) continue;
    if (is_final(told->second)) return "a second end of update " + reply.request;
    if (!is_final(reply.stage)) return "a second acceptance of update " + reply.request;
    told->second = reply.stage;
  }
  for (const HistoryEvent& event : decisions.events) {
    if (event.kind != EventKind::kUpdateAccepted) continue;
    const auto told = told_.find(event.text);
    if (told == told_.end()) return "nothing was said to update " + event.text;
    const bool runs = updates_.contains(event.id.value);
    if (runs == is_final(told->second)) return "the wrong word to update " + event.text;
  }
  draining_ = draining_ || drain_begins_;
  return std::nullopt;
}

/// An answer or a drop: of something that is open, and only one.
std::optional<std::string> ModelStore::check_answer(const HistoryEvent& event) {
  if (event.kind == EventKind::kUndoCompleted || event.kind == EventKind::kUndoFailed) {
    if (running_undos_.erase(event.source.value) == 0) return "no such undo runs";
    return std::nullopt;
  }
  const auto call = calls_.find(event.source.value);
  if (call == calls_.end()) return "of an unknown command";
  if (call->second == Call::kAnswered) return "of a command that was answered";
  if (is_drop(event.kind)) {
    if (call->second == Call::kDropped) return "dropped twice";
    call->second = Call::kDropped;
    const auto wait = waits_.find(event.source.value);
    if (wait != waits_.end()) --lines_[wait->second].waits;
    return std::nullopt;
  }
  const auto work = work_.find(event.source.value);
  const auto child = children_.find(event.source.value);
  const bool awaited = child != children_.end() ||
                       (work != work_.end() &&
                        (work->second.marked || work->second.row.on_cancel == OnCancel::kWait));
  if (call->second == Call::kDropped && !awaited) return "of a command that was given up";
  call->second = Call::kAnswered;
  if (event.kind == EventKind::kActivityCompleted) completed_.insert(event.source.value);
  work_.erase(event.source.value);
  timers_.erase(event.source.value);
  children_.erase(event.source.value);
  return std::nullopt;
}

std::optional<std::string> ModelStore::check_rows(const replay::TurnDecisions& decisions) {
  if (!has_event(decisions.events, decisions.work) ||
      !has_event(decisions.events, decisions.timers) ||
      !has_event(decisions.events, decisions.children)) {
    return "a row whose event is not in the commit";
  }
  const auto& events = decisions.events;
  const auto cancel = std::find_if(events.begin(), events.end(), [](const HistoryEvent& event) {
    return event.kind == EventKind::kCancelRequested;
  });
  if (!cancel_seen_) return std::nullopt;
  const EventId since = cancel == events.end() ? EventId{} : cancel->id;
  for (const NewWork& work : decisions.work) {
    if (work.event > since && !work.shielded) return "unshielded work after the cancel";
  }
  for (const NewTimer& timer : decisions.timers) {
    if (timer.event > since && !timer.shielded) return "an unshielded timer after the cancel";
  }
  for (const NewChild& child : decisions.children) {
    if (child.event > since && !child.shielded && !child.detached) {
      return "an unshielded child after the cancel";
    }
  }
  return std::nullopt;
}

void ModelStore::take_rows(const replay::TurnDecisions& decisions) {
  for (const NewWork& work : decisions.work) {
    if (calls_[work.event.value] != Call::kAnswered) work_[work.event.value] = {work};
  }
  for (const NewTimer& timer : decisions.timers) timers_[timer.event.value] = timer;
  for (const NewChild& child : decisions.children) {
    if (!child.detached) children_[child.event.value] = {child};
  }
}

void ModelStore::drop_rows(const replay::TurnDecisions& decisions) {
  for (const EventId id : decisions.canceled_work) {
    const auto row = work_.find(id.value);
    if (row == work_.end()) continue;
    if (row->second.row.on_cancel == OnCancel::kWait) {
      row->second.marked = true;
    } else {
      work_.erase(row);
    }
  }
  for (const EventId id : decisions.canceled_timers) timers_.erase(id.value);
  for (const EventId id : decisions.canceled_children) {
    const auto row = children_.find(id.value);
    if (row != children_.end()) row->second.canceled = true;
  }
}

std::optional<std::string> ModelStore::check_end(const replay::TurnDecisions& decisions) {
  if (!is_allowed(status_, decisions.status)) {
    return "from " + std::string(to_string(status_)) + " to " +
           std::string(to_string(decisions.status));
  }
  ended_ = is_end(decisions.status);
  if (ended_ != is_terminal(history_.back().kind)) return "terminal status and event do not agree";
  if (!ended_) return std::nullopt;
  if ((decisions.status == ExecutionStatus::kContinuedAsNew) != decisions.next.has_value()) {
    return "continued as new without a next execution, or the reverse";
  }
  const bool undoes = decisions.status == ExecutionStatus::kFailed ||
                      decisions.status == ExecutionStatus::kCanceled;
  if (!undoes) return undone_.empty() ? std::nullopt : Broken("undone although it completed");
  return check_undos();
}

std::optional<std::string> ModelStore::check_undos() const {
  if (!running_undos_.empty()) return "ended while an undo runs";
  std::vector<std::int64_t> expected;
  for (const std::int64_t call : owed_) {
    if (calls_.at(call) != Call::kAnswered) return "ended while a call with an undo is open";
    if (completed_.contains(call)) expected.push_back(call);
  }
  std::reverse(expected.begin(), expected.end());
  if (expected != undone_) return "the undos are not those of the completed calls, newest first";
  return std::nullopt;
}

bool ModelStore::something_is_open() const {
  return !work_.empty() || !timers_.empty() || !children_.empty() || !open_waits().empty();
}

std::vector<std::string> ModelStore::open_waits() const {
  std::vector<std::string> names;
  for (const auto& [name, line] : lines_) {
    if (line.waits > line.events) names.push_back(name);
  }
  return names;
}

std::string to_line(const HistoryEvent& event) {
  std::ostringstream out;
  out << event.id.value << ' ' << to_string(event.kind);
  if (event.source.value != 0) out << " of " << event.source.value;
  out << " '" << event.name << "' '" << event.payload << "' '" << event.text << "' " << event.number
      << " '" << event.failure.type << ": " << event.failure.message << "' at "
      << to_micros(event.at);
  return out.str();
}

std::optional<std::string> difference(const replay::TurnDecisions& a,
                                      const replay::TurnDecisions& b) {
  const std::size_t common = std::min(a.events.size(), b.events.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (a.events[i] != b.events[i]) {
      return to_line(a.events[i]) + "\n  against\n" + to_line(b.events[i]);
    }
  }
  if (a.events.size() != b.events.size()) {
    const auto& longer = a.events.size() > common ? a.events : b.events;
    return "only one has " + to_line(longer[common]);
  }
  const auto same_timer = [](const NewTimer& x, const NewTimer& y) {
    return x.event == y.event && x.due == y.due && x.shielded == y.shielded;
  };
  const auto same_child = [](const NewChild& x, const NewChild& y) {
    return x.event == y.event && x.id == y.id && x.name == y.name && x.input == y.input &&
           x.detached == y.detached && x.shielded == y.shielded && x.start_at == y.start_at &&
           x.deadline == y.deadline;
  };
  if (a.status != b.status) return "status";
  if (a.output != b.output || a.failure != b.failure) return "output or failure";
  if (a.custom_status != b.custom_status) return "custom status";
  if (a.work != b.work) return "work";
  if (a.canceled_work != b.canceled_work) return "canceled work";
  if (!std::equal(a.timers.begin(), a.timers.end(), b.timers.begin(), b.timers.end(), same_timer)) {
    return "timers";
  }
  if (a.canceled_timers != b.canceled_timers) return "canceled timers";
  if (!std::equal(
          a.children.begin(), a.children.end(), b.children.begin(), b.children.end(), same_child)) {
    return "children";
  }
  if (a.canceled_children != b.canceled_children) return "canceled children";
  if (a.next.has_value() != b.next.has_value()) return "next execution";
  if (a.next && (a.next->input != b.next->input || a.next->version != b.next->version ||
                 a.next->carried != b.next->carried)) {
    return "next execution";
  }
  if (a.replies != b.replies) return "replies";
  if (a.drain_at != b.drain_at) return "drain_at";
  if (a.kept_messages != b.kept_messages) return "kept messages";
  return std::nullopt;
}

}  // namespace perdure::test
