#include <atomic>
#include <thread>

#include "tests/live/live_fixture.h"
#include "tests/live/log_lines.h"

/// What an author of activities is promised when a run stops.
namespace perdure::test::activity_cancellation_test {

namespace {

constexpr Activity<int(int)> toil{"toil"};
constexpr Activity<int(int)> brief{"brief"};
constexpr Activity<int(int)> hold{"hold"};
constexpr Orchestration<int(int)> crew{"crew"};        ///< so many calls of toil at once
constexpr Orchestration<int(int)> hurried{"hurried"};  ///< does not wait for toil
constexpr Event<int> enough{"enough"};
constexpr Orchestration<int(int)> one_brief{"one_brief"};
constexpr Orchestration<int(int)> one_hold{"one_hold"};
constexpr const char* kGivenUp = "has not stopped within activity_cancellation_grace_period";
constexpr const char* kStopped = "has stopped as it was told";
constexpr const char* kLeft = "handlers that do not stop";

Task<int> run_crew(OrchestrationContext& ctx, int count) {
  std::vector<Future<int>> calls;
  for (int i = 0; i < count; ++i) calls.push_back(ctx.call(toil, i));
  int sum = 0;
  for (const int each : co_await when_all(std::move(calls))) sum += each;
  co_return sum;
}

Task<int> run_hurried(OrchestrationContext& ctx, int value) {
  auto call = ctx.call(toil, value);
  co_await ctx.wait_for(enough);
  co_return -1;
}

Task<int> run_one_brief(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(brief, value);
}

Task<int> run_one_hold(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(hold, value);
}

/// What handlers tell; shared, since one may outlive its test.
struct Counts {
  std::atomic<int> begun{0};
  std::atomic<int> told{0};  ///< saw that they shall stop
  std::atomic<int> returned{0};
  std::atomic<int> holding{0};  ///< handlers of `hold` that run
  Gate leave;                   ///< for handlers that do not listen
};

class ActivityCancellation : public Live {
 protected:
  ActivityCancellation() {
    registry_.add(crew, run_crew);
    registry_.add(hurried, run_hurried);
    registry_.add(one_brief, run_one_brief);
    registry_.add(one_hold, run_one_hold);
    registry_.add(brief, [](int value) { return value + 1; });
    registry_.add(hold, [counts = counts_](int value) {
      ++counts->holding;
      counts->leave.wait();
      return value;
    });
  }
  ~ActivityCancellation() override { counts_->leave.open(); }

  /// Handlers that stop when they are told.
  void obedient() {
    registry_.add(toil, [counts = counts_](ActivityContext& ctx, int value) {
      return obey(*counts, ctx, value);
    });
  }
  /// Handlers that never look.
  void deaf() {
    registry_.add(
        toil, [counts = counts_](ActivityContext&, int value) { return ignore(*counts, value); });
  }
  /// The first of a crew never looks, the others stop when they are told.
  void deaf_among_obedient() {
    registry_.add(toil, [counts = counts_](ActivityContext& ctx, int value) {
      return value == 0 ? ignore(*counts, value) : obey(*counts, ctx, value);
    });
  }

  void wait_for_begun(int count) {
    wait_for([&] { return counts_->begun >= count; }, "handlers that begin");
  }
  void wait_for_told(int count) {
    wait_for([&] { return counts_->told >= count; }, "handlers that are told");
  }
  void wait_for_stopped(int count) {
    wait_for([&] { return log_.count(log::Level::kInfo, kStopped) >= count; }, "handlers that end");
  }
  /// Nothing of the run is left in a queue.
  void expect_nothing_left(const std::string& id) {
    const InstanceStats stats = real_->get_stats(id).value();
    EXPECT_EQ(stats.work_rows + stats.queued_messages, 0) << id;
  }
  static RuntimeOptions with_grace(Duration grace) {
    RuntimeOptions options = Live::options();
    options.activity_cancellation_grace_period = grace;
    return options;
  }

  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
  LogLines log_;

 private:
  static int obey(Counts& counts, ActivityContext& ctx, int value) {
    ++counts.begun;
    ctx.wait_until_canceled();
    ++counts.told;
    ctx.throw_if_canceled();
    return value;
  }
  static int ignore(Counts& counts, int value) {
    ++counts.begun;
    counts.leave.wait();
    ++counts.returned;
    return value;
  }
};

TEST_F(ActivityCancellation, ActivityReceivesCancellationToken) {
  const auto at_first = std::make_shared<std::atomic<int>>(-1);
  registry_.add(toil, [at_first](ActivityContext& ctx, int value) {
    *at_first = ctx.is_cancellation_requested() || ctx.stop_token().stop_requested() ? 1 : 0;
    EXPECT_TRUE(ctx.stop_token().stop_possible());
    return value;
  });
  run();
  start(crew, "r", "1");
  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCompleted);
  EXPECT_EQ(*at_first, 0);
}

TEST_F(ActivityCancellation, CancellationTokenTriggeredOnOrchestrationCancel) {
  obedient();
  run();
  start(crew, "r", "1");
  wait_for_begun(1);
  EXPECT_TRUE(cancel("r", "enough").changed);
  wait_for_told(1);
  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
}

TEST_F(ActivityCancellation, CancellationTokenTriggeredOnOrchestrationComplete) {
  obedient();
  run();
  start(hurried, "r", "1");
  wait_for_begun(1);
  raise("r", enough, "1");
  EXPECT_EQ(end_of("r").output, "-1");
  wait_for_told(1);
}

TEST_F(ActivityCancellation, ActivityCompletesWithinGracePeriod) {
  obedient();
  run(with_grace(60s));
  start(crew, "r", "1");
  wait_for_begun(1);
  cancel("r", "enough");
  wait_for([&] { return log_.count(log::Level::kInfo, kStopped) == 1; }, "the graceful end");
  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
  EXPECT_EQ(log_.count(log::Level::kWarning, kGivenUp), 0);
}

TEST_F(ActivityCancellation, ActivityExceedsGracePeriod) {
  deaf();
  RuntimeOptions options = with_grace(50ms);
  options.max_concurrent_activities = 1;
  run(options);
  start(crew, "r", "1");
  wait_for_begun(1);
  cancel("r", "enough");
  wait_for([&] { return log_.count(log::Level::kWarning, kGivenUp) == 1; }, "the warning");
  start(one_brief, "next", "1");
  EXPECT_EQ(end_of("next").output, "2") << "its slot is free";
  EXPECT_EQ(counts_->returned, 0) << "it runs on";
  counts_->leave.open();
  wait_for([&] { return counts_->returned == 1; }, "its return");
  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
  EXPECT_EQ(log_.count(log::Level::kWarning, kGivenUp), 1);
}

TEST_F(ActivityCancellation, LeakedActivityCleanedUpOnShutdown) {
  deaf();
  run(with_grace(20ms));
  start(crew, "r", "1");
  wait_for_begun(1);
  cancel("r", "enough");
  wait_for([&] { return log_.count(log::Level::kWarning, kGivenUp) == 1; }, "the warning");
  runtime_->stop();
  EXPECT_EQ(log_.count(log::Level::kWarning, kLeft), 1) << "reported";
  EXPECT_EQ(counts_->returned, 0) << "left to itself";
}

TEST_F(ActivityCancellation, ActivityCompletesBeforeCancellationCheck) {
  run();
  start(one_brief, "r", "1");
  EXPECT_EQ(end_of("r").output, "2");
  const CancelAnswer late = cancel("r", "too late");
  EXPECT_FALSE(late.changed);
  EXPECT_EQ(late.status, ExecutionStatus::kCompleted);
  EXPECT_EQ(info("r").output, "2");
}

TEST_F(ActivityCancellation, MultipleActivitiesCancelledTogether) {
  deaf_among_obedient();
  run(with_grace(4s));
  start(crew, "r", "3");
  wait_for_begun(3);
  cancel("r", "enough");
  wait_for_told(2);
  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
  wait_for([&] { return log_.count(log::Level::kWarning, kGivenUp) > 0; }, "the warning");
  counts_->leave.open();
  runtime_->stop();
  EXPECT_EQ(log_.count(log::Level::kInfo, kStopped), 2) << "each of the others by itself";
  EXPECT_EQ(log_.count(log::Level::kWarning, kGivenUp), 1) << "the deaf one";
  expect_nothing_left("r");
}

TEST_F(ActivityCancellation, ActivitySpawnsChildTasksWithCancellation) {
  const auto threads = std::make_shared<std::atomic<int>>(0);
  registry_.add(toil, [counts = counts_, threads](ActivityContext& ctx, int value) {
    std::vector<std::jthread> children;
    for (int i = 0; i < 3; ++i) {
      children.emplace_back([threads, token = ctx.stop_token()] {
        while (!token.stop_requested()) std::this_thread::sleep_for(1ms);
        ++*threads;
      });
    }
    ++counts->begun;
    for (std::jthread& child : children) child.join();
    ctx.throw_if_canceled();
    return value;
  });
  run();
  start(crew, "r", "1");
  wait_for_begun(1);
  cancel("r", "enough");
  wait_for([&] { return *threads == 3; }, "its threads");
  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
}

TEST_F(ActivityCancellation, HighConcurrencyCancellation) {
  obedient();
  RuntimeOptions options = with_grace(60s);
  options.max_concurrent_activities = 500;
  run(options);
  for (int i = 0; i < 100; ++i) start(crew, "r" + std::to_string(i), "5");
  wait_for_begun(500);
  for (int i = 0; i < 100; ++i) cancel("r" + std::to_string(i), "enough");
  wait_for_told(500);
  for (int i = 0; i < 100; ++i) {
    const std::string id = "r" + std::to_string(i);
    EXPECT_EQ(end_of(id).status, ExecutionStatus::kCanceled);
    expect_nothing_left(id);
  }
  wait_for_stopped(500);
  runtime_->stop();
  EXPECT_EQ(counts_->begun, 500);
  EXPECT_EQ(log_.count(log::Level::kInfo, kStopped), 500);
  EXPECT_EQ(log_.count(log::Level::kWarning, kGivenUp), 0);
  EXPECT_EQ(log_.count(log::Level::kWarning, kLeft), 0) << "no thread is left";
}

TEST_F(ActivityCancellation, CancellationDuringHighLoad) {
  obedient();
  RuntimeOptions options = with_grace(60s);
  options.max_concurrent_activities = 8;
  run(options);
  for (int i = 0; i < 20; ++i) start(crew, "r" + std::to_string(i), "4");
  wait_for_begun(8);
  for (int i = 0; i < 20; ++i) cancel("r" + std::to_string(i), "enough");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(end_of("r" + std::to_string(i)).status, ExecutionStatus::kCanceled);
  }
  for (int i = 0; i < 8; ++i) start(one_hold, "next" + std::to_string(i), "1");
  wait_for([&] { return counts_->holding == 8; }, "all slots, which are free again");
  EXPECT_EQ(counts_->told, counts_->begun) << "all that held them had begun and were told";
  counts_->leave.open();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(end_of("next" + std::to_string(i)).output, "1");
}

}  // namespace

}  // namespace perdure::test::activity_cancellation_test
