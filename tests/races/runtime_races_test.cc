#include <algorithm>
#include <atomic>
#include <future>
#include <memory>

#include "tests/live/live_fixture.h"
#include "tests/live/log_lines.h"
#include "tests/races/order.h"

/// A handler that returns while its worker is about to give it up: the first decides. One of the
/// two is held at its failpoint until the other is through.
namespace perdure::test::runtime_races_test {

namespace {

using failpoint::Action;
using races::expect_order;

constexpr Activity<int(int)> toil{"toil"};
constexpr Orchestration<int(int)> waiter{"waiter"};    ///< toil, to its end whatever happens
constexpr Orchestration<int(int)> limited{"limited"};  ///< toil, within 1 s
constexpr Orchestration<int(int)> limited_waiter{"limited_waiter"};  ///< both
constexpr Orchestration<int(int)> plain{"plain"};

constexpr const char* kReturned = "runtime.handler_returned";
constexpr const char* kGrace = "runtime.grace_over";
constexpr const char* kTimeout = "runtime.call_timeout";
constexpr const char* kShutdown = "runtime.shutdown";

Task<int> run_waiter(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(toil, value, {.on_cancel = OnCancel::kWait});
}

Task<int> run_limited(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(toil, value, {.start_to_close = 1s});
}

Task<int> run_limited_waiter(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(toil, value, {.start_to_close = 1s, .on_cancel = OnCancel::kWait});
}

Task<int> run_plain(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(toil, value);
}

/// Shared with handlers, which may outlive a test.
struct Handler {
  std::atomic<int> begun{0};
  Gate running;
  Gate leave;
};

class RuntimeRaces : public Live {
 protected:
  RuntimeRaces() {
    registry_.add(waiter, run_waiter);
    registry_.add(limited, run_limited);
    registry_.add(limited_waiter, run_limited_waiter);
    registry_.add(plain, run_plain);
    registry_.add(toil, [handler = handler_](int value) {
      ++handler->begun;
      handler->running.open();
      handler->leave.wait();
      return value + 1;
    });
  }
  ~RuntimeRaces() override {
    handler_->leave.open();
    failpoint::disarm_all();
  }

  /// The first who comes to the point waits there.
  static void hold(const char* point) { failpoint::arm(point, {.kind = Action::Kind::kPause}); }
  static bool is_held(const char* point) { return failpoint::wait_until_paused(point, kHanging); }
  void wait_for_line(log::Level level, const char* text) {
    wait_for([&] { return log_.count(level, text) == 1; }, text);
  }

  void wait_until_passed(const char* point) {
    wait_for(
        [&] {
          const auto passed = failpoint::passed();
          return std::find(passed.begin(), passed.end(), point) != passed.end();
        },
        point);
  }

  bool has_event(const std::string& id, EventKind kind) {
    const InstanceInfo run = real_->get_instance(id).value();
    HistoryQuery query;
    query.instance = run.key;
    query.execution = run.current.execution;
    const auto pages = real_->read_history({query}).value();
    for (const HistoryEvent& event : pages.at(0).value().events) {
      if (event.kind == kind) return true;
    }
    return false;
  }

  static RuntimeOptions with_grace(Duration grace) {
    RuntimeOptions options = Live::options();
    options.activity_cancellation_grace_period = grace;
    return options;
  }
  static RuntimeOptions hasty() {
    RuntimeOptions options = Live::options();
    options.shutdown_grace_period = 0ms;
    options.shutdown_force_timeout = kHanging;
    return options;
  }
  std::future<void> stop() {
    return std::async(std::launch::async, [runtime = runtime_.get()] { runtime->stop(); });
  }

  const std::shared_ptr<Handler> handler_ = std::make_shared<Handler>();
  LogLines log_;
  const races::Recording recording_;
};

constexpr const char* kGivenUp = "has not stopped within activity_cancellation_grace_period";

TEST_F(RuntimeRaces, EndOfGraceBeforeHandlerReturns) {
  run(with_grace(1ms));
  start(waiter, "r", "1");
  ASSERT_TRUE(handler_->running.wait());
  cancel("r", "enough");
  wait_for_line(log::Level::kWarning, kGivenUp);
  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
  handler_->leave.open();

  wait_for_line(log::Level::kInfo, "was given up has returned: its outcome is dropped");
  expect_order(kGrace, kReturned);
  EXPECT_FALSE(has_event("r", EventKind::kActivityCompleted));
  EXPECT_EQ(handler_->begun, 1);
}

TEST_F(RuntimeRaces, HandlerReturnsBeforeEndOfGrace) {
  hold(kGrace);
  run(with_grace(1ms));
  start(waiter, "r", "1");
  ASSERT_TRUE(handler_->running.wait());
  cancel("r", "enough");
  ASSERT_TRUE(is_held(kGrace));
  handler_->leave.open();

  wait_for_line(log::Level::kInfo, "completed after it was told to stop");
  end_of("r");
  failpoint::release(kGrace);
  runtime_->stop();

  expect_order(kReturned, kGrace);
  EXPECT_TRUE(has_event("r", EventKind::kActivityCompleted)) << "its result counts";
  EXPECT_EQ(log_.count(log::Level::kWarning, kGivenUp), 0);
}

TEST_F(RuntimeRaces, CallTimeoutBeforeHandlerReturns) {
  hold(kReturned);
  run();
  start(limited, "r", "1");
  ASSERT_TRUE(handler_->running.wait());
  handler_->leave.open();
  ASSERT_TRUE(is_held(kReturned));

  EXPECT_EQ(end_of("r").status, ExecutionStatus::kFailed);
  failpoint::release(kReturned);
  runtime_->stop();

  expect_order(kTimeout, kReturned);
  EXPECT_EQ(info("r").status, ExecutionStatus::kFailed);
  EXPECT_TRUE(has_event("r", EventKind::kActivityFailed));
  EXPECT_FALSE(has_event("r", EventKind::kActivityCompleted));
}

TEST_F(RuntimeRaces, HandlerReturnsBeforeCallTimeout) {
  hold(kTimeout);
  run();
  start(limited, "r", "1");
  ASSERT_TRUE(handler_->running.wait());
  ASSERT_TRUE(is_held(kTimeout));
  handler_->leave.open();

  EXPECT_EQ(end_of("r").output, "2");
  failpoint::release(kTimeout);
  runtime_->stop();

  expect_order(kReturned, kTimeout);
  EXPECT_FALSE(has_event("r", EventKind::kActivityFailed));
}

TEST_F(RuntimeRaces, CancelBeforeCallTimeout) {
  run(with_grace(kHanging));
  start(limited_waiter, "r", "1");
  ASSERT_TRUE(handler_->running.wait());
  EXPECT_TRUE(cancel("r", "enough").changed);
  wait_until_passed(kTimeout);
  handler_->leave.open();

  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
  EXPECT_TRUE(has_event("r", EventKind::kActivityCompleted)) << "its real outcome counts";
  EXPECT_FALSE(has_event("r", EventKind::kActivityFailed));
}

TEST_F(RuntimeRaces, ShutdownBeforeCallTimeout) {
  run(hasty());
  start(limited, "r", "1");
  ASSERT_TRUE(handler_->running.wait());
  std::future<void> stopping = stop();
  wait_until_passed(kTimeout);
  EXPECT_EQ(info("r").status, ExecutionStatus::kRunning);
  handler_->leave.open();

  ASSERT_EQ(stopping.wait_for(kHanging), std::future_status::ready);
  expect_order(kShutdown, kTimeout);
  run();
  EXPECT_EQ(end_of("r").output, "2") << "a shutdown fails no call";
  EXPECT_EQ(handler_->begun, 1);
}

TEST_F(RuntimeRaces, ShutdownBeforeHandlerReturns) {
  run(hasty());
  start(plain, "r", "1");
  ASSERT_TRUE(handler_->running.wait());
  hold(kReturned);
  std::future<void> stopping = stop();
  wait_for([] { return failpoint::hits(kShutdown) > 0; }, "the shutdown");
  handler_->leave.open();
  ASSERT_TRUE(is_held(kReturned));
  failpoint::release(kReturned);

  ASSERT_EQ(stopping.wait_for(kHanging), std::future_status::ready);
  expect_order(kShutdown, kReturned);
  run();
  EXPECT_EQ(end_of("r").output, "2") << "a result that comes in time counts";
  EXPECT_EQ(handler_->begun, 1);
}

TEST_F(RuntimeRaces, HandlerReturnsBeforeShutdown) {
  hold(kShutdown);
  run(hasty());
  start(plain, "r", "1");
  ASSERT_TRUE(handler_->running.wait());
  std::future<void> stopping = stop();
  ASSERT_TRUE(is_held(kShutdown));
  handler_->leave.open();
  wait_for([&] { return real_->get_stats("r").value().work_rows == 0; }, "the result");
  failpoint::release(kShutdown);

  ASSERT_EQ(stopping.wait_for(kHanging), std::future_status::ready);
  expect_order(kReturned, kShutdown);
  EXPECT_EQ(info("r").status, ExecutionStatus::kRunning) << "no turn follows a stop";
  run();
  EXPECT_EQ(end_of("r").output, "2") << "stored, and not made again";
  EXPECT_EQ(handler_->begun, 1);
}

}  // namespace

}  // namespace perdure::test::runtime_races_test
