#include <algorithm>
#include <unistd.h>
#include <unordered_set>

#include "base/clock.h"
#include "cli/bench/provider_parts.h"
#include "provider/sqlite/bench/queue_fill.h"
#include "provider/sqlite/bench/row_writer.h"

namespace perdure::bench {

namespace {

constexpr std::int64_t kRows = 1'000'000;

constexpr std::size_t kItems = 64;
constexpr std::int64_t kFetches = 50;
/// The short queue must last for all fetches.
constexpr auto kShortest = static_cast<std::int64_t>(kItems) * kFetches;

struct Case {
  std::string label;
  sqlite::QueueFill fill;
};

/// The long queue has `count` rows; the others are parts of it, by default those of docs/bench.md.
std::vector<Case> cases(std::int64_t count) {
  const std::int64_t few = std::max(count / 100, kShortest);
  return {{std::to_string(few), {.ready = few}},
          {std::to_string(count), {.ready = count}},
          {"future_timers", {.sleeping = count / 5, .ready = few}},
          {"unserved_head", {.unserved = count, .ready = few}},
          {"locked_head", {.locked_messages = count / 10, .ready = few}}};
}

/// Fetches from one store and looks at what it gets.
class Fetcher {
 public:
  Fetcher(Provider& store, TokenMint& mint, Report& report)
      : store_(store), mint_(mint), report_(report) {}

  /// Milliseconds of a fetch of work.
  Result<double> fetch_work() {
    FetchWorkItems fetch;
    fetch.epoch = mint_.epoch();
    fetch.queue = sqlite::RowWriter::kQueue;
    fetch.names = {sqlite::kServedName};
    fetch.tokens = mint_.next(kItems);
    fetch.lock_for = std::chrono::hours(1);
    const auto begin = steady_now();
    auto fetched = store_.fetch_work_items(std::move(fetch));
    const std::chrono::duration<double, std::milli> took = steady_now() - begin;
    if (!fetched.ok()) return fetched.error();
    bool right = fetched->items.size() == kItems && fetched->problems.empty();
    for (const WorkItem& item : fetched->items) {
      right = right && work_.insert(item.id.value).second &&
              item.work.name == sqlite::kServedName && item.work.priority <= priority_;
      priority_ = item.work.priority;
    }
    if (!right) report_.fail("a fetch of work gave other rows than the first of the queue");
    report_.completed += static_cast<std::int64_t>(fetched->items.size());
    return took.count();
  }

  /// Milliseconds of a fetch of instances.
  Result<double> fetch_instances() {
    FetchOrchestrationItems fetch;
    fetch.epoch = mint_.epoch();
    fetch.queue = sqlite::RowWriter::kQueue;
    fetch.served = {{sqlite::kServedName, ""}};
    fetch.tokens = mint_.next(kItems);
    fetch.lock_for = std::chrono::hours(1);
    const auto begin = steady_now();
    auto fetched = store_.fetch_orchestration_items(std::move(fetch));
    const std::chrono::duration<double, std::milli> took = steady_now() - begin;
    if (!fetched.ok()) return fetched.error();
    bool right = fetched->items.size() == kItems;
    for (const OrchestrationItem& item : fetched->items) {
      right = right && instances_.insert(item.instance.value).second && !item.problem &&
              item.name == sqlite::kServedName && item.messages.size() == 1;
    }
    if (!right) report_.fail("a fetch of instances gave others than the first of the line");
    report_.completed += static_cast<std::int64_t>(fetched->items.size());
    return took.count();
  }

 private:
  Provider& store_;
  TokenMint& mint_;
  Report& report_;
  std::unordered_set<std::int64_t> work_;
  std::unordered_set<std::int64_t> instances_;
  int priority_ = sqlite::kFillPriorities;
};

/// The worse of the two medians.
Result<double> measure(ProviderBench& bench, Provider& store) {
  PERDURE_ASSIGN_OR_RETURN(const Epoch epoch,
                           store.register_process({.host = "bench", .pid = ::getpid()}));
  TokenMint mint(epoch);
  Fetcher fetcher(store, mint, bench.report);
  std::vector<double> work;
  std::vector<double> instances;
  for (std::int64_t i = 0; i < kFetches; ++i) {
    PERDURE_ASSIGN_OR_RETURN(const double of_work, fetcher.fetch_work());
    PERDURE_ASSIGN_OR_RETURN(const double of_instances, fetcher.fetch_instances());
    work.push_back(of_work);
    instances.push_back(of_instances);
    bench.report.seconds += (of_work + of_instances) / 1'000;
  }
  return std::max(median(work), median(instances));
}

Result<double> run(ProviderBench& bench, SqliteStores& stores, const Case& one) {
  bench.progress.show("fetches: filling the store of " + one.label);
  PERDURE_ASSIGN_OR_RETURN(const std::string path, stores.reserve("-fetch-" + one.label));
  PERDURE_RETURN_IF_ERROR(sqlite::fill_queues(path, one.fill));
  bench.progress.show("fetches: " + one.label);
  PERDURE_ASSIGN_OR_RETURN(auto store, stores.open(path));
  auto found = measure(bench, *store);
  store.reset();
  stores.drop(path);
  return found;
}

}  // namespace

Status measure_fetches(ProviderBench& bench, SqliteStores& stores) {
  Figure figure{.key = "fetch_ms"};
  for (const Case& one : cases(bench.options.count.value_or(kRows))) {
    PERDURE_ASSIGN_OR_RETURN(const double milliseconds, run(bench, stores, one));
    figure.values.push_back({one.label, milliseconds});
  }
  bench.report.figures.push_back(std::move(figure));
  return {};
}

}  // namespace perdure::bench
