#include "cli/bench/fanin_workload.h"

#include "cli/bench/check_run.h"
#include "cli/bench/closed_loop.h"
#include "cli/bench/long_run.h"
#include "cli/bench/windows.h"

namespace perdure::bench {

namespace {

constexpr std::int64_t kParts = 10'000;

/// Answers how long it took from the start call to the result.
std::chrono::duration<double> time_fanin(EngineBench& bench, std::int64_t count) {
  bench.progress().show(std::to_string(count) + " activities at once");
  return time_long_run(bench, kFanin, count, fanin_of(count));
}

Status measure_fanin(EngineBench& bench) {
  Report& report = bench.report();
  const std::int64_t count = bench.options().count.value_or(kParts);
  report.in_flight = bench.options().in_flight.value_or(kDefaultInFlight);
  bench.run(make_bench_code(bench.options().activity_time), bench.runtime_options());
  ClosedLoop loop(bench, kFanoutRun, report.in_flight);
  bench.progress().show("warming up");
  PERDURE_RETURN_IF_ERROR(loop.run(warmup(bench.options())));
  bench.progress().show("fanout before it");
  PERDURE_ASSIGN_OR_RETURN(const auto before, loop.run(window(bench.options())));
  const std::chrono::duration<double> took = time_fanin(bench, count);
  bench.progress().show("fanout after it");
  PERDURE_ASSIGN_OR_RETURN(const auto after, loop.run(window(bench.options())));

  Rate fanout = before.runs;
  fanout.add(after.runs);
  const double fanout_activities = fanout.per_second() * kFanoutRun.activities;
  const double fanin_activities = static_cast<double>(count) / took.count();
  report.seconds = (fanout.spent + took).count();
  report.completed = fanout.units + 1;
  report.figures = {single("activities_per_s", fanin_activities),
                    single("per_activity_to_fanout", fanout_activities / fanin_activities),
                    {.key = "fanout_activities_per_s",
                     .values = {{"", fanout_activities}},
                     .for_people_only = true}};
  bench.stop();
  loop.check_results();
  bench.check_rows(loop.started() + 1, loop.started() * kFanoutRun.events() + 2 + 2 * count);
  return {};
}

}  // namespace

Result<Report> run_fanin(const Options& options, Progress& progress) {
  return run_engine_bench("fanin", options, progress, &measure_fanin);
}

}  // namespace perdure::bench
