#include "cli/bench/provider_workload.h"

#include <unistd.h>

#include "cli/bench/provider_parts.h"
#include "cli/bench/turn_shape.h"
#include "provider/sqlite/bench/durability.h"
#include "provider/sqlite/bench/row_counts.h"
#include "provider/sqlite/bench/slow_sync.h"

namespace perdure::bench {

namespace {

constexpr std::int64_t kInFlight = 2'048;

Result<std::unique_ptr<sqlite::TurnLimit>> make_limit(SqliteStores& stores,
                                                      std::int64_t instances) {
  PERDURE_ASSIGN_OR_RETURN(const std::string path, stores.reserve("-limit"));
  return sqlite::TurnLimit::make({.path = path,
                                  .durability = stores.durability(),
                                  .instances = instances,
                                  .turns_each = TurnLoop::kTurnsEach,
                                  .turn = make_turn({})});
}

/// What the loop has left: everything has ended, and no event is missing.
Status check_rows(const std::string& path, const TurnLoop& loop) {
  sqlite::RowCounts expected{.instances = loop.started(), .executions = loop.started()};
  expected.history = expected.events =
      loop.started() * static_cast<std::int64_t>(1 + kEventsOfLastTurn) +
      loop.turns() * static_cast<std::int64_t>(kEventsPerTurn);
  PERDURE_ASSIGN_OR_RETURN(const sqlite::RowCounts found, sqlite::count_rows(path));
  return sqlite::compare_rows("the provider", found, expected);
}

Status run_turns(ProviderBench& bench, SqliteStores& stores) {
  Report& report = bench.report;
  PERDURE_ASSIGN_OR_RETURN(const std::string path, stores.reserve(""));
  PERDURE_ASSIGN_OR_RETURN(auto store, stores.open(path));
  PERDURE_ASSIGN_OR_RETURN(const sqlite::Durability durability, sqlite::read_durability(*store));
  report.durability = durability == sqlite::Durability::kFull ? "full" : "relaxed";
  PERDURE_ASSIGN_OR_RETURN(const auto limit, make_limit(stores, report.in_flight));
  PERDURE_ASSIGN_OR_RETURN(const Epoch epoch,
                           store->register_process({.host = "bench", .pid = ::getpid()}));
  TokenMint mint(epoch);
  TurnLoop loop(*store, mint, report, report.in_flight);
  PERDURE_RETURN_IF_ERROR(measure_batches(bench, loop, *limit));
  PERDURE_RETURN_IF_ERROR(measure_threads(bench, loop));
  PERDURE_RETURN_IF_ERROR(measure_commit(bench, *store, epoch));
  PERDURE_RETURN_IF_ERROR(loop.finish());
  store.reset();
  for (const Status& rows : {check_rows(path, loop), limit->check_rows()}) {
    if (!rows.ok()) report.fail(rows.error().message);
  }
  return {};
}

}  // namespace

Result<Report> run_provider(const Options& options, Progress& progress) {
  Report report;
  report.workload = "provider";
  report.provider = "sqlite";
  report.in_flight = options.in_flight.value_or(kInFlight);
  ProviderBench bench{options, progress, report};
  // Before the stores, so that it outlives them.
  std::optional<sqlite::SlowSync> slow;
  if (options.slow_fsync.count() > 0) slow.emplace(options.slow_fsync);
  PERDURE_ASSIGN_OR_RETURN(const auto stores, SqliteStores::make(options));
  PERDURE_RETURN_IF_ERROR(run_turns(bench, *stores));
  PERDURE_RETURN_IF_ERROR(measure_fetches(bench, *stores));
  return report;
}

}  // namespace perdure::bench
