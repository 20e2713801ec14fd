#include "cli/bench/fanout_workload.h"

#include "cli/bench/closed_loop.h"
#include "cli/bench/engine_bench.h"
#include "cli/bench/windows.h"
#include "provider/sqlite/bench/fanout_limit.h"

namespace perdure::bench {

namespace {

/// Numbers of the windows.
struct Windows {
  std::vector<double> runs;
  std::vector<double> limit;
  std::vector<double> ratio;
  Latencies latencies;
};

Result<std::unique_ptr<sqlite::RunLimit>> make_limit(EngineBench& bench, const LoopedRun& run) {
  PERDURE_ASSIGN_OR_RETURN(const std::string path, bench.stores().reserve("-limit"));
  return sqlite::RunLimit::make({.path = path,
                                 .durability = bench.stores().durability(),
                                 .activities = run.activities,
                                 .turns = run.turns});
}

Result<Windows> measure_windows(EngineBench& bench, ClosedLoop& loop, sqlite::RunLimit& limit) {
  Report& report = bench.report();
  bench.progress().show("warming up");
  PERDURE_RETURN_IF_ERROR(loop.run(warmup(bench.options())));
  PERDURE_RETURN_IF_ERROR(limit.run(warmup(bench.options())));
  Windows windows;
  for (int i = 0; i < kWindows; ++i) {
    bench.progress().show("window " + std::to_string(i + 1) + " of " + std::to_string(kWindows));
    PERDURE_ASSIGN_OR_RETURN(const auto found, loop.run(window(bench.options())));
    PERDURE_ASSIGN_OR_RETURN(const double most, limit.run(window(bench.options())));
    windows.runs.push_back(found.runs.per_second());
    windows.limit.push_back(most);
    windows.ratio.push_back(found.runs.per_second() / most);
    windows.latencies.add(found.latencies);
    report.seconds += found.runs.spent.count();
    report.completed += found.runs.units;
  }
  return windows;
}

void add_figures(Report& report, const LoopedRun& run, const Windows& windows) {
  const double runs = median(windows.runs);
  report.figures.push_back(single("orchestrations_per_s", runs));
  report.figures.push_back(single("activities_per_s", runs * run.activities));
  report.figures.push_back(single("p50_ms", windows.latencies.percentile(0.5)));
  report.figures.push_back(single("p99_ms", windows.latencies.percentile(0.99)));
  report.figures.push_back(single("limit_orchestrations_per_s", median(windows.limit)));
  report.figures.push_back(single("ratio_to_limit", median(windows.ratio)));
}

Status measure_loop(EngineBench& bench, const LoopedRun& run) {
  Report& report = bench.report();
  report.in_flight = bench.options().in_flight.value_or(kDefaultInFlight);
  PERDURE_ASSIGN_OR_RETURN(const auto limit, make_limit(bench, run));
  bench.run(make_bench_code(bench.options().activity_time), bench.runtime_options());
  ClosedLoop loop(bench, run, report.in_flight);
  PERDURE_ASSIGN_OR_RETURN(const Windows windows, measure_windows(bench, loop, *limit));
  add_figures(report, run, windows);
  bench.progress().show("checking the results");
  bench.stop();
  loop.check_results();
  bench.check_rows(loop.started(), loop.started() * run.events());
  const Status rows = limit->check_rows();
  if (!rows.ok()) report.fail(rows.error().message);
  return {};
}

}  // namespace

Result<Report> run_fanout(const Options& options, Progress& progress) {
  return run_engine_bench("fanout", options, progress, [](EngineBench& bench) {
    return measure_loop(bench, kFanoutRun);
  });
}

Result<Report> run_chain(const Options& options, Progress& progress) {
  return run_engine_bench("chain", options, progress, [](EngineBench& bench) {
    return measure_loop(bench, kChainRun);
  });
}

}  // namespace perdure::bench
