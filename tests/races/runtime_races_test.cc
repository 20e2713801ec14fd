#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <stop_token>

#include "tests/live/live_fixture.h"
#include "tests/live/log_lines.h"
#include "tests/races/order.h"

/// A handler that returns while its worker is about to give it up: the first decides. One of the
/// two is held at its failpoint until the other is through. And claims that somebody looks at, or
/// takes away, while the process that holds them is between two steps.
namespace perdure::test::runtime_races_test {

namespace {

using failpoint::Action;
using races::expect_order;

constexpr Activity<int(int)> toil{"toil"};
constexpr Orchestration<int(int)> waiter{"waiter"};    ///< toil, to its end whatever happens
constexpr Orchestration<int(int)> limited{"limited"};  ///< toil, within 1 s
constexpr Orchestration<int(int)> limited_waiter{"limited_waiter"};  ///< both
constexpr Orchestration<int(int)> plain{"plain"};
constexpr Activity<int(int)> obey{"obey"};  ///< works until it is told to stop
constexpr Orchestration<int(int)> obedient{"obedient"};
constexpr Activity<int(int)> beat{"beat"};  ///< as toil, after a heartbeat
constexpr Orchestration<int(int)> beating{"beating"};

constexpr const char* kReturned = "runtime.handler_returned";
constexpr const char* kGrace = "runtime.grace_over";
constexpr const char* kTimeout = "runtime.call_timeout";
constexpr const char* kShutdown = "runtime.shutdown";
constexpr const char* kCheck = "store.check";

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

Task<int> run_obedient(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(obey, value);
}

Task<int> run_beating(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(beat, value);
}

/// Shared with handlers, which may outlive a test.
struct Handler {
  std::atomic<int> begun{0};
  Gate running;
  Gate leave;
  std::stop_token token;  ///< of the first; read it when that is running

  int work(ActivityContext& ctx, int value) {
    if (++begun == 1) token = ctx.stop_token();
    running.open();
    leave.wait();
    return value + 1;
  }
};

class RuntimeRaces : public Live {
 protected:
  RuntimeRaces() {
    registry_.add(waiter, run_waiter);
    registry_.add(limited, run_limited);
    registry_.add(limited_waiter, run_limited_waiter);
    registry_.add(plain, run_plain);
    registry_.add(obedient, run_obedient);
    registry_.add(obey, [](ActivityContext& ctx, int value) {
      ctx.wait_until_canceled();
      ctx.throw_if_canceled();
      return value;
    });
    registry_.add(toil, [handler = handler_](ActivityContext& ctx, int value) {
      return handler->work(ctx, value);
    });
    registry_.add(beating, run_beating);
    registry_.add(beat, [handler = handler_](ActivityContext& ctx, int value) {
      ctx.heartbeat(value);  // so that its claim is renewed soon
      return handler->work(ctx, value);
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
  /// Nobody looks at claims unless told, and no renewal comes to the help.
  static RuntimeOptions told_only() {
    RuntimeOptions options = Live::options();
    options.cancellation_poll_interval = 10min;
    options.worker_lock_timeout = 1h;
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
  hold(kTimeout);
  run(with_grace(kHanging));
  start(limited_waiter, "r", "1");
  ASSERT_TRUE(handler_->running.wait());
  EXPECT_TRUE(cancel("r", "enough").changed);
  wait_for([&] { return handler_->token.stop_requested(); }, "the stop token");
  ASSERT_TRUE(is_held(kTimeout));
  failpoint::release(kTimeout);
  wait_until_passed(kTimeout);
  handler_->leave.open();

  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
  EXPECT_TRUE(has_event("r", EventKind::kActivityCompleted)) << "its real outcome counts";
  EXPECT_FALSE(has_event("r", EventKind::kActivityFailed));
  expect_order("store.cancel", kTimeout);
}

/// The worker has decided, and the store does not know of it yet.
TEST_F(RuntimeRaces, CallTimeoutBeforeCancel) {
  store_.before_ack = [this, canceled = std::make_shared<std::atomic<bool>>(false)](
                          const AckWorkItems& ack) {
    EXPECT_EQ(ack.entries.at(0).outcome.failure.type, kTimeoutFailure);
    if (!canceled->exchange(true)) {
      EXPECT_TRUE(cancel("r", "enough").changed);
    }
  };
  run(with_grace(kHanging));
  start(limited, "r", "1");

  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
  expect_order(kTimeout, "store.cancel");
  wait_until_passed("store.fail");
  handler_->leave.open();
  runtime_->stop();

  EXPECT_FALSE(has_event("r", EventKind::kActivityFailed)) << "its row is gone";
  EXPECT_FALSE(has_event("r", EventKind::kActivityCompleted));
  EXPECT_EQ(log_.count(log::Level::kWarning, "the outcome of an activity was refused"), 0);
}

TEST_F(RuntimeRaces, CallTimeoutBeforeCancelOfACallThatIsWaitedFor) {
  store_.before_ack = [this, canceled = std::make_shared<std::atomic<bool>>(false)](
                          const AckWorkItems& ack) {
    EXPECT_EQ(ack.entries.at(0).outcome.failure.type, kTimeoutFailure);
    if (!canceled->exchange(true)) {
      EXPECT_TRUE(cancel("r", "enough").changed);
    }
  };
  run(with_grace(kHanging));
  start(limited_waiter, "r", "1");

  EXPECT_EQ(end_of("r").status, ExecutionStatus::kCanceled);
  expect_order(kTimeout, "store.cancel");
  handler_->leave.open();
  runtime_->stop();

  EXPECT_TRUE(has_event("r", EventKind::kActivityFailed)) << "how it really ended";
  EXPECT_FALSE(has_event("r", EventKind::kActivityCompleted)) << "settled once";
}

TEST_F(RuntimeRaces, CallTimeoutBeforeShutdown) {
  const auto decided = std::make_shared<Gate>();
  const auto go_on = std::make_shared<Gate>();
  store_.before_ack = [decided, go_on](const AckWorkItems&) {
    decided->open();
    go_on->wait();
  };
  run(hasty());
  start(limited, "r", "1");
  ASSERT_TRUE(decided->wait());
  std::future<void> stopping = stop();
  wait_for([] { return failpoint::hits(kShutdown) > 0; }, "the shutdown");
  handler_->leave.open();
  go_on->open();

  ASSERT_EQ(stopping.wait_for(kHanging), std::future_status::ready);
  expect_order(kTimeout, kShutdown);
  run();
  EXPECT_EQ(end_of("r").status, ExecutionStatus::kFailed) << "what was decided before it counts";
  EXPECT_TRUE(has_event("r", EventKind::kActivityFailed));
  EXPECT_EQ(handler_->begun, 1);
}

TEST_F(RuntimeRaces, ShutdownBeforeCallTimeout) {
  hold(kTimeout);
  run(hasty());
  start(limited, "r", "1");
  ASSERT_TRUE(handler_->running.wait());
  std::future<void> stopping = stop();
  wait_for([&] { return handler_->token.stop_requested(); }, "the stop token");
  ASSERT_TRUE(is_held(kTimeout));
  failpoint::release(kTimeout);
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

// A look at the claims of this process, which waits for no write and so may be overtaken by one.

TEST_F(RuntimeRaces, CompleteBeforeCheck) {
  hold(kCheck);
  run();
  start(plain, "r", "1");
  ASSERT_TRUE(handler_->running.wait());
  ASSERT_TRUE(is_held(kCheck)) << "it knows which claims it asks for, and has not read";
  handler_->leave.open();

  EXPECT_EQ(end_of("r").output, "2");
  failpoint::release(kCheck);
  runtime_->stop();

  expect_order("store.complete", kCheck);
  EXPECT_FALSE(handler_->token.stop_requested()) << "gone by its own result is no cancel";
}

TEST_F(RuntimeRaces, CompleteBeforeRenewal) {
  const auto asked = std::make_shared<Gate>();
  const auto go_on = std::make_shared<Gate>();
  store_.before_renewal = [asked, go_on](const RenewWorkItemLocks& renewal) {
    EXPECT_FALSE(renewal.claims.empty());
    asked->open();
    go_on->wait();
  };
  run();
  start(beating, "r", "1");
  ASSERT_TRUE(handler_->running.wait());
  ASSERT_TRUE(asked->wait()) << "it knows which claims it renews, and has not";
  handler_->leave.open();

  EXPECT_EQ(end_of("r").output, "2");
  go_on->open();
  wait_for([&] { return store_.renewals > 0; }, "the answer");
  runtime_->stop();

  expect_order("store.complete", "store.renew");
  EXPECT_FALSE(handler_->token.stop_requested()) << "gone by its own result is no cancel";
}

TEST_F(RuntimeRaces, CheckBeforeComplete) {
  hold(kReturned);
  run();
  start(plain, "r", "1");
  ASSERT_TRUE(handler_->running.wait());
  handler_->leave.open();
  ASSERT_TRUE(is_held(kReturned));
  wait_until_passed(kCheck);
  failpoint::release(kReturned);

  EXPECT_EQ(end_of("r").output, "2");
  expect_order(kCheck, "store.complete");
  EXPECT_FALSE(handler_->token.stop_requested());
}

// A claim that is committed, while its worker does not know yet what it has brought.

/// The look that the cancel causes comes too early to see the claim: it must be taken again.
TEST_F(RuntimeRaces, ClaimBeforeCancel) {
  store_.before_claimed = [this](const FetchedWorkItems& fetched) {
    if (fetched.items.empty() || fetched.items[0].instance_id != "late") return;
    hold(kCheck);
    EXPECT_TRUE(cancel("late", "enough").changed);
    EXPECT_TRUE(is_held(kCheck)) << "nobody looks";
    failpoint::release(kCheck);
  };
  run(told_only());
  start(plain, "early", "1");  // so that there is a claim to look at
  ASSERT_TRUE(handler_->running.wait());
  start(obedient, "late", "1");

  wait_for_line(log::Level::kInfo, "has stopped as it was told");
  EXPECT_EQ(end_of("late").status, ExecutionStatus::kCanceled);
  expect_order("store.claim", "store.cancel");
  EXPECT_FALSE(handler_->token.stop_requested()) << "the other one goes on";
  handler_->leave.open();
  EXPECT_EQ(end_of("early").output, "2");
}

/// The registration is given up before the claim is answered: its handler does not begin.
TEST_F(RuntimeRaces, ClaimBeforeTakeover) {
  const auto taken = std::make_shared<Gate>();
  store_.before_claimed = [this, taken](const FetchedWorkItems& fetched) {
    if (fetched.items.empty() || taken->is_open()) return;
    taken->open();
    const int before = store_.interrupts;
    EXPECT_TRUE(real_->take_over({fetched.items[0].lock.epoch}).ok());
    wait_for([&] { return store_.interrupts > before; }, "a registration that is given up");
  };
  handler_->leave.open();
  run();
  start(plain, "r", "1");

  EXPECT_EQ(end_of("r").output, "2");
  expect_order("store.claim", "store.take_over");
  EXPECT_TRUE(taken->is_open());
  EXPECT_EQ(handler_->begun, 1) << "under the claim of the new registration alone";
}

}  // namespace

}  // namespace perdure::test::runtime_races_test
