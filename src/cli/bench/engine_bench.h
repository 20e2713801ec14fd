#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <perdure/runtime_options.h>

#include "base/result.h"
#include "cli/bench/options.h"
#include "cli/bench/progress.h"
#include "cli/bench/report.h"
#include "cli/bench/sqlite_stores.h"
#include "provider/provider.h"

namespace perdure {
class Client;
class Registry;
class Runtime;
}  // namespace perdure

namespace perdure::bench {

/// A store of its own with the engine on it, for workloads that run orchestrations. The store is
/// the file of the URL; it is opened here and removed when this object goes (unless it shall be
/// kept).
///
/// Threading: one thread; clients may be used by any, until `close`.
class EngineBench {
 public:
  /// Opens the store and begins the report: workload, provider, durability as the store tells it,
  /// and the duration of activities. `options` and `progress` must outlive the answer.
  static Result<std::unique_ptr<EngineBench>> make(std::string_view workload,
                                                   const Options& options,
                                                   Progress& progress);
  EngineBench(const EngineBench&) = delete;
  EngineBench& operator=(const EngineBench&) = delete;
  /// Closes. Nobody else holds the store any more, nor a client of it.
  ~EngineBench();

  const Options& options() const { return options_; }
  Progress& progress() { return progress_; }
  Report& report() { return report_; }
  /// Files beside the store; each is made and removed as the store is.
  SqliteStores& stores() { return *stores_; }
  const std::string& path() const { return path_; }
  /// Of the store, with the durability that was asked for: for another process.
  std::string url() const { return stores_->url(path_); }
  /// Requires: not closed.
  const std::shared_ptr<Provider>& store() const { return store_; }
  /// A new one on the store.
  Client client() const;

  /// The defaults of a runtime, with as many activity slots as `--workers` says.
  RuntimeOptions runtime_options() const;
  /// Starts a runtime on the store, beside those that run already. Throws as its constructor does.
  void run(const Registry& registry, const RuntimeOptions& options);
  /// Stops all runtimes, the one that was started last first.
  void stop();
  /// Counts the rows of the store: so many runs with so many events in all, and nothing that was
  /// consumed or is locked. Otherwise that is a wrong result.
  void check_rows(std::int64_t runs, std::int64_t events);
  /// Stops and closes the store, so that another process has it alone. The file stays until this
  /// object goes.
  void close();

 private:
  EngineBench(std::unique_ptr<SqliteStores> stores, const Options& options, Progress& progress);

  const Options& options_;
  Progress& progress_;
  Report report_;
  std::unique_ptr<SqliteStores> stores_;
  std::string path_;
  std::shared_ptr<Provider> store_;
  std::vector<std::unique_ptr<Runtime>> runtimes_;
};

/// One run of a workload on the engine: makes the store, calls `measure`, which adds its figures to
/// the report and counts what is wrong, and removes the store. What `measure` throws or answers is
/// the error.
Result<Report> run_engine_bench(std::string_view workload,
                                const Options& options,
                                Progress& progress,
                                const std::function<Status(EngineBench&)>& measure);

}  // namespace perdure::bench
