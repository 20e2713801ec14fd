#pragma once

#include "base/result.h"
#include "cli/bench/options.h"
#include "cli/bench/progress.h"
#include "cli/bench/report.h"
#include "cli/bench/sqlite_stores.h"
#include "cli/bench/turn_loop.h"
#include "cli/bench/windows.h"
#include "provider/sqlite/bench/limit.h"

/// The parts of the workload `provider`. Each adds its figures to the report; an error ends the
/// bench.
namespace perdure::bench {

/// What the parts share.
struct ProviderBench {
  const Options& options;
  Progress& progress;
  Report& report;

  std::chrono::nanoseconds window() const { return bench::window(options); }
};

/// `turns_per_s`, `claims_per_s`, `limit_turns_per_s`, `ratio_to_limit`: batches of several sizes,
/// in windows that alternate with those of the limit.
Status measure_batches(ProviderBench& bench, TurnLoop& loop, sqlite::TurnLimit& limit);

/// `turns_per_s_threads`: single turns, the numbers of threads by turns.
Status measure_threads(ProviderBench& bench, TurnLoop& loop);

/// `commit_p50_ms`: the smallest durable commit, one after the other.
Status measure_commit(ProviderBench& bench, Provider& store, Epoch epoch);

/// `fetch_ms`: claims in front of long queues, each in a store of its own.
Status measure_fetches(ProviderBench& bench, SqliteStores& stores);

}  // namespace perdure::bench
