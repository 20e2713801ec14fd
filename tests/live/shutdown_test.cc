#include <atomic>
#include <future>

#include "tests/live/live_fixture.h"

namespace perdure::test::shutdown_test {

namespace {

constexpr Activity<int(int)> step{"step"};
constexpr Orchestration<int(int)> stepper{"stepper"};

Task<int> run_stepper(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(step, value);
}

struct Told {
  Gate begun;
  Gate may_end;
  std::atomic<int> attempts{0};
};

class LiveShutdown : public Live {
 protected:
  LiveShutdown() { registry_.add(stepper, run_stepper); }

  /// Stops on another thread; ready when `stop` has returned.
  std::future<void> stop() {
    return std::async(std::launch::async, [runtime = runtime_.get()] { runtime->stop(); });
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
  RuntimeOptions hasty = options();
  hasty.shutdown_grace_period = 0ms;
  run(hasty);
  start(stepper, "s", "10");
  ASSERT_TRUE(told_->begun.wait());
  std::future<void> stopping = stop();
  ASSERT_EQ(stopping.wait_for(kHanging), std::future_status::ready);
  EXPECT_EQ(info("s").status, ExecutionStatus::kRunning);
  run(hasty);
  EXPECT_EQ(end_of("s").output, "12") << "the second attempt, of a call without retries";
}

TEST_F(LiveShutdown, LeavesADeafHandlerAndRefusesWhatItBrings) {
  registry_.add(step, [told = told_](int value) {
    if (++told->attempts > 1) return value + 1;
    told->begun.open();
    EXPECT_TRUE(told->may_end.wait());
    return -1;
  });
  RuntimeOptions hasty = options();
  hasty.shutdown_grace_period = 0ms;
  hasty.shutdown_force_timeout = 0ms;
  run(hasty);
  start(stepper, "s", "1");
  ASSERT_TRUE(told_->begun.wait());
  runtime_->stop();
  run(hasty);
  EXPECT_EQ(end_of("s").output, "2");
  told_->may_end.open();
  EXPECT_EQ(info("s").output, "2");
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
