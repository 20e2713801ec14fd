#include "tests/engine/scripted_run.h"

#include <gtest/gtest.h>

namespace perdure::test {

using replay::Execution;
using replay::TurnDecisions;
using replay::TurnResult;

ScriptedRun::ScriptedRun(const Registry& registry, std::string_view name, std::string input)
    : registry_(registry), name_(name) {
  HistoryEvent started;
  started.id = EventId{1};
  started.kind = EventKind::kStarted;
  started.name = name_;
  started.payload = std::move(input);
  started.at = now_;
  history_.push_back(std::move(started));
}

Execution& ScriptedRun::execution() {
  if (live_) return *live_;
  const detail::OrchestrationHandler* main = registry_.table()->find_orchestration(name_, "");
  if (main == nullptr) throw std::logic_error("not registered: " + name_);
  live_ = std::make_unique<Execution>(
      replay::ExecutionSpec{"run-1", ExecutionNo{1}, name_, main->version, "default"},
      *main,
      options_,
      random_);
  live_->replay(history_, had_turn_);
  return *live_;
}

TurnResult ScriptedRun::try_turn(std::vector<Message> messages) {
  Execution& run = execution();
  TurnResult result;
  if (run.mismatch()) {
    result.mismatch = run.mismatch();
    result.warnings = run.take_warnings();
  } else {
    result = run.turn(std::move(messages), now_);
  }
  if (!result.mismatch) {
    keep(result.decisions);
    for (const replay::LogLine& line : result.log) log_.push_back(line.text);
  }
  if (!keep_frames_ || result.mismatch) live_.reset();
  return result;
}

const TurnDecisions& ScriptedRun::turn(std::vector<Message> messages) {
  TurnResult result = try_turn(std::move(messages));
  EXPECT_FALSE(result.mismatch) << to_string(*result.mismatch);
  EXPECT_TRUE(result.warnings.empty()) << result.warnings.front();
  last_ = std::move(result.decisions);
  return last_;
}

void ScriptedRun::keep(const TurnDecisions& decisions) {
  had_turn_ = true;
  history_.insert(history_.end(), decisions.events.begin(), decisions.events.end());
  for (const HistoryEvent& event : decisions.events) {
    work_.erase(event.source.value);
    timers_.erase(event.source.value);
    children_.erase(event.source.value);
  }
  for (const NewWork& work : decisions.work) work_[work.event.value] = work;
  for (const NewTimer& timer : decisions.timers) timers_[timer.event.value] = timer;
  for (const NewChild& child : decisions.children) children_[child.event.value] = child;
  for (const EventId id : decisions.canceled_work) {
    const auto row = work_.find(id.value);
    if (row != work_.end() && row->second.on_cancel != OnCancel::kWait) work_.erase(row);
  }
  for (const EventId id : decisions.canceled_timers) timers_.erase(id.value);
  for (const EventId id : decisions.canceled_children) children_.erase(id.value);
  status_ = decisions.status;
  output_ = decisions.output;
  failure_ = decisions.failure;
  if (decisions.custom_status) custom_status_ = *decisions.custom_status;
}

const TurnDecisions& ScriptedRun::complete(std::string_view activity, std::string result) {
  return turn({completed(open_call(activity), std::move(result))});
}

const TurnDecisions& ScriptedRun::fail(std::string_view activity, Failure failure) {
  return turn({failed(open_call(activity), std::move(failure))});
}

const TurnDecisions& ScriptedRun::fire(std::size_t nth) {
  const EventId timer = open_timers().at(nth);
  now_ = std::max(now_, timers_.at(timer.value).due);
  return turn({fired(timer)});
}

const TurnDecisions& ScriptedRun::raise(std::string name, std::string payload) {
  return turn({raised(std::move(name), std::move(payload))});
}

const TurnDecisions& ScriptedRun::cancel(std::string reason) {
  std::erase_if(work_, [](const auto& row) {
    return !row.second.shielded && row.second.on_cancel != OnCancel::kWait;
  });
  std::erase_if(timers_, [](const auto& timer) { return !timer.second.shielded; });
  return turn({cancel_message(std::move(reason))});
}

Message ScriptedRun::completed(EventId call, std::string result) const {
  Message message;
  message.kind = MessageKind::kActivityCompleted;
  message.execution = ExecutionNo{1};
  message.source = call;
  message.payload = std::move(result);
  return message;
}

Message ScriptedRun::failed(EventId call, Failure failure) const {
  Message message = completed(call, {});
  message.kind = MessageKind::kActivityFailed;
  message.failure = std::move(failure);
  return message;
}

Message ScriptedRun::canceled_answer(EventId call) const {
  Message message = completed(call, {});
  message.kind = MessageKind::kActivityCanceled;
  return message;
}

Message ScriptedRun::fired(EventId timer) const {
  Message message = completed(timer, {});
  message.kind = MessageKind::kTimerFired;
  return message;
}

Message ScriptedRun::raised(std::string name, std::string payload) const {
  Message message;
  message.kind = MessageKind::kEventRaised;
  message.name = std::move(name);
  message.payload = std::move(payload);
  return message;
}

Message ScriptedRun::cancel_message(std::string reason) const {
  Message message;
  message.kind = MessageKind::kCancel;
  message.text = std::move(reason);
  return message;
}

Message ScriptedRun::cleanup_deadline() const {
  Message message;
  message.kind = MessageKind::kCleanupDeadline;
  message.execution = ExecutionNo{1};
  return message;
}

Message ScriptedRun::child(EventId call, MessageKind kind, std::string payload) const {
  Message message = completed(call, std::move(payload));
  message.kind = kind;
  return message;
}

std::vector<EventId> ScriptedRun::open_calls(std::string_view activity) const {
  std::vector<EventId> calls;
  for (const auto& [event, work] : work_) {
    if (work.name == activity) calls.emplace_back(EventId{event});
  }
  return calls;
}

EventId ScriptedRun::open_call(std::string_view activity) const {
  const auto calls = open_calls(activity);
  return calls.empty() ? EventId{} : calls.front();
}

std::vector<EventId> ScriptedRun::open_timers() const {
  std::vector<EventId> timers;
  for (const auto& [event, timer] : timers_) timers.emplace_back(EventId{event});
  return timers;
}

std::vector<EventKind> ScriptedRun::kinds() const {
  std::vector<EventKind> kinds;
  for (const HistoryEvent& event : history_) kinds.push_back(event.kind);
  return kinds;
}

}  // namespace perdure::test
