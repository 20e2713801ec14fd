#include "base/clock.h"
#include "cli/bench/provider_parts.h"

namespace perdure::bench {

namespace {

constexpr std::size_t kMostCommits = 1'000;

}  // namespace

Status measure_commit(ProviderBench& bench, Provider& store, Epoch epoch) {
  bench.progress.show("single commits");
  std::vector<double> times;
  std::chrono::duration<double> spent{};
  while (times.size() < kMostCommits && spent < bench.options.seconds) {
    const auto begin = steady_now();
    const auto counter = store.heartbeat_process({.epoch = epoch});
    const std::chrono::duration<double, std::milli> took = steady_now() - begin;
    if (!counter.ok()) return counter.error();
    times.push_back(took.count());
    spent += took;
    if (*counter != static_cast<std::int64_t>(times.size())) {
      bench.report.fail("a heartbeat was counted as " + std::to_string(*counter));
    }
  }
  bench.report.seconds += spent.count();
  bench.report.figures.push_back(single("commit_p50_ms", median(times)));
  return {};
}

}  // namespace perdure::bench
