#pragma once

#include "base/result.h"
#include "cli/bench/options.h"
#include "cli/bench/progress.h"
#include "cli/bench/report.h"
#include "cli/bench/sqlite_stores.h"
#include "cli/bench/turn_loop.h"
#include "provider/sqlite/bench/limit.h"

/// The parts of the workload `provider`. Each adds its figures to the report; an error ends the
/// bench.
namespace perdure::bench {

/// Windows in which each number is measured; what alternates, alternates so often.
inline constexpr int kWindows = 5;

/// What the parts share.
struct ProviderBench {
  const Options& options;
  Progress& progress;
  Report& report;

  std::chrono::nanoseconds window() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(options.seconds) / kWindows;
  }
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
