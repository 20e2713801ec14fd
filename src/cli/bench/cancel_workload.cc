#include "cli/bench/cancel_workload.h"

#include <atomic>

#include <perdure/perdure.h>

#include "base/clock.h"
#include "cli/bench/engine_bench.h"
#include "cli/bench/held_runs.h"
#include "cli/bench/latencies.h"
#include "cli/bench/patience.h"
#include "cli/bench/rate.h"
#include "cli/bench/starts.h"
#include "model/status.h"

namespace perdure::bench {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::int64_t kRunning = 1'000;
constexpr std::int64_t kCancels = 10'000;
constexpr auto kLostAfter = std::chrono::seconds(5);

/// What handlers and the one who cancels tell each other. Handlers share it.
struct Board {
  explicit Board(std::int64_t cancels)
      : begun(cancels), awake(cancels), awake_at(static_cast<std::size_t>(cancels)) {}

  Starts begun;
  Starts awake;
  std::vector<std::atomic<SteadyTime>> awake_at;
};

std::int64_t hold_until_canceled(Board& board, ActivityContext& ctx, std::int64_t number) {
  board.begun.note(number);
  ctx.wait_until_canceled();
  board.awake_at[static_cast<std::size_t>(number)] = steady_now();
  board.awake.note(number);
  ctx.throw_if_canceled();
  return number;
}

class Cancels {
 public:
  Cancels(EngineBench& bench, Client client, std::int64_t cancels)
      : bench_(bench), client_(std::move(client)), board_(std::make_shared<Board>(cancels)) {}

  Registry registry() const {
    return held_registry([board = board_](ActivityContext& ctx, std::int64_t number) {
      return hold_until_canceled(*board, ctx, number);
    });
  }

  /// Starts these, cancels them when all handlers run, and waits until all runs have ended.
  Status run_round(std::int64_t begin, std::int64_t end) {
    start_held(client_, begin, end);
    if (!board_->begun.wait_for(end, kPatience)) {
      return unavailable("of " + std::to_string(end) + " handlers only " +
                         std::to_string(board_->begun.begun()) +
                         " have begun: does the system allow so many threads?");
    }
    const auto first = steady_now();
    std::vector<SteadyTime> entered;
    for (std::int64_t i = begin; i < end; ++i) entered.push_back(cancel(i));
    board_->awake.wait_for(end, kLostAfter);
    for (std::int64_t i = begin; i < end; ++i)
      count(i, entered[static_cast<std::size_t>(i - begin)]);
    for (std::int64_t i = begin; i < end; ++i) check_end(i);
    canceled_.add({end - begin, steady_now() - first});
    return {};
  }

  void report() {
    Report& report = bench_.report();
    report.seconds = canceled_.spent.count();
    report.figures.push_back(single("p50_ms", awake_.percentile(0.5)));
    report.figures.push_back(single("p99_ms", awake_.percentile(0.99)));
    report.figures.push_back(single("max_ms", awake_.max()));
    report.figures.push_back(single("call_p99_ms", calls_.percentile(0.99)));
    report.figures.push_back(count_of_wrong("lost", lost_));
    report.figures.push_back(single("canceled_per_s", canceled_.per_second()));
  }

 private:
  /// Answers when the call was entered.
  SteadyTime cancel(std::int64_t number) {
    const std::string id = held_id(number);
    const SteadyTime entered = steady_now();
    const CancelResult canceled = client_.cancel(id, "bench");
    calls_.add(steady_now() - entered);
    if (!canceled.changed) bench_.report().fail("the cancel of " + id + " changed nothing");
    return entered;
  }

  void count(std::int64_t number, SteadyTime entered) {
    const SteadyTime awake = board_->awake_at[static_cast<std::size_t>(number)];
    if (awake == SteadyTime{} || awake - entered > kLostAfter) {
      ++lost_;
      bench_.report().fail("the handler of " + held_id(number) + " was not told within 5 s");
    } else {
      awake_.add(awake - entered);
    }
  }

  void check_end(std::int64_t number) {
    const std::string id = held_id(number);
    const RunStatus end = client_.wait(id, kPatience);
    if (end.status == ExecutionStatus::kCanceled) {
      ++bench_.report().completed;
    } else {
      bench_.report().fail(id + " ended as " + std::string(to_string(end.status)));
    }
  }

  EngineBench& bench_;
  const Client client_;
  const std::shared_ptr<Board> board_;
  Latencies calls_;
  Latencies awake_;
  Rate canceled_;
  std::int64_t lost_ = 0;
};

Status measure_cancel(EngineBench& bench) {
  const std::int64_t running = bench.options().running.value_or(kRunning);
  const std::int64_t count = bench.options().count.value_or(kCancels);
  bench.report().in_flight = running;
  RuntimeOptions options;
  options.max_concurrent_activities = static_cast<int>(running);
  Cancels cancels(bench, bench.client(), count);
  bench.run(cancels.registry(), options);
  for (std::int64_t begin = 0; begin < count; begin += running) {
    bench.progress().show("canceled: " + std::to_string(begin));
    PERDURE_RETURN_IF_ERROR(cancels.run_round(begin, std::min(begin + running, count)));
  }
  cancels.report();
  return {};
}

}  // namespace

Result<Report> run_cancel(const Options& options, Progress& progress) {
  return run_engine_bench("cancel", options, progress, measure_cancel);
}

}  // namespace perdure::bench
