#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "base/failpoint.h"
#include "base/guarded.h"
#include "provider/sqlite/connection.h"
#include "provider/sqlite/transaction.h"
#include "tests/live/live_fixture.h"

namespace perdure::test::shutdown_test {

namespace {

constexpr Activity<int(int)> step{"step"};
constexpr Orchestration<int(int)> stepper{"stepper"};

Task<int> run_stepper(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(step, value);
}

constexpr Orchestration<int(int)> patient{"patient"};

/// A cancel waits for the handler.
Task<int> run_patient(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(step, value, {.on_cancel = OnCancel::kWait});
}

struct Told {
  Gate begun;
  Gate told;  ///< of a handler that listens; then there is a reason
  Gate may_end;
  std::atomic<int> attempts{0};
  Guarded<std::string> reason;
};

class LiveShutdown : public Live {
 protected:
  LiveShutdown() {
    registry_.add(stepper, run_stepper);
    registry_.add(patient, run_patient);
  }
  ~LiveShutdown() override { told_->may_end.open(); }

  /// Stops on another thread; ready when `stop` has returned.
  std::future<void> stop() {
    return std::async(std::launch::async, [runtime = runtime_.get()] { runtime->stop(); });
  }

  /// A handler that listens, and stops when it may.
  void listen() {
    registry_.add(step, [told = told_](ActivityContext& ctx, int) -> int {
      ++told->attempts;
      told->begun.open();
      const std::string reason = ctx.wait_until_canceled();
      told->reason.with([&](std::string& text) { text = reason; });
      told->told.open();
      EXPECT_TRUE(told->may_end.wait());
      EXPECT_EQ(ctx.cancel_reason(), reason) << "the first one stays";
      throw Canceled(reason);
    });
  }
  std::string reason() {
    EXPECT_TRUE(told_->told.wait());
    return told_->reason.with([](const std::string& text) { return text; });
  }
  /// Tells handlers at once, and waits for them.
  static RuntimeOptions hasty() {
    RuntimeOptions options = Live::options();
    options.shutdown_grace_period = 0ms;
    options.shutdown_force_timeout = kHanging;
    return options;
  }
  /// The runtime has stopped: nothing is left of the call, and the next runtime only ends the run.
  void expect_canceled_once(std::future<void>& stopping) {
    told_->may_end.open();
    stopping.wait();
    EXPECT_EQ(real_->get_stats("s").value().work_rows, 0);
    EXPECT_TRUE(real_->list_processes().value().empty());
    run();
    const ExecutionInfo end = end_of("s");
    EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
    EXPECT_EQ(end.cancel_reason, "enough");
    runtime_->stop();
    EXPECT_EQ(told_->attempts, 1);
  }
  void cancel_after_the_token(const Orchestration<int(int)>& orchestration) {
    listen();
    run(hasty());
    start(orchestration, "s", "1");
    ASSERT_TRUE(told_->begun.wait());
    std::future<void> stopping = stop();
    EXPECT_EQ(reason(), "the worker shuts down");
    EXPECT_TRUE(cancel("s", "enough").changed);
    expect_canceled_once(stopping);
  }

  const std::shared_ptr<Told> told_ = std::make_shared<Told>();
};

TEST_F(LiveShutdown, WaitsForHandlersThatRun) {
  registry_.add(step, [told = told_](int value) {
    told->begun.open();
    EXPECT_TRUE(told->may_end.wait());
    return value + 1;
  });
  run();
  start(stepper, "s", "1");
  ASSERT_TRUE(told_->begun.wait());
  std::future<void> stopping = stop();
  // Long enough for the stop to have reached the loops: no turn follows.
  EXPECT_EQ(stopping.wait_for(2s), std::future_status::timeout) << "it waits for the handler";
  told_->may_end.open();
  ASSERT_EQ(stopping.wait_for(kHanging), std::future_status::ready);
  EXPECT_EQ(info("s").status, ExecutionStatus::kRunning) << "no turn after the stop";
  EXPECT_TRUE(real_->list_processes().value().empty());
  run();
  EXPECT_EQ(end_of("s").output, "2") << "the outcome was stored, not made again";
}

TEST_F(LiveShutdown, GivesBackWhatListensAndChargesNothing) {
  registry_.add(step, [told = told_](ActivityContext& ctx, int value) {
    if (++told->attempts > 1) return value + ctx.attempt();
    told->begun.open();
    EXPECT_EQ(ctx.wait_until_canceled(), "the worker shuts down");
    ctx.throw_if_canceled();
    return -1;
  });
  run(hasty());
  start(stepper, "s", "10");
  ASSERT_TRUE(told_->begun.wait());
  std::future<void> stopping = stop();
  ASSERT_EQ(stopping.wait_for(kHanging), std::future_status::ready);
  EXPECT_EQ(info("s").status, ExecutionStatus::kRunning);
  run(hasty());
  EXPECT_EQ(end_of("s").output, "12") << "the second attempt, of a call without retries";
}

TEST_F(LiveShutdown, TellsHandlersWhenTheGraceIsOverAndNotBefore) {
  listen();
  RuntimeOptions some = hasty();
  some.shutdown_grace_period = 300ms;
  run(some);
  start(stepper, "s", "1");
  ASSERT_TRUE(told_->begun.wait());
  told_->may_end.open();
  const auto begin = steady_now();
  std::future<void> stopping = stop();
  EXPECT_EQ(reason(), "the worker shuts down");
  EXPECT_GE(steady_now() - begin, 300ms);
  ASSERT_EQ(stopping.wait_for(kHanging), std::future_status::ready);
}

TEST_F(LiveShutdown, LeavesADeafHandlerWhenBothTimesAreOverAndNotBefore) {
  registry_.add(step, [told = told_](int value) {
    told->begun.open();
    EXPECT_TRUE(told->may_end.wait());
    return value;
  });
  RuntimeOptions some = options();
  some.shutdown_grace_period = 100ms;
  some.shutdown_force_timeout = 200ms;
  run(some);
  start(stepper, "s", "1");
  ASSERT_TRUE(told_->begun.wait());
  const auto begin = steady_now();
  const ShutdownReport report = runtime_->stop();
  EXPECT_GE(steady_now() - begin, 300ms);
  EXPECT_LT(steady_now() - begin, 20s);
  EXPECT_EQ(report.left, 1);
  EXPECT_TRUE(report.released);
}

/// One that is told waits for the others: were the queues stopped one after the other, it would
/// wait in vain.
TEST_F(LiveShutdown, TellsTheHandlersOfAllQueuesTogether) {
  constexpr Orchestration<void()> everywhere{"everywhere"};
  registry_.add(everywhere, [](OrchestrationContext& ctx) -> Task<void> {
    auto near = ctx.call(step, 1);
    auto far = ctx.call(step, 2, {.queue = "far"});
    co_await near;
    co_await far;
  });
  struct Count {
    std::atomic<int> begun{0};
    std::atomic<int> told{0};
    Gate all_told;
  };
  const auto count = std::make_shared<Count>();
  registry_.add(step, [count](ActivityContext& ctx, int value) {
    ++count->begun;
    ctx.wait_until_canceled();
    if (++count->told == 2) count->all_told.open();
    EXPECT_TRUE(count->all_told.wait());
    ctx.throw_if_canceled();
    return value;
  });
  RuntimeOptions two = hasty();
  two.workers = {{.queue = "default"}, {.queue = "far"}};
  run(two);
  start(everywhere, "e");
  wait_for([&] { return count->begun == 2; }, "both handlers");
  const ShutdownReport report = runtime_->stop();
  EXPECT_EQ(report.running, 2);
  EXPECT_EQ(report.stopped, 2);
}

TEST_F(LiveShutdown, LeavesADeafHandlerAndRefusesWhatItBrings) {
  registry_.add(step, [told = told_](int value) {
    if (++told->attempts > 1) return value + 1;
    told->begun.open();
    EXPECT_TRUE(told->may_end.wait());
    return -1;
  });
  RuntimeOptions impatient = hasty();
  impatient.shutdown_force_timeout = 0ms;
  run(impatient);
  start(stepper, "s", "1");
  ASSERT_TRUE(told_->begun.wait());
  runtime_->stop();
  run(impatient);
  EXPECT_EQ(end_of("s").output, "2");
  told_->may_end.open();
  EXPECT_EQ(info("s").output, "2");
}

TEST_F(LiveShutdown, ACancelDuringTheDrainIsToldAsAlways) {
  listen();
  RuntimeOptions draining = options();
  draining.shutdown_grace_period = kHanging;
  run(draining);
  start(stepper, "s", "1");
  ASSERT_TRUE(told_->begun.wait());
  std::future<void> stopping = stop();
  wait_for([&] { return store_.interrupts > 0; }, "loops that are told to end");
  EXPECT_TRUE(cancel("s", "enough").changed);
  EXPECT_EQ(reason(), "enough");
  expect_canceled_once(stopping);
}

TEST_F(LiveShutdown, ACancelAtTheEndOfTheDrainIsTheReasonThatStays) {
  const failpoint::Scoped end_of_drain("runtime.shutdown",
                                       {.kind = failpoint::Action::Kind::kPause});
  listen();
  run(hasty());
  start(stepper, "s", "1");
  ASSERT_TRUE(told_->begun.wait());
  std::future<void> stopping = stop();
  ASSERT_TRUE(failpoint::wait_until_paused("runtime.shutdown", kHanging));
  EXPECT_TRUE(cancel("s", "enough").changed);
  EXPECT_EQ(reason(), "enough");
  failpoint::release("runtime.shutdown");
  expect_canceled_once(stopping);
}

TEST_F(LiveShutdown, ACancelAfterTheShutdownTokenEndsTheCallAndNothingIsMadeAgain) {
  cancel_after_the_token(stepper);
}

TEST_F(LiveShutdown, ACancelAfterTheShutdownTokenEndsACallThatIsWaitedFor) {
  cancel_after_the_token(patient);
}

TEST_F(LiveShutdown, IsQuickWhenNothingRuns) {
  registry_.add(step, [](int value) { return value; });
  run();
  start(stepper, "s", "1");
  EXPECT_EQ(end_of("s").output, "1");
  runtime_->stop();
  runtime_->stop();
  runtime_.reset();
  EXPECT_TRUE(real_->list_processes().value().empty());
}

/// In good time, although a call of the store would wait for 30 s.
constexpr auto kSoon = 20s;

TEST_F(LiveShutdown, IsNotHeldUpByAFileThatOthersHaveLocked) {
  listen();
  RuntimeOptions hurried = options();
  hurried.shutdown_grace_period = 100ms;
  hurried.shutdown_force_timeout = 100ms;
  run(hurried);
  start(stepper, "s", "1");
  ASSERT_TRUE(told_->begun.wait());
  const auto other = sqlite::Connection::open(dir_.file("db"), sqlite::Access::kReadWrite);
  other->set_busy_timeout(kHanging);
  std::optional<sqlite::Transaction> locked(*other);
  const auto begin = steady_now();
  const ShutdownReport report = runtime_->stop();
  EXPECT_LT(steady_now() - begin, kSoon);
  EXPECT_EQ(reason(), "the worker shuts down");
  EXPECT_FALSE(report.released);
  EXPECT_EQ(report.left, 1);
  locked.reset();
}

TEST_F(LiveShutdown, IsNotHeldUpByAStoreThatDoesNotAnswer) {
  registry_.add(step, [](int value) { return value; });
  RuntimeOptions hurried = options();
  hurried.shutdown_grace_period = 100ms;
  hurried.shutdown_force_timeout = 100ms;
  run(hurried);
  wait_for([&] { return runtime_->health().ready; }, "readiness");
  const auto begin = [&] {
    const failpoint::Scoped silent("sqlite.begin.before",
                                   {.kind = failpoint::Action::Kind::kPause});
    real_->submit(HeartbeatProcess{}, [](const Result<std::int64_t>&) {}, {});
    EXPECT_TRUE(failpoint::wait_until_paused("sqlite.begin.before", kHanging));
    const auto called = steady_now();
    EXPECT_FALSE(runtime_->stop().released);
    return called;
  }();
  EXPECT_LT(steady_now() - begin, kSoon);
}

TEST_F(LiveShutdown, EndsWithoutARegistrationWhenTheFileIsLocked) {
  registry_.add(step, [](int value) { return value; });
  const auto other = sqlite::Connection::open(dir_.file("db"), sqlite::Access::kReadWrite);
  other->set_busy_timeout(kHanging);
  std::optional<sqlite::Transaction> locked(*other);
  RuntimeOptions hurried = options();
  hurried.shutdown_grace_period = 100ms;
  hurried.shutdown_force_timeout = 100ms;
  run(hurried);
  wait_for([&] { return store_.asked > 0; }, "the registration");
  const auto begin = steady_now();
  EXPECT_FALSE(runtime_->stop().released);
  EXPECT_LT(steady_now() - begin, kSoon);
  locked.reset();
}

// The time that a hook takes is its own.
TEST_F(LiveShutdown, ClaimsNothingMoreWhileTheHookHearsOfIt) {
  registry_.add(step, [told = told_](int value) {
    ++told->attempts;
    return value;
  });
  RuntimeHooks hooks;
  hooks.on_worker_status = [this](const WorkerHealth& worker) {
    if (worker.status != WorkerStatus::kStopping) return;
    start(stepper, "late", "1");
    std::this_thread::sleep_for(300ms);  // long enough to claim and run it
  };
  runtime_ = std::make_unique<Runtime>(store(), registry_, options(), hooks);
  wait_for([&] { return runtime_->health().ready; }, "readiness");
  runtime_->stop();
  EXPECT_EQ(info("late").status, ExecutionStatus::kRunning);
  EXPECT_EQ(told_->attempts, 0);
}

TEST_F(LiveShutdown, EndsWithoutTheStore) {
  registry_.add(step, [](int value) { return value; });
  store_.down = true;
  run();
  start(stepper, "s", "1");
  runtime_->stop();
  store_.down = false;
  EXPECT_EQ(info("s").status, ExecutionStatus::kRunning);
}

}  // namespace

}  // namespace perdure::test::shutdown_test
