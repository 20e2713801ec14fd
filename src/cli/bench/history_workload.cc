#include "cli/bench/history_workload.h"

#include "base/clock.h"
#include "cli/bench/bench_code.h"
#include "cli/bench/hello_loop.h"
#include "cli/bench/long_run.h"
#include "cli/bench/windows.h"

namespace perdure::bench {

namespace {

constexpr std::int64_t kSteps = 10'000;

using Moments = std::vector<std::chrono::steady_clock::time_point>;

/// Notes when the handler of each step began. Warming up is told from it by inputs below zero; a
/// step that is made again (a lost claim) counts from its first time.
std::function<void(Number)> noting(const std::shared_ptr<Moments>& begun) {
  return [begun](Number step) {
    if (step < 0) return;
    auto& moment = begun->at(static_cast<std::size_t>(step));
    if (moment == Moments::value_type{}) moment = steady_now();
  };
}

/// Mean time of a step in each tenth of the run, in milliseconds.
std::vector<double> step_times(const Moments& begun) {
  const std::size_t steps = begun.size() - 1;
  std::vector<double> times;
  for (std::size_t i = 0; i < kDeciles; ++i) {
    const std::size_t first = i * steps / kDeciles;
    const std::size_t last = (i + 1) * steps / kDeciles;
    const std::chrono::duration<double, std::milli> spent = begun[last] - begun[first];
    times.push_back(spent.count() / static_cast<double>(last - first));
  }
  return times;
}

Status measure_history(EngineBench& bench) {
  Report& report = bench.report();
  const std::int64_t count = bench.options().count.value_or(kSteps);
  report.in_flight = 1;
  const auto begun = std::make_shared<Moments>(static_cast<std::size_t>(count) + 1);
  bench.run(make_bench_code(bench.options().activity_time, noting(begun)), bench.runtime_options());
  HelloLoop hello(bench);
  bench.progress().show("warming up");
  hello.run(warmup(bench.options()));
  bench.progress().show(std::to_string(count) + " steps");
  const auto took = time_long_run(bench, kHistory, count, count);
  begun->back() = steady_now();
  bench.stop();

  report.seconds = std::chrono::duration<double>(took).count();
  report.completed = 1;
  const std::vector<double> times = step_times(*begun);
  Figure by_decile{.key = "step_ms_by_decile", .list = true};
  for (const double time : times) by_decile.values.push_back({.number = time});
  report.figures = {by_decile, single("last_to_first_decile", times.back() / times.front())};
  bench.check_rows(hello.started() + 1, kHelloEvents * hello.started() + 2 + 2 * count);
  return {};
}

}  // namespace

Result<Report> run_history(const Options& options, Progress& progress) {
  return run_engine_bench("history", options, progress, &measure_history);
}

}  // namespace perdure::bench
