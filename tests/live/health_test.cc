#include <atomic>
#include <stdexcept>
#include <vector>

#include "base/guarded.h"
#include "tests/live/live_fixture.h"
#include "tests/live/log_lines.h"

/// What a program learns of the workers of its runtime.
namespace perdure::test::health_test {

namespace {

constexpr Activity<int(int)> step{"step"};
constexpr Orchestration<int(int)> stepper{"stepper"};

Task<int> run_stepper(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(step, value);
}

class Health : public Live {
 protected:
  Health() { registry_.add(stepper, run_stepper); }
  ~Health() override { may_end_->open(); }

  RuntimeHooks hooks() {
    RuntimeHooks hooks;
    hooks.on_worker_status = [seen = seen_](const WorkerHealth& worker) {
      seen->with([&](std::vector<std::string>& all) {
        all.push_back(worker.queue + " " + std::string(to_string(worker.status)));
      });
      if (worker.queue == "gpu" && worker.status == WorkerStatus::kStarting) {
        throw std::runtime_error("no device");
      }
    };
    return hooks;
  }
  std::vector<std::string> seen() {
    return seen_->with([](const std::vector<std::string>& all) { return all; });
  }
  void wait_until_ready() {
    wait_for([&] { return runtime_->health().ready; }, "readiness");
  }

  const std::shared_ptr<Guarded<std::vector<std::string>>> seen_ =
      std::make_shared<Guarded<std::vector<std::string>>>();
  const std::shared_ptr<Gate> begun_ = std::make_shared<Gate>();
  const std::shared_ptr<Gate> may_end_ = std::make_shared<Gate>();
};

TEST_F(Health, TellsTheLifeOfAWorker) {
  registry_.add(step, [](int value) { return value + 1; });
  runtime_ = std::make_unique<Runtime>(store(), registry_, options(), hooks());
  wait_until_ready();
  start(stepper, "s", "1");
  EXPECT_EQ(end_of("s").output, "2");
  runtime_->stop();
  EXPECT_EQ(seen(),
            (std::vector<std::string>{
                "default starting", "default ready", "default stopping", "default stopped"}));
  EXPECT_EQ(runtime_->health().workers.at(0).status, WorkerStatus::kStopped);
  EXPECT_FALSE(runtime_->health().ready);
  EXPECT_TRUE(runtime_->health().live);
}

TEST_F(Health, OfAWorkerThatFailsLeavesTheOthersRunning) {
  registry_.add(step, [](int value) { return value + 1; });
  RuntimeOptions two = options();
  two.workers = {{.queue = "gpu"}, {.queue = "default", .max_concurrent_activities = 7}};
  runtime_ = std::make_unique<Runtime>(store(), registry_, two, hooks());
  start(stepper, "s", "1");
  EXPECT_EQ(end_of("s").output, "2");
  wait_for([&] { return runtime_->health().workers.at(1).status == WorkerStatus::kReady; }, "it");
  const RuntimeHealth health = runtime_->health();
  EXPECT_FALSE(health.ready);
  ASSERT_EQ(health.workers.size(), 2U);
  EXPECT_EQ(health.workers[0].queue, "gpu");
  EXPECT_EQ(health.workers[0].status, WorkerStatus::kFailed);
  EXPECT_EQ(health.workers[0].last_error, "no device");
  EXPECT_EQ(health.workers[1].status, WorkerStatus::kReady);
  EXPECT_EQ(health.workers[1].slots, 7);
  runtime_->stop();
  EXPECT_EQ(runtime_->health().workers[0].status, WorkerStatus::kFailed);
}

TEST_F(Health, IsCreatedUntilTheProcessIsRegistered) {
  store_.down = true;
  runtime_ = std::make_unique<Runtime>(store(), registry_, options(), hooks());
  wait_for([&] { return !runtime_->health().workers.at(0).last_error.empty(); }, "the trouble");
  EXPECT_EQ(runtime_->health().workers.at(0).status, WorkerStatus::kCreated);
  EXPECT_FALSE(runtime_->health().ready);
  EXPECT_TRUE(runtime_->health().live);
  EXPECT_TRUE(seen().empty());
  store_.down = false;
  wait_until_ready();
}

TEST_F(Health, OfAWorkerWhoseHookThrowsAnythingSaysSo) {
  registry_.add(step, [](int value) { return value + 1; });
  RuntimeHooks hooks;
  hooks.on_worker_status = [](const WorkerHealth& worker) {
    if (worker.queue == "gpu" && worker.status == WorkerStatus::kStarting) throw 7;  // NOLINT
  };
  RuntimeOptions two = options();
  two.workers = {{.queue = "gpu"}, {.queue = "default"}};
  runtime_ = std::make_unique<Runtime>(store(), registry_, two, hooks);
  start(stepper, "s", "1");
  EXPECT_EQ(end_of("s").output, "2");
  EXPECT_EQ(runtime_->health().workers.at(0).status, WorkerStatus::kFailed);
  EXPECT_EQ(runtime_->health().workers.at(0).last_error, "an exception that is no std::exception");
}

TEST_F(Health, IsNotHarmedByAHookThatThrowsWhenItIsReady) {
  const LogLines log;
  registry_.add(step, [](int value) { return value + 1; });
  RuntimeHooks hooks;
  hooks.on_worker_status = [](const WorkerHealth& worker) {
    if (worker.status == WorkerStatus::kReady) throw std::runtime_error("not amused");
  };
  runtime_ = std::make_unique<Runtime>(store(), registry_, options(), hooks);
  start(stepper, "s", "1");
  EXPECT_EQ(end_of("s").output, "2");
  wait_until_ready();
  runtime_.reset();
  EXPECT_EQ(log.count(log::Level::kError, ""), 1);
  EXPECT_EQ(log.count(log::Level::kError, "not amused"), 1);
}

TEST_F(Health, OfABadSettingIsRefusedBeforeAnythingBegins) {
  RuntimeOptions bad = options();
  bad.max_concurrent_activities = 0;
  EXPECT_THROW(run(bad), InvalidArgument);
  EXPECT_TRUE(real_->list_processes().value().empty());
}

TEST_F(Health, CountsTheHandlersThatRun) {
  registry_.add(step, [begun = begun_, may_end = may_end_](int value) {
    begun->open();
    may_end->wait();
    return value + 1;
  });
  run();
  start(stepper, "s", "1");
  ASSERT_TRUE(begun_->wait());
  EXPECT_EQ(runtime_->health().workers.at(0).running, 1);
  may_end_->open();
  EXPECT_EQ(end_of("s").output, "2");
  wait_for([&] { return runtime_->health().workers.at(0).running == 0; }, "a free slot");
}

TEST_F(Health, ShowsTheLastTroubleWithTheStore) {
  registry_.add(step, [](int value) { return value; });
  run();
  wait_until_ready();
  EXPECT_EQ(runtime_->health().workers.at(0).last_error, "");
  store_.down = true;
  start(stepper, "s", "1");
  wait_for([&] { return !runtime_->health().workers.at(0).last_error.empty(); }, "the trouble");
  EXPECT_EQ(runtime_->health().workers.at(0).last_error, "the store is down");
  store_.down = false;
  EXPECT_EQ(end_of("s").output, "1");
}

TEST_F(Health, ReportsWhatAShutdownFoundAndLeft) {
  registry_.add(step, [begun = begun_, may_end = may_end_](ActivityContext& ctx, int value) {
    if (value == 1) ctx.wait_until_canceled();
    begun->open();
    if (value == 2) may_end->wait();
    ctx.throw_if_canceled();
    return value;
  });
  RuntimeOptions hasty = options();
  hasty.shutdown_grace_period = 0ms;
  hasty.shutdown_force_timeout = 3s;
  run(hasty);
  start(stepper, "listens", "1");
  start(stepper, "deaf", "2");
  ASSERT_TRUE(begun_->wait());
  wait_for([&] { return runtime_->health().workers.at(0).running == 2; }, "both handlers");
  const ShutdownReport report = runtime_->stop();
  EXPECT_EQ(report.running, 2);
  EXPECT_EQ(report.drained, 0);
  EXPECT_EQ(report.stopped, 1);
  EXPECT_EQ(report.left, 1);
  EXPECT_TRUE(report.released);
  EXPECT_EQ(runtime_->stop().left, 1) << "the same again";
}

struct Alive {
  Alive() { ++count(); }
  Alive(const Alive&) = delete;
  Alive& operator=(const Alive&) = delete;
  ~Alive() { --count(); }
  static std::atomic<int>& count() {
    static std::atomic<int> alive{0};
    return alive;
  }
};

constexpr Orchestration<void()> sleeper{"sleeper"};

Task<void> run_sleeper(OrchestrationContext& ctx) {
  const Alive alive;
  co_await ctx.timer(24h);
}

TEST_F(Health, OfAShutdownWithManyCachedRunsLeavesNoFrame) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr int kRuns = 500;
#else
  constexpr int kRuns = 10'000;
#endif
  registry_.add(sleeper, run_sleeper);
  RuntimeOptions all = options();
  all.replay_check_fraction = 0.0;
  all.max_cached_orchestrations = kRuns;
  run(all);
  for (int i = 0; i < kRuns; ++i) start(sleeper, "r" + std::to_string(i));
  wait_for([&] { return Alive::count() == kRuns; }, "all asleep");
  runtime_->stop();
  EXPECT_EQ(Alive::count(), 0);
}

}  // namespace

}  // namespace perdure::test::health_test
