#include "cli/bench/hello_workload.h"

#include <unistd.h>

#include "base/clock.h"
#include "cli/bench/bench_code.h"
#include "cli/bench/commit_timer.h"
#include "cli/bench/hello_loop.h"
#include "cli/bench/windows.h"

namespace perdure::bench {

namespace {

constexpr std::int64_t kCommitsToTime = 200;

/// Of a process of its own, which ends with it: nobody else's heartbeats are mixed in, and none
/// must be sent until the next window.
Result<Latencies> time_commits(EngineBench& bench) {
  Provider& store = *bench.store();
  PERDURE_ASSIGN_OR_RETURN(const Epoch epoch,
                           store.register_process({.host = "bench", .pid = ::getpid()}));
  CommitTimer timer(store, epoch);
  PERDURE_RETURN_IF_ERROR(timer.run(kCommitsToTime, window(bench.options()), bench.report()));
  PERDURE_RETURN_IF_ERROR(store.release_process({.epoch = epoch}));
  return timer.commits();
}

Status measure_hello(EngineBench& bench) {
  Report& report = bench.report();
  report.in_flight = 1;
  bench.run(make_bench_code(bench.options().activity_time), bench.runtime_options());
  HelloLoop hello(bench);
  bench.progress().show("warming up");
  hello.run(warmup(bench.options()));
  Latencies runs;
  Latencies commits;
  for (int i = 0; i < kWindows; ++i) {
    bench.progress().show("window " + std::to_string(i + 1) + " of " + std::to_string(kWindows));
    const auto begin = steady_now();
    runs.add(hello.run(window(bench.options())));
    report.seconds += std::chrono::duration<double>(steady_now() - begin).count();
    PERDURE_ASSIGN_OR_RETURN(const Latencies some, time_commits(bench));
    commits.add(some);
  }
  report.completed = runs.count();
  report.figures = {single("p50_ms", runs.percentile(0.5)),
                    single("p99_ms", runs.percentile(0.99)),
                    single("max_ms", runs.max()),
                    single("commit_p50_ms", commits.percentile(0.5))};
  bench.stop();
  bench.check_rows(hello.started(), kHelloEvents * hello.started());
  return {};
}

}  // namespace

Result<Report> run_hello(const Options& options, Progress& progress) {
  return run_engine_bench("hello", options, progress, &measure_hello);
}

}  // namespace perdure::bench
