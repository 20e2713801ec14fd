#include <atomic>
#include <thread>

#include "base/failpoint.h"
#include "tests/live/live_fixture.h"

namespace perdure::test::leases_test {

namespace {

constexpr Activity<int(int)> hold{"hold"};
constexpr Orchestration<int(int)> holder{"holder"};

Task<int> run_holder(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(hold, value);
}

class LiveLeases : public Live {
 protected:
  LiveLeases() { registry_.add(holder, run_holder); }

  static RuntimeOptions short_locks() {
    RuntimeOptions short_lived = options();
    short_lived.worker_lock_timeout = 4s;
    short_lived.worker_lock_renewal_buffer = 3s;  // renewed every 2 s
    return short_lived;
  }
};

TEST_F(LiveLeases, AreRenewedWhileAHandlerRuns) {
  // Shared with the handler: how often its claim was renewed.
  std::atomic<int>* const renewals = &store_.renewals;
  const auto attempts = std::make_shared<std::atomic<int>>(0);
  registry_.add(hold, [renewals, attempts](ActivityContext& ctx, int value) {
    ++*attempts;
    // Far longer than its lock would last.
    while (*renewals < 3) ctx.sleep_for(1ms);
    return value;
  });
  run(short_locks());
  start(holder, "h", "7");
  EXPECT_EQ(end_of("h").output, "7");
  EXPECT_EQ(*attempts, 1);
}

TEST_F(LiveLeases, AreGivenUpOnlyWhenNobodyAnsweredUntilTheirEnd) {
  struct Told {
    std::atomic<int> attempts{0};
    Gate stopped;
    std::string reason;  // before `stopped` opens
  };
  const auto told = std::make_shared<Told>();
  std::atomic<bool>* const unknown = &store_.claims_unknown;
  registry_.add(hold, [told, unknown](ActivityContext& ctx, int value) {
    if (++told->attempts > 1) return value;
    *unknown = true;
    told->reason = ctx.wait_until_canceled();
    *unknown = false;
    told->stopped.open();
    ctx.throw_if_canceled();
    return -1;
  });
  run(short_locks());
  start(holder, "h", "7");
  EXPECT_EQ(end_of("h").output, "7") << "the call is not lost with the claim";
  ASSERT_TRUE(told->stopped.wait());
  EXPECT_NE(told->reason.find("could not be reached"), std::string::npos) << told->reason;
  EXPECT_EQ(told->attempts, 2);
}

TEST_F(LiveLeases, DoNotCountTheWaitForAClaimAsTimeOfTheAttempt) {
  constexpr auto kLimit = 1s;
  constexpr Orchestration<int(int)> limited{"limited"};
  registry_.add(limited, [](OrchestrationContext& ctx, int value) -> Task<int> {
    co_return co_await ctx.call(hold, value, {.queue = "far", .start_to_close = 1s});
  });
  registry_.add(hold, [](int value) { return value; });
  run();
  start(limited, "l", "7");
  wait_for([&] { return real_->get_stats("l").value().work_rows == 1; }, "the call");
  runtime_->stop();
  const failpoint::Scoped held("store.claim", {.kind = failpoint::Action::Kind::kPause});
  RuntimeOptions far = options();
  far.workers = {{.queue = "far"}};
  run(far);
  ASSERT_TRUE(failpoint::wait_until_paused("store.claim", kHanging));
  std::this_thread::sleep_for(kLimit + 100ms);  // what the store takes for its answer
  failpoint::disarm("store.claim");
  wait_for([&] { return real_->get_stats("l").value().work_rows == 0; }, "the outcome");
  run();
  EXPECT_EQ(end_of("l").output, "7");
}

constexpr Orchestration<int()> thinker{"thinker"};
std::atomic<int>* renewals_of_thinker = nullptr;
std::atomic<int> thoughts{0};

TEST_F(LiveLeases, OfInstancesAreRenewedWhileATurnTakesLong) {
  renewals_of_thinker = &store_.lock_renewals;
  thoughts = 0;
  registry_.add(thinker, [](OrchestrationContext& ctx) -> Task<int> {
    ++thoughts;
    // Far longer than its lock would last.
    while (*renewals_of_thinker < 3) std::this_thread::sleep_for(1ms);
    co_await ctx.timer(1ms);
    co_return 1;
  });
  RuntimeOptions short_lived = options();
  short_lived.orchestrator_lock_timeout = 4s;
  short_lived.max_cached_orchestrations = 0;
  short_lived.orchestration_deadlock_timeout = 0s;  // it may take its time
  run(short_lived);
  start(thinker, "t");
  EXPECT_EQ(end_of("t").output, "1");
  EXPECT_EQ(thoughts, 2)
      << "the first turn, and its replay for the second: no third one was refused";
}

TEST_F(LiveLeases, OutlastATimeWithoutAnAnswer) {
  const auto stopped = std::make_shared<std::atomic<bool>>(false);
  std::atomic<bool>* const unknown = &store_.claims_unknown;
  std::atomic<int>* const asked = &store_.asked;
  registry_.add(hold, [=](ActivityContext& ctx, int value) {
    *unknown = true;
    const int before = *asked;
    while (*asked < before + 10 && !ctx.is_cancellation_requested()) std::this_thread::yield();
    *unknown = false;
    *stopped = ctx.is_cancellation_requested();
    return value;
  });
  run();
  start(holder, "h", "7");
  EXPECT_EQ(end_of("h").output, "7");
  EXPECT_FALSE(*stopped) << "no answer is not bad news";
}

}  // namespace

}  // namespace perdure::test::leases_test
