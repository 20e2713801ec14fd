#include "tests/engine/long_history.h"

#include <stdexcept>
#include <utility>

#include "replay/commands.h"

namespace perdure::test {

namespace {

constexpr TimePoint kBegin{std::chrono::hours(500'000)};

Task<std::int64_t> run_stepper(OrchestrationContext& ctx, std::int64_t steps) {
  std::int64_t done = 0;
  for (; done < steps; ++done) co_await ctx.call(step);
  co_return done;
}

}  // namespace

LongRun::LongRun(const Registry& registry,
                 std::string_view name,
                 std::vector<HistoryEvent> history,
                 bool had_turn)
    : registry_(registry), now_(history.back().at) {
  const detail::OrchestrationHandler* main = registry_.table()->find_orchestration(name, "");
  if (main == nullptr) throw std::logic_error("not registered: " + std::string(name));
  execution_ = std::make_unique<replay::Execution>(
      replay::ExecutionSpec{"run-1", ExecutionNo{1}, std::string(name), main->version, "default"},
      *main,
      replay::ExecutionOptions{},
      random_);
  execution_->replay(std::move(history), had_turn);
}

replay::TurnResult LongRun::turn(std::vector<Message> messages) {
  return execution_->turn(std::move(messages), now_);
}

HistoryEvent started(std::string_view name, std::string input) {
  HistoryEvent event;
  event.id = EventId{1};
  event.kind = EventKind::kStarted;
  event.name = std::string(name);
  event.payload = std::move(input);
  event.at = kBegin;
  return event;
}

Message answer(MessageKind kind, EventId source) {
  Message message;
  message.kind = kind;
  message.execution = ExecutionNo{1};
  message.source = source;
  message.payload = "null";
  return message;
}

void add_stepper(Registry& registry) {
  registry.add(stepper, run_stepper);
}

std::vector<HistoryEvent> stepper_history(std::int64_t steps) {
  std::vector<HistoryEvent> history;
  history.reserve(static_cast<std::size_t>(2 * steps));
  history.push_back(started(stepper.name(), std::to_string(steps)));
  const auto add = [&](EventKind kind) -> HistoryEvent& {
    HistoryEvent& event = history.emplace_back();
    event.id = EventId{static_cast<std::int64_t>(history.size())};
    event.kind = kind;
    event.payload = "null";
    event.at = kBegin + std::chrono::seconds(history.size());
    return event;
  };
  const std::int64_t hash = replay::hash_of("null");
  for (std::int64_t i = 0; i < steps; ++i) {
    HistoryEvent& call = add(EventKind::kActivityScheduled);
    call.name = std::string(step.name());
    call.text = "default";
    call.number = hash;
    const EventId id = call.id;
    if (i + 1 < steps) add(EventKind::kActivityCompleted).source = id;
  }
  return history;
}

}  // namespace perdure::test
