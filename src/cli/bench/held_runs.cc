#include "cli/bench/held_runs.h"

#include <utility>

#include <perdure/perdure.h>

#include "cli/bench/in_threads.h"

namespace perdure::bench {

namespace {

constexpr Activity<std::int64_t(std::int64_t)> kHold{"hold"};
constexpr Orchestration<std::int64_t(std::int64_t)> kHeldRun{"held"};
constexpr int kHeldStarters = 64;

Task<std::int64_t> run_held(OrchestrationContext& ctx, std::int64_t number) {
  co_return co_await ctx.call(kHold, number);
}

}  // namespace

Registry held_registry(HeldHandler handler) {
  Registry registry = held_orchestration();
  registry.add(kHold, std::move(handler));
  return registry;
}

Registry held_orchestration() {
  Registry registry;
  registry.add(kHeldRun, run_held);
  return registry;
}

Registry held_activity(HeldHandler handler) {
  Registry registry;
  registry.add(kHold, std::move(handler));
  return registry;
}

void start_held(const Client& client, std::int64_t begin, std::int64_t end) {
  in_threads(kHeldStarters, begin, end, [&client](std::int64_t number) {
    client.start(kHeldRun, held_id(number), number);
  });
}

std::string held_id(std::int64_t number) {
  return "held-" + std::to_string(number);
}

}  // namespace perdure::bench
