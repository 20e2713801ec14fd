#include "cli/bench/engine_bench.h"

#include <exception>

#include <perdure/client.h>
#include <perdure/registry.h>
#include <perdure/runtime.h>

#include "base/log.h"
#include "provider/sqlite/bench/durability.h"
#include "provider/sqlite/bench/row_counts.h"

namespace perdure::bench {

EngineBench::EngineBench(std::unique_ptr<SqliteStores> stores,
                         const Options& options,
                         Progress& progress)
    : options_(options), progress_(progress), stores_(std::move(stores)) {}

Result<std::unique_ptr<EngineBench>> EngineBench::make(std::string_view workload,
                                                       const Options& options,
                                                       Progress& progress) {
  PERDURE_ASSIGN_OR_RETURN(auto stores, SqliteStores::make(options));
  std::unique_ptr<EngineBench> bench(new EngineBench(std::move(stores), options, progress));
  PERDURE_ASSIGN_OR_RETURN(bench->path_, bench->stores_->reserve(""));
  PERDURE_ASSIGN_OR_RETURN(bench->store_, bench->stores_->open(bench->path_));
  PERDURE_ASSIGN_OR_RETURN(const sqlite::Durability durability,
                           sqlite::read_durability(*bench->store_));
  Report& report = bench->report_;
  report.workload = workload;
  report.provider = "sqlite";
  report.durability = durability == sqlite::Durability::kFull ? "full" : "relaxed";
  report.activity_ms = options.activity_time.count();
  return bench;
}

EngineBench::~EngineBench() {
  close();
}

Client EngineBench::client() const {
  return Client(store_);
}

RuntimeOptions EngineBench::runtime_options() const {
  RuntimeOptions options;
  if (options_.workers) options.max_concurrent_activities = static_cast<int>(*options_.workers);
  return options;
}

void EngineBench::run(const Registry& registry, const RuntimeOptions& options) {
  runtimes_.push_back(std::make_unique<Runtime>(store_, registry, options));
}

void EngineBench::stop() {
  while (!runtimes_.empty()) runtimes_.pop_back();
}

void EngineBench::check_rows(std::int64_t runs, std::int64_t events) {
  const sqlite::RowCounts expected{
      .instances = runs, .executions = runs, .history = events, .events = events};
  const auto found = sqlite::count_rows(path_);
  const Status rows =
      found.ok() ? sqlite::compare_rows("the engine", *found, expected) : Status(found.error());
  if (!rows.ok()) report_.fail(rows.error().message);
}

void EngineBench::close() {
  stop();
  store_.reset();
}

Result<Report> run_engine_bench(std::string_view workload,
                                const Options& options,
                                Progress& progress,
                                const std::function<Status(EngineBench&)>& measure) {
  // That runtimes start and stop is no news here.
  log::set_level(log::Level::kWarning);
  PERDURE_ASSIGN_OR_RETURN(const auto bench, EngineBench::make(workload, options, progress));
  try {
    PERDURE_RETURN_IF_ERROR(measure(*bench));
  } catch (const std::exception& error) {
    return unavailable(error.what());
  }
  return std::move(bench->report());
}

}  // namespace perdure::bench
