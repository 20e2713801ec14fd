#include "cli/bench/cancel_workload.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <perdure/perdure.h>

#include "base/clock.h"
#include "cli/bench/cancel_board.h"
#include "cli/bench/canceled_worker.h"
#include "cli/bench/engine_bench.h"
#include "cli/bench/held_runs.h"
#include "cli/bench/latencies.h"
#include "cli/bench/own_child.h"
#include "cli/bench/patience.h"
#include "cli/bench/rate.h"
#include "cli/bench/unheard_claims.h"
#include "model/status.h"

namespace perdure::bench {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::int64_t kRunning = 1'000;
constexpr std::int64_t kCancels = 10'000;
constexpr auto kLostAfter = std::chrono::seconds(5);

class Cancels {
 public:
  Cancels(EngineBench& bench, Client client, std::shared_ptr<CancelBoard> board)
      : bench_(bench), client_(std::move(client)), board_(std::move(board)) {}

  /// Starts these, cancels them when all handlers run, and waits until all runs have ended.
  Status run_round(std::int64_t begin, std::int64_t end) {
    start_held(client_, begin, end);
    if (!board_->wait_for_begun(end, kPatience)) {
      return unavailable("of " + std::to_string(end) + " handlers only " +
                         std::to_string(board_->begun()) +
                         " have begun: does the system allow so many threads?");
    }
    const auto first = steady_now();
    std::vector<SteadyTime> entered;
    for (std::int64_t i = begin; i < end; ++i) entered.push_back(cancel(i));
    board_->wait_for_awake(end, kLostAfter);
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
    const std::optional<SteadyTime> awake = board_->awake_at(number);
    if (!awake || *awake - entered > kLostAfter) {
      ++lost_;
      bench_.report().fail("the handler of " + held_id(number) + " was not told within 5 s");
    } else {
      awake_.add(*awake - entered);
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
  const std::shared_ptr<CancelBoard> board_;
  Latencies calls_;
  Latencies awake_;
  Rate canceled_;
  std::int64_t lost_ = 0;
};

/// The process that has all workers; returns when it serves the store.
Result<OwnChild> start_worker(EngineBench& bench, std::int64_t running, const CancelBoard& board) {
  const std::int64_t count = bench.options().count.value_or(kCancels);
  PERDURE_ASSIGN_OR_RETURN(OwnChild worker,
                           OwnChild::start({kCanceledWorkerCommand,
                                            bench.url(),
                                            std::to_string(running),
                                            std::to_string(count),
                                            std::to_string(board.descriptor()),
                                            bench.options().drop_notifications ? "1" : "0"}));
  PERDURE_ASSIGN_OR_RETURN(const std::string line, worker.read_line());
  if (line != "serving") return unavailable("the process with the workers: " + line);
  return worker;
}

Status measure_cancel(EngineBench& bench) {
  const std::int64_t running = bench.options().running.value_or(kRunning);
  const std::int64_t count = bench.options().count.value_or(kCancels);
  bench.report().in_flight = running;
  bench.report().processes = bench.options().processes;
  std::shared_ptr<Provider> store = bench.store();
  if (bench.options().drop_notifications) store = std::make_shared<UnheardClaims>(store);
  PERDURE_ASSIGN_OR_RETURN(const auto board, CancelBoard::make(count));
  RuntimeOptions options;
  options.max_concurrent_activities = static_cast<int>(running);
  std::optional<OwnChild> worker;
  Registry registry = held_orchestration();
  if (bench.options().processes > 1) {
    PERDURE_ASSIGN_OR_RETURN(OwnChild started, start_worker(bench, running, *board));
    worker.emplace(std::move(started));
  } else {
    registry = held_registry(held_until_canceled(board));
  }
  // Gone before the other process, whose death it would notice.
  const Runtime runtime(store, registry, options);
  Cancels cancels(bench, Client(store), board);
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
