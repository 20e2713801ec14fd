#include "cli/bench/soak_workload.h"

#include <algorithm>
#include <string>
#include <thread>

#include <perdure/perdure.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "cli/bench/engine_bench.h"
#include "cli/bench/gathering.h"
#include "cli/bench/held_runs.h"
#include "cli/bench/patience.h"
#include "cli/bench/soak_batch.h"
#include "provider/sqlite/bench/row_counts.h"

namespace perdure::bench {

namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kSoakCancels = 10'000;
constexpr std::int64_t kSlots = 64;  ///< fewer than handlers want, so that work is queued too
constexpr std::int64_t kFewestTrees = 8;
constexpr std::int64_t kMostTrees = 200;
constexpr std::uint64_t kSoakSeeds = 1'000'000'000;
/// Shorter than handlers that do not listen take at times.
constexpr milliseconds kSoakGrace{20};
/// Longer than the bench waits: a run that ends only by its cleanup deadline hangs.
constexpr auto kSoakCleanup = 2 * kPatience;
constexpr auto kRowsLook = milliseconds(5);

/// One soak: batch after batch, then what can only be seen at the end.
class Soak {
 public:
  explicit Soak(EngineBench& bench)
      : bench_(bench),
        slots_(bench.options().workers.value_or(kSlots)),
        cancels_(bench.options().cancels.value_or(kSoakCancels)),
        seed_(bench.options().seed.value_or(
            static_cast<std::int64_t>(SystemRandom().next() % kSoakSeeds))),
        client_(bench.store(), client_options()),
        gathering_(std::make_shared<Gathering>(slots_)),
        handlers_(std::make_shared<SoakHandlers>()),
        budget_(cancels_) {}

  Status run() {
    const auto begin = steady_now();
    bench_.run(registry(), runtime_options());
    SeededRandom random(static_cast<std::uint64_t>(seed_));
    for (int batch = 0; budget_.left() > 0 && bench_.report().failed == 0; ++batch) {
      PERDURE_RETURN_IF_ERROR(run_batch(batch, random));
    }
    if (bench_.report().failed == 0) check_slots();
    if (bench_.report().failed == 0) check_nothing_left();
    bench_.report().seconds = std::chrono::duration<double>(steady_now() - begin).count();
    report();
    return {};
  }

 private:
  static ClientOptions client_options() {
    ClientOptions options;
    options.cancel_cleanup_timeout = kSoakCleanup;
    return options;
  }

  RuntimeOptions runtime_options() const {
    RuntimeOptions options;
    options.max_concurrent_activities = static_cast<int>(slots_);
    options.activity_cancellation_grace_period = kSoakGrace;
    options.cancel_cleanup_timeout = kSoakCleanup;
    return options;
  }

  Registry registry() const {
    Registry registry =
        held_registry([gathering = gathering_](ActivityContext& ctx, std::int64_t number) {
          return gathering->attend(ctx, number);
        });
    add_soak_code(registry, handlers_);
    return registry;
  }

  Status run_batch(int number, Random& random) {
    const std::int64_t left = budget_.left();
    bench_.progress().show("canceled: " + std::to_string(cancels_ - left));
    const std::int64_t trees = std::clamp(left, kFewestTrees, kMostTrees);
    bench_.report().in_flight = std::max(bench_.report().in_flight, trees);
    SoakBatch batch({bench_, client_, *handlers_, budget_, counts_},
                    "soak-" + std::to_string(number) + "-",
                    static_cast<std::size_t>(trees));
    batch.act(plan_batch(static_cast<std::size_t>(trees), random));
    PERDURE_RETURN_IF_ERROR(batch.check(kPatience));
    deleted_ += batch.deleted();
    if (budget_.left() == left) {
      return unavailable("of " + std::to_string(trees) + " trees no cancel changed anything");
    }
    return {};
  }

  /// The worker must still be able to run as many handlers at once as it has slots.
  void check_slots() {
    bench_.progress().show("all slots are filled");
    start_held(client_, 0, slots_);
    gathering_->starts().wait_for(slots_, kPatience);
    for (std::int64_t free = gathering_->starts().begun(); free < slots_; ++free) {
      bench_.report().fail("a slot of the worker is lost");
    }
    gathering_->let_go();
    if (bench_.report().failed > 0) return;
    for (std::int64_t i = 0; i < slots_; ++i) {
      const RunStatus end = client_.wait(held_id(i), kPatience);
      if (end.status != ExecutionStatus::kCompleted) {
        bench_.report().fail(held_id(i) + " did not complete after the soak");
      }
      client_.remove(held_id(i));
    }
  }

  /// Every tree was removed, so not a row may be left of any.
  void check_nothing_left() {
    const auto until = steady_now() + kPatience;
    while (steady_now() < until) {
      const auto rows = sqlite::count_rows(bench_.path());
      if (rows.ok() && *rows == sqlite::RowCounts{}) break;
      std::this_thread::sleep_for(kRowsLook);
    }
    bench_.check_rows(0, 0);
  }

  void report() {
    Report& report = bench_.report();
    report.completed = counts_.runs;
    for (std::string& problem : report.problems) {
      problem = "seed " + std::to_string(seed_) + ": " + problem;
    }
    report.figures.push_back(exact_count("cancels", cancels_ - budget_.left()));
    report.figures.push_back(count_of_wrong("violations", report.failed));
    report.figures.push_back(identity("seed", seed_));
    const auto show = [&report](const char* key, std::int64_t number) {
      Figure figure = exact_count(key, number);
      figure.for_people_only = true;
      report.figures.push_back(std::move(figure));
    };
    show("runs_completed", counts_.completed);
    show("runs_failed", counts_.failed);
    show("runs_canceled", counts_.canceled);
    show("continued_as_new", counts_.continued);
    show("calls_timed_out", counts_.timeouts);
    show("calls_undone", counts_.undone);
    show("trees_deleted", deleted_);
  }

  EngineBench& bench_;
  const std::int64_t slots_;
  const std::int64_t cancels_;
  const std::int64_t seed_;
  const Client client_;
  const std::shared_ptr<Gathering> gathering_;
  const std::shared_ptr<SoakHandlers> handlers_;
  CancelBudget budget_;
  SoakCounts counts_;
  std::int64_t deleted_ = 0;
};

}  // namespace

Result<Report> run_soak(const Options& options, Progress& progress) {
  return run_engine_bench("soak", options, progress, [](EngineBench& bench) {
    // Handlers that do not stop in time and late results are warnings, and the purpose here.
    log::set_level(log::Level::kError);
    return Soak(bench).run();
  });
}

}  // namespace perdure::bench
