#include "cli/bench/commit_timer.h"
#include "cli/bench/provider_parts.h"

namespace perdure::bench {

namespace {

constexpr std::int64_t kMostCommits = 1'000;

}  // namespace

Status measure_commit(ProviderBench& bench, Provider& store, Epoch epoch) {
  bench.progress.show("single commits");
  CommitTimer timer(store, epoch);
  PERDURE_ASSIGN_OR_RETURN(const auto spent,
                           timer.run(kMostCommits, bench.options.seconds, bench.report));
  bench.report.seconds += spent.count();
  bench.report.figures.push_back(single("commit_p50_ms", timer.commits().percentile(0.5)));
  return {};
}

}  // namespace perdure::bench
