#include "cli/bench/sleepers_workload.h"

#include <perdure/registry.h>
#include <perdure/runtime.h>

#include "base/clock.h"
#include "cli/bench/engine_bench.h"
#include "cli/bench/own_process.h"
#include "cli/bench/rate.h"
#include "cli/bench/shifted_clock.h"
#include "cli/bench/sleepers.h"
#include "provider/open/open.h"
#include "provider/sqlite/bench/page_cache.h"

namespace perdure::bench {

namespace {

constexpr std::int64_t kSleepers = 100'000;
constexpr std::int64_t kBaseline = 1'000;
constexpr std::int64_t kPageCache = std::int64_t{8} << 20U;

/// Sleepers in a store of their own.
struct Part {
  std::string name;
  std::string path;
  std::size_t max_cached = 0;
};

struct PartFigures {
  double rss_bytes_each = 0;
  double starts_per_s = 0;
  double wakes_per_s = 0;
};

RuntimeOptions runtime_options(std::size_t max_cached) {
  RuntimeOptions options;
  options.max_cached_orchestrations = max_cached;
  options.max_cache_bytes = std::size_t{1} << 40U;  // the number alone decides
  return options;
}

/// Without the pages that SQLite keeps: they are bounded, however many sleep.
Result<std::int64_t> rss_without_pages(Provider& store) {
  PERDURE_RETURN_IF_ERROR(sqlite::empty_page_cache(store));
  return resident_bytes();
}

/// What a process with few sleepers takes, none of them cached.
Result<std::int64_t> measure_baseline(const std::shared_ptr<Provider>& store,
                                      Sleepers& sleepers,
                                      std::int64_t count) {
  const Runtime runtime(store, Sleepers::registry(), runtime_options(0));
  sleepers.start(0, count);
  return rss_without_pages(*store);
}

void check_completed(Report& report, const Part& part, std::int64_t found, std::int64_t expected) {
  report.completed += found;
  for (std::int64_t missing = found; missing < expected; ++missing) {
    report.fail("a sleeper (" + part.name + ") did not complete");
  }
}

/// The first ones of the baseline sleep on, evicted in either case.
Result<PartFigures> measure_part(EngineBench& bench, const Part& part, std::int64_t count) {
  ShiftedClock clock;
  PERDURE_ASSIGN_OR_RETURN(std::shared_ptr<Provider> store,
                           open_provider(bench.stores().url(part.path), clock));
  PERDURE_RETURN_IF_ERROR(sqlite::limit_page_cache(*store, kPageCache));
  Sleepers sleepers(store);
  const std::int64_t baseline = std::min(kBaseline, count / 2);
  bench.progress().show("the baseline of the sleepers, " + part.name);
  PERDURE_ASSIGN_OR_RETURN(const std::int64_t before, measure_baseline(store, sleepers, baseline));

  bench.progress().show("sleepers go to sleep, " + part.name);
  const Runtime runtime(store, Sleepers::registry(), runtime_options(part.max_cached));
  const auto begin = steady_now();
  sleepers.start(baseline, count);
  const Rate starts{count - baseline, steady_now() - begin};
  PERDURE_ASSIGN_OR_RETURN(const std::int64_t after, rss_without_pages(*store));

  bench.progress().show("sleepers wake, " + part.name);
  const auto woken = steady_now();
  clock.shift(2 * Sleepers::kSleep);
  sleepers.wait_until_awake();
  const Rate wakes{count, steady_now() - woken};
  check_completed(bench.report(), part, sleepers.completed(), count);
  bench.report().seconds += (starts.spent + wakes.spent).count();
  return PartFigures{static_cast<double>(after - before) / static_cast<double>(starts.units),
                     starts.per_second(),
                     wakes.per_second()};
}

Status measure_sleepers(EngineBench& bench) {
  const std::int64_t count = bench.options().count.value_or(kSleepers);
  Report& report = bench.report();
  report.in_flight = count;
  bench.close();  // opened again, with another clock
  PERDURE_ASSIGN_OR_RETURN(const std::string cached_path, bench.stores().reserve("-cached"));
  // Those that leave little behind in the heap come first.
  PERDURE_ASSIGN_OR_RETURN(const PartFigures evicted,
                           measure_part(bench, {"evicted", bench.path(), 0}, count));
  PERDURE_ASSIGN_OR_RETURN(
      const PartFigures cached,
      measure_part(bench, {"cached", cached_path, static_cast<std::size_t>(count)}, count));
  report.figures.push_back(single("rss_bytes_per_cached", cached.rss_bytes_each));
  report.figures.push_back(single("rss_bytes_per_evicted", evicted.rss_bytes_each));
  report.figures.push_back(single("starts_per_s", evicted.starts_per_s));
  report.figures.push_back(single("wakes_per_s", evicted.wakes_per_s));
  Figure others{.key = "cached", .values = {}, .for_people_only = true};
  others.values.push_back({.label = "starts_per_s", .number = cached.starts_per_s});
  others.values.push_back({.label = "wakes_per_s", .number = cached.wakes_per_s});
  report.figures.push_back(std::move(others));
  return {};
}

}  // namespace

Result<Report> run_sleepers(const Options& options, Progress& progress) {
  return run_engine_bench("sleepers", options, progress, measure_sleepers);
}

}  // namespace perdure::bench
