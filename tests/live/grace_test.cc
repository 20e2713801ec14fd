#include <atomic>
#include <stop_token>

#include "tests/live/live_fixture.h"
#include "tests/live/log_lines.h"

/// What becomes of handlers that were told to stop, and how much of it is logged.
namespace perdure::test::grace_test {

namespace {

constexpr Activity<int(int)> labor{"labor"};
constexpr Activity<int(int)> errand{"errand"};
constexpr Orchestration<int(int)> trying{"trying"};    ///< on_cancel = try_cancel
constexpr Orchestration<int(int)> patient{"patient"};  ///< on_cancel = wait
constexpr Orchestration<int(int)> errands{"errands"};
constexpr const char* kGivenUp = "has not stopped within activity_cancellation_grace_period";
constexpr const char* kRefused = "the outcome of an activity was refused";

Task<int> run_trying(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(labor, value);
}
Task<int> run_patient(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(labor, value, {.on_cancel = OnCancel::kWait});
}
Task<int> run_errands(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(errand, value);
}

class Grace : public Live {
 protected:
  Grace() {
    registry_.add(trying, run_trying);
    registry_.add(patient, run_patient);
    registry_.add(errands, run_errands);
  }
  ~Grace() override { leave_->open(); }

  static RuntimeOptions with_grace(Duration grace) {
    RuntimeOptions options = Live::options();
    options.activity_cancellation_grace_period = grace;
    return options;
  }
  /// A handler that is told to stop and then does so.
  void when_told(std::function<int(ActivityContext&)> then) {
    registry_.add(labor, [begun = begun_, then = std::move(then)](ActivityContext& ctx, int) {
      begun->open();
      ctx.wait_until_canceled();
      return then(ctx);
    });
  }
  void cancel_running(const Orchestration<int(int)>& orchestration) {
    start(orchestration, "r", "1");
    ASSERT_TRUE(begun_->wait());
    EXPECT_TRUE(cancel("r", "enough").changed);
  }
  void wait_for_line(log::Level level, const char* text) {
    wait_for([&] { return log_.count(level, text) > 0; }, text);
  }
  const std::shared_ptr<Gate> begun_ = std::make_shared<Gate>();
  const std::shared_ptr<Gate> leave_ = std::make_shared<Gate>();
  LogLines log_;
};

TEST_F(Grace, MakesAFailureOneWarning) {
  when_told([](ActivityContext&) -> int { throw Failed("pipe", "broken while it stopped"); });
  run();
  cancel_running(trying);
  wait_for_line(log::Level::kWarning, "failed after it was told to stop");
  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
  runtime_->stop();
  EXPECT_EQ(log_.count(log::Level::kWarning, ""), 1) << "its ack is refused without a word";
  EXPECT_EQ(log_.count(log::Level::kWarning, "broken while it stopped"), 1);
}

TEST_F(Grace, MakesARefusedResultOneWarning) {
  when_told([](ActivityContext&) { return 7; });
  run();
  cancel_running(trying);
  wait_for_line(log::Level::kWarning, kRefused);
  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
  runtime_->stop();
  EXPECT_EQ(log_.count(log::Level::kWarning, ""), 1);
}

TEST_F(Grace, SaysNothingAloudOfAHandlerThatStops) {
  when_told([](ActivityContext& ctx) {
    ctx.throw_if_canceled();
    return 7;
  });
  run();
  cancel_running(trying);
  wait_for_line(log::Level::kInfo, "has stopped as it was told");
  runtime_->stop();
  EXPECT_EQ(log_.count(log::Level::kWarning, ""), 0);
}

TEST_F(Grace, EndSettlesACallThatTheRunWaitsFor) {
  when_told([leave = leave_](ActivityContext&) {
    leave->wait();
    return 7;
  });
  RuntimeOptions options = with_grace(50ms);
  options.cancel_cleanup_timeout = 10min;  // nothing else ends the run
  options.shutdown_grace_period = 0s;
  run(options);
  cancel_running(patient);
  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
  EXPECT_EQ(log_.count(log::Level::kWarning, kGivenUp), 1);
  leave_->open();
  wait_for_line(log::Level::kInfo, "an activity that was given up has returned");
  EXPECT_EQ(info("r").output, "");
}

TEST_F(Grace, DoesNotEndWhileARunWaitsForAHandlerThatStopsInTime) {
  when_told([leave = leave_](ActivityContext&) {
    leave->wait();
    return 7;
  });
  run(with_grace(10min));
  cancel_running(patient);
  EXPECT_EQ(info("r").status, ExecutionStatus::kCanceling);
  leave_->open();
  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
  EXPECT_EQ(log_.count(log::Level::kWarning, kGivenUp), 0);
}

TEST_F(Grace, FreesTheSlotsOfAttemptsThatTimedOutAndRunOn) {
  constexpr Orchestration<std::string(int)> limited{"limited"};
  registry_.add(limited, [](OrchestrationContext& ctx, int value) -> Task<std::string> {
    auto call = ctx.call(labor, value, {.start_to_close = 1s});
    const auto outcome = co_await call.outcome();
    co_return !outcome.ok() ? outcome.failure().type : "completed";
  });
  registry_.add(errand, [](int value) { return value + 1; });
  when_told([leave = leave_](ActivityContext&) {
    leave->wait();
    return 7;
  });
  RuntimeOptions options = with_grace(20ms);
  options.max_concurrent_activities = 1;
  run(options);
  start(limited, "l", "1");
  EXPECT_EQ(end_of("l").output, "\"timeout\"");
  start(errands, "e", "1");
  EXPECT_EQ(end_of("e").output, "2");
  EXPECT_EQ(log_.count(log::Level::kWarning, kGivenUp), 1);
}

TEST_F(Grace, IsNotNeededByHandlersBesideABlockingStopCallback) {
  const auto blocked = std::make_shared<Gate>();
  registry_.add(errand, [begun = begun_, blocked, leave = leave_](ActivityContext& ctx, int value) {
    const std::stop_callback callback(ctx.stop_token(), [&] {
      blocked->open();
      while (!leave->wait()) {  // longer than anybody waits for the other
      }
    });
    begun->open();
    blocked->wait();
    return value;
  });
  const auto other_begun = std::make_shared<Gate>();
  const auto other_told = std::make_shared<Gate>();
  registry_.add(labor, [other_begun, other_told](ActivityContext& ctx, int value) {
    const std::stop_callback callback(ctx.stop_token(), [&] { other_told->open(); });
    other_begun->open();
    ctx.wait_until_canceled();
    other_told->wait();
    return value;
  });
  run();
  start(errands, "blocking", "1");
  start(trying, "other", "1");
  ASSERT_TRUE(begun_->wait());
  ASSERT_TRUE(other_begun->wait());
  cancel("blocking", "enough");
  ASSERT_TRUE(blocked->wait());
  cancel("other", "enough");
  EXPECT_TRUE(other_told->wait()) << "behind a callback that blocks";
  EXPECT_EQ(end_of("other").status, ExecutionStatus::kCanceled);
  EXPECT_FALSE(leave_->is_open());
  leave_->open();
}

}  // namespace

}  // namespace perdure::test::grace_test
