#include <atomic>
#include <map>
#include <thread>

#include "base/log.h"
#include "tests/live/live_fixture.h"
#include "tests/live/shaky_provider.h"

namespace perdure::test::chaos_test {

namespace {

constexpr Activity<int(int)> grow{"grow"};
constexpr Activity<int(int)> linger{"linger"};
constexpr Orchestration<int(int)> plant{"plant"};
constexpr Orchestration<int(int)> bush{"bush"};

/// Calls in a row, a retry, a race with a loser, a timer.
Task<int> run_plant(OrchestrationContext& ctx, int height) {
  for (int i = 0; i < 3; ++i) {
    height = co_await ctx.call(grow, height, {.retry = retry(5, 1ms)});
  }
  auto slow = ctx.call(linger, height);
  auto short_time = ctx.timer(5ms);
  co_await when_any(slow, short_time);
  co_return height;
}

/// Children at once, then a call.
Task<int> run_bush(OrchestrationContext& ctx, int height) {
  std::vector<Future<int>> stems;
  for (int i = 0; i < 3; ++i) stems.push_back(ctx.call(plant, height));
  int sum = 0;
  for (const int each : co_await when_all(std::move(stems))) sum += each;
  co_return co_await ctx.call(grow, sum, {.retry = retry(5, 1ms)});
}

class LiveChaos : public Live {
 protected:
  LiveChaos() {
    log::set_level(log::Level::kError);
    registry_.add(plant, run_plant);
    registry_.add(bush, run_bush);
    registry_.add(grow, [](ActivityContext& ctx, int height) {
      if (height % 3 == 0 && ctx.attempt() == 1) throw Failed("drought", "the first time");
      return height + 1;
    });
    registry_.add(linger, [](ActivityContext& ctx, int height) {
      ctx.sleep_for(1h);
      return height;
    });
  }
  ~LiveChaos() override {
    runtime_.reset();
    log::set_level(log::Level::kInfo);
  }

  /// Work that is there for somebody to run, or that somebody runs.
  std::int64_t depth() {
    std::int64_t sum = 0;
    const QueueDepths depths = real_->queue_depths().value();
    for (const QueueDepth& queue : depths.queues) {
      for (const WorkDepth& work : queue.work) sum += work.ready + work.delayed + work.claimed;
    }
    return sum;
  }

  ShakyProvider shaky_{*real_, 7, 0.15};
};

TEST_F(LiveChaos, EndsEveryRunAsItShould) {
  constexpr int kRuns = 60;
  RuntimeOptions quick = options();
  // A lock whose fetch was answered by nobody ends by expiry.
  quick.orchestrator_lock_timeout = 500ms;
  runtime_ = std::make_unique<Runtime>(
      std::shared_ptr<Provider>(std::shared_ptr<void>(), &shaky_), registry_, quick);
  std::map<std::string, bool> canceled;
  for (int i = 0; i < kRuns; ++i) {
    const std::string id = "b" + std::to_string(i);
    start(bush, id, "1");
    if (i % 3 == 1) canceled[id] = cancel(id, "weeds").changed;
  }
  for (int i = 0; i < kRuns; ++i) {
    const std::string id = "b" + std::to_string(i);
    if (i % 3 == 2) canceled[id] = cancel(id, "weeds").changed;
  }
  for (int i = 0; i < kRuns; ++i) {
    const std::string id = "b" + std::to_string(i);
    const ExecutionInfo end = end_of(id);
    if (HasFatalFailure()) return;
    if (canceled[id]) {
      EXPECT_EQ(end.status, ExecutionStatus::kCanceled) << id;
    } else {
      EXPECT_EQ(end.status, ExecutionStatus::kCompleted) << id << ": " << end.failure.message;
      EXPECT_EQ(end.output, "13") << id;
    }
  }
  EXPECT_GT(shaky_.refused, 10);
  EXPECT_GT(shaky_.lost, 10);
  // Losers and what was canceled: nothing is left to run.
  wait_for([&] { return depth() == 0; }, "an empty queue");
}

}  // namespace

}  // namespace perdure::test::chaos_test
