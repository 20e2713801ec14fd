#include "tests/processes/mixed_code.h"

#include <csignal>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace perdure::test {

namespace {

using namespace std::chrono_literals;

constexpr Activity<int(int)> add_one{"add_one"};
constexpr Activity<int(int)> add_one_at_once{"add_one_at_once"};
constexpr Activity<int(int)> flaky{"flaky"};
constexpr Activity<int(int)> endless{"endless"};
constexpr Activity<int(int)> reserve{"reserve"};
constexpr Activity<void(int)> release{"release"};
constexpr Activity<void(int)> refuse{"refuse"};
constexpr Activity<Done(int)> held{"held"};
constexpr Activity<int(int)> bomb{"bomb"};

WorkerMarks* marks_of_process = nullptr;  // orchestrations must not capture

/// What an orchestration does in its turns: some thinking, marked.
int think(int value) {
  const Marked in_turn(marks_of_process->turns);
  volatile int spent = 0;
  for (int i = 0; i < 20'000; ++i) spent = spent + i;
  return value;
}

Task<int> run_chain(OrchestrationContext& ctx, int value) {
  for (int i = 0; i < 4; ++i) value = co_await ctx.call(add_one, think(value));
  co_return value;
}

Task<int> run_stubborn(OrchestrationContext& ctx, int value) {
  value = co_await ctx.call(flaky, think(value), {.retry = retry(10, 2ms)});
  co_return co_await ctx.call(add_one, think(value));
}

Task<int> run_sleepy(OrchestrationContext& ctx, int value) {
  for (int i = 0; i < 3; ++i) co_await ctx.timer(4ms * (1 + think(value) % 3));
  co_return co_await ctx.call(add_one, value);
}

Task<int> run_family(OrchestrationContext& ctx, int value) {
  std::vector<Future<int>> children;
  for (int i = 0; i < 3; ++i) children.push_back(ctx.call(chain, think(value) + i));
  int sum = 0;
  for (const int each : co_await when_all(std::move(children))) sum += each;
  co_return sum;
}

Task<int> run_listener(OrchestrationContext& ctx, int value) {
  value += co_await ctx.wait_for(nudge);
  value += co_await ctx.wait_for(nudge);
  co_return co_await ctx.call(add_one, think(value));
}

Task<int> run_racer(OrchestrationContext& ctx, int value) {
  for (int i = 0; i < 2; ++i) {
    auto loser = ctx.call(endless, think(value));
    auto winner = ctx.timer(10ms);
    value += static_cast<int>(co_await when_any(loser, winner));
  }
  co_return value;
}

Task<int> run_undoer(OrchestrationContext& ctx, int value) {
  value = co_await ctx.call(reserve, think(value)).undo_with(release);
  co_await ctx.call(refuse, think(value));
  co_return value;
}

Task<int> run_looper(OrchestrationContext& ctx, int value) {
  value = co_await ctx.call(add_one, think(value));
  if (ctx.execution() < kLives) co_await ctx.continue_as_new(looper, value);
  co_return value;
}

Task<int> run_quick(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(add_one_at_once, value);
}

Task<Done> run_waiting(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(held, value);
}

Task<int> run_doomed(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(bomb, value);
}

Task<int> run_crowd(OrchestrationContext& ctx, int generations) {
  if (generations == 0) co_return co_await ctx.wait_for(nudge);
  std::vector<Future<int>> children;
  for (int i = 0; i < kCrowd; ++i) children.push_back(ctx.call(crowd, generations - 1));
  int sum = 0;
  for (const int each : co_await when_all(std::move(children))) sum += each;
  co_return sum;
}

void add_orchestrations(Registry& registry) {
  registry.add(chain, run_chain)
      .add(stubborn, run_stubborn)
      .add(sleepy, run_sleepy)
      .add(family, run_family)
      .add(listener, run_listener)
      .add(racer, run_racer)
      .add(undoer, run_undoer)
      .add(looper, run_looper)
      .add(quick, run_quick)
      .add(waiting, run_waiting)
      .add(doomed, run_doomed)
      .add(crowd, run_crowd);
}

/// Adds a handler that is marked while it runs. Beyond the quota of its life it hangs.
template <class R, class F>
void add(Registry& registry, WorkerMarks& marks, const Activity<R(int)>& activity, F handler) {
  registry.add(activity, [&marks, handler](ActivityContext& ctx, int value) {
    ++marks.begun;
    const Marked in_flight(marks.handlers);
    if (--marks.quota < 0) ctx.wait_until_canceled();
    return handler(ctx, value);
  });
}

}  // namespace

Registry mixed_code(WorkerMarks& marks) {
  marks_of_process = &marks;
  Registry registry;
  add_orchestrations(registry);
  add(registry, marks, add_one, [](ActivityContext& ctx, int value) {
    ctx.sleep_for(1ms * (2 + value % 7));
    return value + 1;
  });
  add(registry, marks, add_one_at_once, [](ActivityContext&, int value) { return value + 1; });
  add(registry, marks, flaky, [](ActivityContext& ctx, int value) {
    if (ctx.attempt() < 3) throw Failed("flaky", "once more");
    return value + 1;
  });
  add(registry, marks, endless, [](ActivityContext& ctx, int value) {
    ctx.wait_until_canceled();
    ctx.throw_if_canceled();
    return value;
  });
  add(registry, marks, reserve, [](ActivityContext&, int value) { return value; });
  add(registry, marks, release, [](ActivityContext& ctx, int) { ctx.sleep_for(2ms); });
  add(registry, marks, refuse, [](ActivityContext&, int) {
    throw Failed("refused", "on purpose", false);
  });
  // Hears of no cancel, so that it comes back late with a result.
  add(registry, marks, held, [&marks](ActivityContext&, int value) {
    while (marks.hold != 0) std::this_thread::sleep_for(1ms);
    return Done{value, ::getpid()};
  });
  add(registry, marks, bomb, [](ActivityContext&, int value) {
    std::raise(SIGKILL);
    return value;
  });
  return registry;
}

}  // namespace perdure::test
