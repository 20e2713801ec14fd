// A monitor that runs for ever: it continues as new, so that its history stays short.

#include <atomic>
#include <iostream>

#include <perdure/perdure.h>

namespace pd = perdure;
using namespace std::chrono_literals;

struct Watch {
  std::string engine;
  int checks = 0;  // of all executions so far
};
struct Alarm {
  std::string engine;
  int check = 0, degrees = 0;
  std::int64_t execution = 0;
};
PERDURE_JSON(Watch, engine, checks)
PERDURE_JSON(Alarm, engine, check, degrees, execution)

constexpr pd::Activity<int(Watch)> measure{"measure"};
constexpr pd::Activity<void(Alarm)> raise_alarm{"raise_alarm"};
constexpr pd::Activity<void(std::string)> note{"note"};
constexpr pd::Orchestration<void(Watch)> monitor{"monitor"};

// [subtask]
pd::Task<Watch> check_a_few_times(pd::OrchestrationContext& ctx, Watch watch) {
  for (int i = 0; i < 3; ++i) {  // a few hundred in a real monitor
    ++watch.checks;
    const int degrees = co_await ctx.call(measure, watch, {.retry = pd::retry(0, 1s)});
    if (degrees > 90) {
      const Alarm alarm{watch.engine, watch.checks, degrees, ctx.execution()};
      co_await ctx.call(raise_alarm, alarm);
    }
    co_await ctx.timer(5ms);
  }
  co_return watch;
}
// [/subtask]

// [cleanup]
pd::Task<void> say_goodbye(pd::OrchestrationContext& ctx, std::string engine, std::string why) {
  co_await ctx.call(note, engine + " is watched no more: " + why);
}
// [/cleanup]

// [orchestration]
pd::Task<void> run_monitor(pd::OrchestrationContext& ctx, Watch watch) {
  try {
    watch = co_await check_a_few_times(ctx, watch);
  } catch (const pd::Canceled&) {
    // C++ has no co_await in here: what is to be done follows below.
  }
  if (ctx.is_canceled()) {  // calls would throw pd::Canceled again, but for those under a shield
    co_await ctx.shield(say_goodbye(ctx, watch.engine, ctx.cancel_reason()));
    co_return;
  }
  co_await ctx.continue_as_new(monitor, watch);  // ends here; the next execution begins above
}
// [/orchestration]

int main(int argc, char** argv) {
  const auto store = pd::open(argc > 1 ? argv[1] : "sqlite::memory:");
  std::atomic<bool> hot_again = false;
  pd::Registry registry;
  registry.add(measure,
               [](Watch watch) { return watch.checks == 2 || watch.checks == 8 ? 97 : 60; });
  registry.add(raise_alarm, [&](pd::ActivityContext& ctx, Alarm alarm) {
    std::cout << alarm.engine << ": " << alarm.degrees << " degrees at check " << alarm.check
              << ", execution " << alarm.execution << '\n';
    hot_again = alarm.check == 8;
    hot_again.notify_all();
    if (hot_again) ctx.sleep_for(1min);  // sounds until somebody acts
  });
  registry.add(note, [](std::string text) { std::cout << text << '\n'; });
  registry.add(monitor, run_monitor);
  pd::Runtime runtime(store, registry);
  pd::Client client(store);

  const auto run = client.start(monitor, "monitor-7", {"engine 7"});
  hot_again.wait(false);
  // [cancel]
  client.cancel("monitor-7", "the engine is switched off");
  const pd::Outcome<void> end = run.outcome(30s);  // through all executions
  std::cout << (end ? "completed" : "canceled") << '\n';
  // [/cancel]
}

// Prints:
//   engine 7: 97 degrees at check 2, execution 1
//   engine 7: 97 degrees at check 8, execution 3
//   engine 7 is watched no more: the engine is switched off
//   canceled
