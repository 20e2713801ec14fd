#include <atomic>
#include <chrono>

#include "tests/live/live_fixture.h"

namespace perdure::test::heartbeat_test {

namespace {

constexpr Activity<int(int)> crunch{"crunch"};
constexpr Orchestration<std::string(int)> plain{"plain"};      ///< no limit, two attempts
constexpr Orchestration<std::string(int)> watched{"watched"};  ///< a heartbeat each second

Task<std::string> call_crunch(OrchestrationContext& ctx, ActivityOptions options) {
  auto call = ctx.call(crunch, 1, options);
  const auto outcome = co_await call.outcome();
  co_return !outcome.ok() ? outcome.failure().type : std::to_string(outcome.value());
}

Task<std::string> run_plain(OrchestrationContext& ctx, int) {
  ActivityOptions options;
  options.retry = retry(2, 1ms);
  co_return co_await call_crunch(ctx, options);
}

Task<std::string> run_watched(OrchestrationContext& ctx, int) {
  ActivityOptions options;
  options.heartbeat = 1s;
  co_return co_await call_crunch(ctx, options);
}

class Heartbeats : public Live {
 protected:
  Heartbeats() {
    registry_.add(plain, run_plain);
    registry_.add(watched, run_watched);
  }
  ~Heartbeats() override { leave_->open(); }

  const std::shared_ptr<Gate> leave_ = std::make_shared<Gate>();
};

TEST_F(Heartbeats, LeaveTheirNewestDetailsToTheNextAttempt) {
  const auto found = std::make_shared<std::atomic<int>>(-1);
  registry_.add(crunch, [found](ActivityContext& ctx, int) {
    if (ctx.attempt() == 2) {
      *found = ctx.heartbeat_details<int>().value_or(0);
      return 7;
    }
    EXPECT_FALSE(ctx.heartbeat_details<int>().has_value());
    for (int line = 1; line <= 1'000; ++line) ctx.heartbeat(line);
    throw Failed("broken", "after a thousand lines");
  });
  run();
  start(plain, "p", "0");
  EXPECT_EQ(end_of("p").output, "\"7\"");
  EXPECT_EQ(*found, 1'000);
}

TEST_F(Heartbeats, WithoutDetailsLeaveNoneToTheNextAttempt) {
  const auto found = std::make_shared<std::atomic<int>>(-1);
  registry_.add(crunch, [found](ActivityContext& ctx, int) {
    if (ctx.attempt() == 2) {
      *found = ctx.heartbeat_details<int>().value_or(0);
      return 7;
    }
    ctx.heartbeat(1'000);
    ctx.heartbeat();  // the newest
    throw Failed("broken", "after it had told where it was, and then nothing more");
  });
  run();
  start(plain, "p", "0");
  EXPECT_EQ(end_of("p").output, "\"7\"");
  EXPECT_EQ(*found, 0);
}

TEST_F(Heartbeats, AreStoredOnceInAnInterval) {
  const auto beaten = std::make_shared<Gate>();
  registry_.add(crunch, [beaten, leave = leave_](ActivityContext& ctx, int) {
    for (int line = 1; line <= 1'000; ++line) ctx.heartbeat(line);
    beaten->open();
    leave->wait();
    return 7;
  });
  RuntimeOptions rare = options();
  rare.worker_lock_timeout = 10min;  // no other renewal
  run(rare);
  start(plain, "p", "0");
  ASSERT_TRUE(beaten->wait());
  wait_for([&] { return store_.renewals > 0; }, "the first heartbeat, which is stored at once");
  const int looks = store_.asked + 20;
  wait_for([&] { return store_.asked >= looks; }, "the lease keeper to look again");
  // The first, and perhaps those that were beaten when it had just been taken.
  EXPECT_LE(store_.renewals, 1) << "the rest waits for the interval of 30 s";
  leave_->open();
  EXPECT_EQ(end_of("p").output, "\"7\"");
}

TEST_F(Heartbeats, AreStoredAgainWhenTheIntervalIsOver) {
  std::atomic<int>* const renewals = &store_.renewals;
  registry_.add(crunch, [renewals](ActivityContext& ctx, int) {
    for (int line = 1; *renewals < 4; ++line) {
      ctx.heartbeat(line);
      ctx.sleep_for(1ms);
    }
    return 7;
  });
  RuntimeOptions often = options();
  often.worker_lock_timeout = 10min;
  often.default_heartbeat_throttle_interval = 10ms;
  run(often);
  start(plain, "p", "0");
  EXPECT_EQ(end_of("p").output, "\"7\"");
}

TEST_F(Heartbeats, AreStoredNoRarerThanTheLongestIntervalAllows) {
  constexpr Orchestration<std::string(int)> unhurried{"unhurried"};
  registry_.add(unhurried, [](OrchestrationContext& ctx, int) -> Task<std::string> {
    ActivityOptions patient;
    patient.heartbeat = 10min;  // four fifths of it are longer than this test
    co_return co_await call_crunch(ctx, patient);
  });
  std::atomic<int>* const renewals = &store_.renewals;
  registry_.add(crunch, [renewals](ActivityContext& ctx, int) {
    for (int line = 1; *renewals < 4; ++line) {
      ctx.heartbeat(line);
      ctx.sleep_for(1ms);
    }
    return 7;
  });
  RuntimeOptions often = options();
  often.worker_lock_timeout = 10min;
  often.default_heartbeat_throttle_interval = 10ms;
  often.max_heartbeat_throttle_interval = 10ms;
  run(often);
  start(unhurried, "u", "0");
  EXPECT_EQ(end_of("u").output, "\"7\"");
}

TEST_F(Heartbeats, AreStoredAfterTheStoreWasDown) {
  std::atomic<bool>* const unknown = &store_.claims_unknown;
  std::atomic<int>* const asked = &store_.asked;
  std::atomic<int>* const renewals = &store_.renewals;
  registry_.add(crunch, [=](ActivityContext& ctx, int) {
    *unknown = true;
    ctx.heartbeat(1);  // the only one
    const int before = *asked;
    while (*asked < before + 10) ctx.sleep_for(1ms);
    *unknown = false;
    while (*renewals < 1) ctx.sleep_for(1ms);
    return 7;
  });
  RuntimeOptions rare = options();
  rare.worker_lock_timeout = 10min;
  run(rare);
  start(plain, "p", "0");
  EXPECT_EQ(end_of("p").output, "\"7\"");
}

TEST_F(Heartbeats, EndAnAttemptThatGivesNone) {
  const auto reason = std::make_shared<Guarded<std::string>>();
  registry_.add(crunch, [reason, leave = leave_](ActivityContext& ctx, int) {
    const std::string why = ctx.wait_until_canceled();
    reason->with([&](std::string& text) { text = why; });
    leave->open();
    ctx.throw_if_canceled();
    return 7;
  });
  run();
  start(watched, "w", "0");
  EXPECT_EQ(end_of("w").output, "\"timeout\"");
  ASSERT_TRUE(leave_->wait());
  EXPECT_EQ(reason->with([](const std::string& text) { return text; }),
            "the attempt gave no heartbeat for 1000 ms");
}

TEST_F(Heartbeats, KeepAnAttemptThatGivesThemForLongerThanTheLimit) {
  registry_.add(crunch, [](ActivityContext& ctx, int) {
    const auto until = std::chrono::steady_clock::now() + 1500ms;
    while (std::chrono::steady_clock::now() < until) {
      ctx.heartbeat();
      ctx.sleep_for(1ms);
    }
    return 7;
  });
  run();
  start(watched, "w", "0");
  EXPECT_EQ(end_of("w").output, "\"7\"");
}

}  // namespace

}  // namespace perdure::test::heartbeat_test
