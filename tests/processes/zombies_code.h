#pragma once

#include <chrono>

#include <perdure/perdure.h>

namespace perdure::test {

inline constexpr Activity<void()> deaf{"deaf"};
inline constexpr Activity<int()> polite{"polite"};
inline constexpr Orchestration<void()> deaf_runs{"deaf_runs"};
inline constexpr Orchestration<int()> polite_runs{"polite_runs"};
inline constexpr Orchestration<int()> late_runs{"late_runs"};

inline constexpr std::chrono::seconds kForceExit{2};

inline Task<void> run_deaf(OrchestrationContext& ctx) {
  co_await ctx.call(deaf);
}
inline Task<int> run_polite(OrchestrationContext& ctx) {
  co_return co_await ctx.call(polite);
}
inline Task<int> run_late(OrchestrationContext&) {
  co_return 7;
}

/// What a process with zombies runs, and who takes over from it; each has handlers of its own.
inline void add_runs(Registry& registry) {
  registry.add(deaf_runs, run_deaf);
  registry.add(polite_runs, run_polite);
  registry.add(late_runs, run_late);
}

}  // namespace perdure::test
