#include "tests/engine/long_history.h"

#include <algorithm>
#include <string>
#include <utility>

#include <gtest/gtest.h>

/// Length and width: nothing here may grow the stack, in any build, nor the cost of an event with
/// the number of those before it.
namespace perdure::test::long_history_test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kMany = 10'000;

inline constexpr Orchestration<std::int64_t(std::int64_t)> summer{"summer"};
inline constexpr Orchestration<std::int64_t(std::int64_t)> racer{"racer"};
inline constexpr Orchestration<std::int64_t(std::int64_t)> crowd{"crowd"};
inline constexpr Orchestration<std::int64_t(std::int64_t)> dropper{"dropper"};
inline constexpr Orchestration<std::int64_t(std::int64_t)> diver{"diver"};
inline constexpr Orchestration<std::int64_t(std::int64_t)> nester{"nester"};
inline constexpr Orchestration<std::int64_t(std::int64_t)> saga{"saga"};
inline constexpr Orchestration<std::int64_t(std::int64_t)> listener{"listener"};

Task<std::int64_t> one() {
  co_return 1;
}

Task<std::int64_t> one_below() {
  co_return co_await one();
}

Task<std::int64_t> sum_sub_tasks(OrchestrationContext&, std::int64_t count) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += (i % 2 == 0) ? co_await one() : co_await one_below();
  }
  co_return sum;
}

Task<std::int64_t> race_timers(OrchestrationContext& ctx, std::int64_t count) {
  std::vector<Future<void>> timers;
  for (std::int64_t i = 0; i < count; ++i) timers.push_back(ctx.timer(1h));
  const std::size_t first = co_await when_any(timers);
  timers.clear();
  co_await ctx.call(step);
  co_return static_cast<std::int64_t>(first);
}

Task<std::int64_t> call_step(OrchestrationContext& ctx) {
  co_await ctx.call(step);
  co_return 1;
}

Task<std::int64_t> spawn_many(OrchestrationContext& ctx, std::int64_t count) {
  std::vector<Future<std::int64_t>> tasks;
  for (std::int64_t i = 0; i < count; ++i) {
    Task<std::int64_t> task = call_step(ctx);
    tasks.push_back(ctx.spawn(std::move(task)));
  }
  const auto values = co_await when_all(std::move(tasks));
  std::int64_t sum = 0;
  for (const std::int64_t value : values) sum += value;
  co_return sum;
}

Task<std::int64_t> drop_scopes(OrchestrationContext& ctx, std::int64_t count) {
  std::vector<Scope> scopes;
  std::vector<Future<std::int64_t>> tasks;
  for (std::int64_t i = 0; i < count; ++i) {
    scopes.push_back(ctx.scope());
    Task<std::int64_t> task = call_step(ctx);
    tasks.push_back(scopes.back().spawn(std::move(task)));
  }
  co_await ctx.timer(1h);
  scopes.clear();
  for (Future<std::int64_t>& task : tasks) {
    const auto outcome = co_await task.outcome();
    if (outcome.ok()) --count;
  }
  co_return count;
}

struct Depth {
  explicit Depth(std::int64_t* at) : deepest(at) {}
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  ~Depth() { --*deepest; }
  std::int64_t* deepest;
};

std::int64_t frames_alive = 0;

Task<std::int64_t> dive(OrchestrationContext& ctx, std::int64_t depth) {
  ++frames_alive;
  const Depth guard(&frames_alive);
  if (depth == 0) {
    co_await ctx.timer(1h);
    co_return 0;
  }
  co_return 1 + co_await dive(ctx, depth - 1);
}

Task<std::int64_t> nest(OrchestrationContext& ctx, std::int64_t depth) {
  if (depth == 0) {
    co_await ctx.timer(1h);
    co_return 0;
  }
  Task<std::int64_t> inner = nest(ctx, depth - 1);
  auto below = ctx.spawn(std::move(inner));
  co_return 1 + co_await below;
}

inline constexpr Activity<void()> unstep{"unstep"};

Task<std::int64_t> do_and_fail(OrchestrationContext& ctx, std::int64_t count) {
  std::vector<Future<void>> calls;
  for (std::int64_t i = 0; i < count; ++i) calls.push_back(ctx.call(step).undo_with(unstep));
  co_await when_all(std::move(calls));
  throw Failed("regret", "after all");
}

inline constexpr perdure::Event<std::int64_t> tick{"tick"};

Task<std::int64_t> listen_to_many(OrchestrationContext& ctx, std::int64_t count) {
  std::vector<Future<std::int64_t>> waits;
  for (std::int64_t i = 0; i < count; ++i) waits.push_back(ctx.wait_for(tick));
  const std::size_t first = co_await when_any(waits);
  waits.clear();
  co_return static_cast<std::int64_t>(first);
}

Registry registry() {
  Registry all;
  add_stepper(all);
  all.add(summer, sum_sub_tasks);
  all.add(racer, race_timers);
  all.add(crowd, spawn_many);
  all.add(dropper, drop_scopes);
  all.add(diver, dive);
  all.add(nester, nest);
  all.add(saga, do_and_fail);
  all.add(listener, listen_to_many);
  return all;
}

LongRun begin(std::string_view name, std::int64_t input) {
  return {registry(), name, {started(name, std::to_string(input))}, false};
}

std::vector<Message> answers_to(const std::vector<NewWork>& work) {
  std::vector<Message> messages;
  for (const NewWork& each : work) {
    messages.push_back(answer(MessageKind::kActivityCompleted, each.event));
  }
  return messages;
}

TEST(LongHistory, ReplaysAMillionRecordedSteps) {
  LongRun run(registry(), stepper.name(), stepper_history(kMillion));
  ASSERT_FALSE(run.execution().mismatch()) << to_string(*run.execution().mismatch());
  EXPECT_TRUE(run.execution().take_warnings().empty());
  const EventId last = run.execution().last_event();
  EXPECT_EQ(last.value, 2 * kMillion);
  const auto result = run.turn({answer(MessageKind::kActivityCompleted, last)});
  EXPECT_EQ(result.decisions.status, ExecutionStatus::kCompleted);
  EXPECT_EQ(result.decisions.output, std::to_string(kMillion));
}

TEST(LongHistory, AMillionSubTasksThatEndAtOnceDoNotNest) {
  LongRun run = begin(summer.name(), kMillion);
  const auto result = run.turn();
  EXPECT_EQ(result.decisions.output, std::to_string(kMillion));
}

TEST(LongHistory, ARaceOfManyFuturesDropsTheLosersInOrder) {
  LongRun run = begin(racer.name(), kMany);
  const auto first = run.turn();
  ASSERT_EQ(first.decisions.timers.size(), static_cast<std::size_t>(kMany));
  const EventId winner = first.decisions.timers[kMany / 2].event;
  const auto second = run.turn({answer(MessageKind::kTimerFired, winner)});
  const std::vector<EventId>& dropped = second.decisions.canceled_timers;
  EXPECT_EQ(dropped.size(), static_cast<std::size_t>(kMany - 1));
  EXPECT_TRUE(std::is_sorted(dropped.begin(), dropped.end()));
  const auto last = run.turn(answers_to(second.decisions.work));
  EXPECT_EQ(last.decisions.output, std::to_string(kMany / 2));
}

TEST(LongHistory, ManySpawnedTasksAreJoined) {
  LongRun run = begin(crowd.name(), kMany);
  const auto first = run.turn();
  ASSERT_EQ(first.decisions.work.size(), static_cast<std::size_t>(kMany));
  const auto last = run.turn(answers_to(first.decisions.work));
  EXPECT_EQ(last.decisions.output, std::to_string(kMany));
}

TEST(LongHistory, ManySpawnedTasksAreCanceled) {
  LongRun run = begin(crowd.name(), kMany);
  run.turn();
  Message cancel;
  cancel.kind = MessageKind::kCancel;
  cancel.text = "enough";
  const auto last = run.turn({cancel});
  EXPECT_EQ(last.decisions.status, ExecutionStatus::kCanceled);
}

TEST(LongHistory, ManyScopesAreDropped) {
  LongRun run = begin(dropper.name(), kMany);
  const auto first = run.turn();
  ASSERT_EQ(first.decisions.timers.size(), 1u);
  const auto last = run.turn({answer(MessageKind::kTimerFired, first.decisions.timers[0].event)});
  EXPECT_EQ(last.decisions.canceled_work.size(), static_cast<std::size_t>(kMany));
  EXPECT_EQ(last.decisions.output, std::to_string(kMany)) << "all were canceled";
}

TEST(LongHistory, ManyWaitsForOneEventAreGivenUp) {
  LongRun run = begin(listener.name(), kMany);
  run.turn();
  Message event;
  event.kind = MessageKind::kEventRaised;
  event.name = std::string(tick.name());
  event.payload = "7";
  const auto last = run.turn({event});
  EXPECT_EQ(last.decisions.output, "0");
}

TEST(LongHistory, ManyUndosRunInReverse) {
  LongRun run = begin(saga.name(), kMany);
  auto result = run.turn();
  const std::vector<NewWork> calls = result.decisions.work;
  ASSERT_EQ(calls.size(), static_cast<std::size_t>(kMany));
  result = run.turn(answers_to(calls));
  std::vector<EventId> undone;
  while (result.decisions.status == ExecutionStatus::kFailing) {
    ASSERT_EQ(result.decisions.work.size(), 1u);
    undone.push_back(result.decisions.events.back().source);
    result = run.turn(answers_to(result.decisions.work));
  }
  EXPECT_EQ(result.decisions.status, ExecutionStatus::kFailed);
  EXPECT_EQ(undone.size(), calls.size());
  EXPECT_TRUE(std::is_sorted(undone.rbegin(), undone.rend()));
}

TEST(LongHistory, FramesManyCallsDeepAreEvictedAndEnd) {
  LongRun evicted = begin(diver.name(), kMany);
  const auto result = evicted.turn();
  EXPECT_EQ(frames_alive, kMany + 1);
  evicted.evict();
  EXPECT_EQ(frames_alive, 0);

  std::vector<HistoryEvent> history{started(diver.name(), std::to_string(kMany))};
  history.push_back(result.decisions.events.front());
  LongRun run(registry(), diver.name(), std::move(history));
  EXPECT_EQ(frames_alive, kMany + 1);
  const auto last = run.turn({answer(MessageKind::kTimerFired, EventId{2})});
  EXPECT_EQ(last.decisions.output, std::to_string(kMany));
  EXPECT_EQ(frames_alive, 0);
}

TEST(LongHistory, TasksNestedManyDeepAreCanceledAndEvicted) {
  LongRun canceled = begin(nester.name(), kMany);
  canceled.turn();
  Message cancel;
  cancel.kind = MessageKind::kCancel;
  const auto last = canceled.turn({cancel});
  EXPECT_EQ(last.decisions.status, ExecutionStatus::kCanceled);

  LongRun evicted = begin(nester.name(), kMany);
  const auto first = evicted.turn();
  EXPECT_EQ(first.decisions.timers.size(), 1u);
  evicted.evict();
}

}  // namespace
}  // namespace perdure::test::long_history_test
