#include "tests/engine/scripted_run.h"

#include <gtest/gtest.h>

#include "replay/commands.h"
#include "replay/wind_down.h"

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
  if (!has_code_ || replay::wound_down_after(history_)) {
    live_ = std::make_unique<Execution>(
        replay::ExecutionSpec{"run-1", ExecutionNo{execution_}, name_, version_, "default"},
        options_,
        random_);
    live_->replay(history_, had_turn_);
    return *live_;
  }
  const detail::OrchestrationHandler* main = registry_.table()->find_orchestration(name_, version_);
  if (main == nullptr) throw std::logic_error("not registered: " + name_);
  live_ = std::make_unique<Execution>(
      replay::ExecutionSpec{"run-1", ExecutionNo{execution_}, name_, main->version, "default"},
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
    for (const replay::LogLine& line : result.log) {
      log_.push_back(line.text);
      if (line.level == static_cast<int>(LogLevel::kWarning)) warnings_.push_back(line.text);
    }
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
    // Answers; a drop says in the lists below what becomes of the row.
    if (replay::is_command(event.kind)) continue;
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
  const EventId call = open_call(activity);
  EXPECT_NE(call, EventId{}) << "no open call of " << activity;
  return turn({completed(call, std::move(result))});
}

const TurnDecisions& ScriptedRun::fail(std::string_view activity, Failure failure) {
  const EventId call = open_call(activity);
  EXPECT_NE(call, EventId{}) << "no open call of " << activity;
  return turn({failed(call, std::move(failure))});
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

const TurnDecisions& ScriptedRun::signal(std::string name, std::string payload) {
  return turn({signal_message(std::move(name), std::move(payload))});
}

const TurnDecisions& ScriptedRun::update(std::string name, std::string payload, std::string id) {
  return turn({update_message(std::move(name), std::move(payload), std::move(id))});
}

const TurnDecisions& ScriptedRun::query(std::string name, std::string payload, std::string id) {
  return turn({query_message(std::move(name), std::move(payload), std::move(id))});
}

Message ScriptedRun::completed(EventId call, std::string result) const {
  Message message;
  message.kind = MessageKind::kActivityCompleted;
  message.execution = ExecutionNo{execution_};
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

ScriptedRun::ScriptedRun(const ScriptedRun& before, const NextExecution& next)
    : registry_(before.registry_),
      name_(before.name_),
      options_(before.options_),
      now_(before.now_),
      execution_(before.execution_ + 1) {
  HistoryEvent started;
  started.id = EventId{1};
  started.kind = EventKind::kStarted;
  started.name = name_;
  started.payload = next.input;
  started.number = static_cast<std::int64_t>(next.carried.size());
  started.at = now_;
  history_.push_back(std::move(started));
  for (HistoryEvent event : next.carried) {
    event.id = EventId{static_cast<std::int64_t>(history_.size()) + 1};
    event.at = now_;
    history_.push_back(std::move(event));
  }
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
  message.execution = ExecutionNo{execution_};
  return message;
}

Message ScriptedRun::drain_deadline() const {
  Message message = cleanup_deadline();
  message.kind = MessageKind::kDrainDeadline;
  return message;
}

Message ScriptedRun::signal_message(std::string name, std::string payload) const {
  Message message = raised(std::move(name), std::move(payload));
  message.kind = MessageKind::kSignal;
  return message;
}

Message ScriptedRun::update_message(std::string name, std::string payload, std::string id) const {
  Message message = raised(std::move(name), std::move(payload));
  message.kind = MessageKind::kUpdate;
  message.text = std::move(id);
  return message;
}

Message ScriptedRun::query_message(std::string name, std::string payload, std::string id) const {
  Message message = update_message(std::move(name), std::move(payload), std::move(id));
  message.kind = MessageKind::kQuery;
  return message;
}

Message ScriptedRun::child(EventId call, MessageKind kind, std::string payload) const {
  Message message = completed(call, std::move(payload));
  message.kind = kind;
  return message;
}

void ScriptedRun::write_end(EventKind kind, std::string text) {
  HistoryEvent end;
  end.id = EventId{history_.back().id.value + 1};
  end.kind = kind;
  end.text = std::move(text);
  end.at = now_;
  history_.push_back(std::move(end));
  live_.reset();
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

std::string ScriptedRun::line(const HistoryEvent& event) {
  std::string line(to_string(event.kind));
  if (!event.name.empty()) line += " " + event.name;
  if (event.source.value != 0) line += " of " + std::to_string(event.source.value);
  return line;
}

std::vector<std::string> ScriptedRun::lines(std::int64_t after) const {
  std::vector<std::string> lines;
  for (const HistoryEvent& event : history_) {
    if (event.id.value > after) lines.push_back(line(event));
  }
  return lines;
}

std::vector<std::string> ScriptedRun::replies() const {
  std::vector<std::string> lines;
  for (const Reply& reply : last_.replies) {
    std::string line = std::string(to_string(reply.stage)) + " " + reply.request;
    if (reply.stage == RequestStage::kAnswered) line += ": " + reply.payload;
    if (!reply.failure.type.empty()) line += ": " + reply.failure.type;
    lines.push_back(std::move(line));
  }
  return lines;
}

void both_ways(const Registry& registry,
               const std::string& input,
               const std::function<void(ScriptedRun&)>& script) {
  std::vector<HistoryEvent> evicted;
  {
    SCOPED_TRACE("frames evicted after every turn");
    ScriptedRun run(registry, "demo", input);
    script(run);
    evicted = run.history();
    EXPECT_TRUE(run.replays()) << "what the turns recorded";
  }
  SCOPED_TRACE("frames kept");
  ScriptedRun run(registry, "demo", input);
  run.keep_frames(true);
  script(run);
  ASSERT_EQ(run.history().size(), evicted.size());
  for (std::size_t i = 0; i < evicted.size(); ++i) {
    EXPECT_EQ(run.history()[i], evicted[i]) << ScriptedRun::line(evicted[i]);
  }
}

void both_ways(const Registry& registry, const std::function<void(ScriptedRun&)>& script) {
  both_ways(registry, "null", script);
}

bool ScriptedRun::replays() {
  live_.reset();
  if (!had_turn_) return true;
  const Execution& run = execution();
  const auto& mismatch = run.mismatch();
  if (mismatch) ADD_FAILURE() << to_string(*mismatch);
  const bool matches = !mismatch;
  const bool same_end = run.has_ended() == is_terminal(history_.back().kind);
  const bool same_place = run.last_event() == history_.back().id;
  live_.reset();
  return matches && same_end && same_place;
}

}  // namespace perdure::test
