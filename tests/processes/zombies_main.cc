#include <atomic>
#include <iostream>
#include <thread>

#include <perdure/perdure.h>
#include <perdure/signals.h>

/// A worker whose handlers do not stop: `perdure_zombies_child FILE`. It has ten of them canceled,
/// says "not ready" when it is, and waits for a signal that does not come.
namespace {

namespace pd = perdure;
using namespace std::chrono_literals;

constexpr pd::Activity<void()> deaf{"deaf"};
constexpr pd::Orchestration<void()> runs{"runs"};

pd::Task<void> run_deaf(pd::OrchestrationContext& ctx) {
  co_await ctx.call(deaf);
}

}  // namespace

int main(int, char** argv) {
  const auto store = pd::open(std::string("sqlite:") + argv[1]);
  std::atomic<int> begun{0};
  pd::Registry registry;
  registry.add(deaf, [&begun] {
    ++begun;
    for (;;) std::this_thread::sleep_for(1h);
  });
  registry.add(runs, run_deaf);
  pd::RuntimeOptions options;
  options.activity_cancellation_grace_period = 50ms;
  options.zombie_grace_period = 50ms;
  options.shutdown_grace_period = 50ms;
  options.zombie_shutdown_timeout = 100ms;
  options.force_exit_timeout = 2s;
  pd::Runtime runtime(store, registry, options);
  pd::Client client(store);
  for (int i = 0; i < options.max_zombie_count; ++i) client.start(runs, "r" + std::to_string(i));
  while (begun < options.max_zombie_count) std::this_thread::yield();
  for (int i = 0; i < options.max_zombie_count; ++i) client.cancel("r" + std::to_string(i), "end");
  while (runtime.health().ready) std::this_thread::sleep_for(1ms);
  std::cout << "not ready" << std::endl;
  return pd::run_until_signal(runtime) + 100;
}
