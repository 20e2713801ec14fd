#include "cli/bench/idle_workload.h"

#include <thread>

#include <perdure/registry.h>

#include "base/clock.h"
#include "cli/bench/engine_bench.h"
#include "cli/bench/own_process.h"
#include "cli/bench/sleepers.h"
#include "provider/sqlite/bench/statement_count.h"

namespace perdure::bench {

namespace {

constexpr std::int64_t kIdleSleepers = 100'000;

Status measure_idle(EngineBench& bench, const sqlite::StatementCount& statements) {
  const Options& options = bench.options();
  Report& report = bench.report();
  report.in_flight = options.count.value_or(kIdleSleepers);
  bench.run(Sleepers::registry(), bench.runtime_options());
  Sleepers sleepers(bench.store());
  bench.progress().show("runs go to sleep");
  sleepers.start(0, report.in_flight);
  bench.progress().show("nothing is due");
  std::this_thread::sleep_for(options.warmup);

  const auto begin = steady_now();
  const auto processor_before = processor_time();
  const std::int64_t statements_before = statements.count();
  std::this_thread::sleep_for(options.seconds);
  const std::chrono::duration<double> spent = steady_now() - begin;
  const std::chrono::duration<double> processor = processor_time() - processor_before;
  const auto counted = static_cast<double>(statements.count() - statements_before);

  report.seconds = spent.count();
  report.completed = sleepers.asleep();
  for (std::int64_t left = report.completed; left < report.in_flight; ++left) {
    report.fail("a run does not sleep any more");
  }
  report.figures.push_back(
      single("cpu_percent_of_one_core", 100 * processor.count() / spent.count()));
  report.figures.push_back(single("queries_per_s", counted / spent.count()));
  return {};
}

}  // namespace

Result<Report> run_idle(const Options& options, Progress& progress) {
  // Before the store, whose connections it watches.
  const sqlite::StatementCount statements;
  return run_engine_bench("idle", options, progress, [&](EngineBench& bench) {
    return measure_idle(bench, statements);
  });
}

}  // namespace perdure::bench
