#include "cli/bench/provider_parts.h"

namespace perdure::bench {

namespace {

/// Of claims, which are not measured here.
constexpr std::size_t kClaimBatch = 128;

}  // namespace

Status measure_threads(ProviderBench& bench, TurnLoop& loop) {
  const std::vector<int>& threads = bench.options.threads;
  std::vector<std::vector<double>> rates(threads.size());
  std::vector<std::vector<double>> to_first(threads.size());
  for (int window = 0; window < kWindows; ++window) {
    for (std::size_t i = 0; i < threads.size(); ++i) {
      bench.progress.show("single turns from " + std::to_string(threads[i]) + " threads, window " +
                          std::to_string(window + 1) + " of " + std::to_string(kWindows));
      PERDURE_ASSIGN_OR_RETURN(
          const auto found, loop.run(from_threads(loop, threads[i]), kClaimBatch, bench.window()));
      rates[i].push_back(found.turns.per_second());
      to_first[i].push_back(rates[i].back() / rates[0].back());
    }
  }
  Figure turns{.key = "turns_per_s_threads"};
  Figure ratios{.key = "threads_to_first", .for_people_only = true};
  for (std::size_t i = 0; i < threads.size(); ++i) {
    turns.values.push_back({std::to_string(threads[i]), median(rates[i])});
    ratios.values.push_back({std::to_string(threads[i]), median(to_first[i])});
  }
  bench.report.figures.push_back(std::move(turns));
  bench.report.figures.push_back(std::move(ratios));
  return {};
}

}  // namespace perdure::bench
