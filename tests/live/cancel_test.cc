#include <atomic>
#include <thread>

#include "tests/live/live_fixture.h"

namespace perdure::test::cancel_test {

namespace {

constexpr Activity<std::string(std::string)> toil{"toil"};
constexpr Orchestration<std::string(std::string)> boss{"boss"};

Task<std::string> run_boss(OrchestrationContext& ctx, std::string name) {
  co_return co_await ctx.call(toil, name);
}

/// What handlers and test tell each other. Shared, since a handler may outlive a test.
struct Talk {
  Gate begun;
  Gate ended;
  std::atomic<int> attempts{0};
  Guarded<std::string> reason;

  void end_with(const std::string& why) {
    reason.with([&](std::string& text) { text = why; });
    ended.open();
  }
  std::string said() {
    EXPECT_TRUE(ended.wait());
    return reason.with([](const std::string& text) { return text; });
  }
};

/// Works until it is told to stop.
std::string toil_on(ActivityContext& ctx, Talk& talk) {
  ++talk.attempts;
  talk.begun.open();
  try {
    for (;;) ctx.sleep_for(1h);
  } catch (const Canceled&) {
    talk.end_with(ctx.cancel_reason());
    throw;
  }
}

class LiveCancel : public Live {
 protected:
  LiveCancel() {
    registry_.add(boss, run_boss);
    registry_.add(toil, [talk = talk_](ActivityContext& ctx, const std::string&) {
      return toil_on(ctx, *talk);
    });
  }

  /// Cancels a run whose handler listens so, by throwing.
  void listens_by(const std::function<void(ActivityContext&)>& listen) {
    Registry listening;
    listening.add(boss, run_boss);
    listening.add(toil, [talk = talk_, listen](ActivityContext& ctx, const std::string&) {
      talk->begun.open();
      try {
        listen(ctx);
      } catch (const Canceled&) {
        talk->end_with(ctx.cancel_reason());
        throw;
      }
      return std::string("deaf");
    });
    registry_ = listening;
    run();
    start(boss, "b", "\"x\"");
    ASSERT_TRUE(talk_->begun.wait());
    EXPECT_TRUE(cancel("b", "enough").changed);
    EXPECT_EQ(talk_->said(), "enough");
    EXPECT_EQ(end_of("b").status, ExecutionStatus::kCanceled);
  }

  const std::shared_ptr<Talk> talk_ = std::make_shared<Talk>();
};

TEST_F(LiveCancel, StopsARunningHandlerAndTellsItWhy) {
  run();
  start(boss, "b", "\"x\"");
  ASSERT_TRUE(talk_->begun.wait());
  EXPECT_TRUE(cancel("b", "changed their mind").changed);
  EXPECT_EQ(talk_->said(), "changed their mind");
  const ExecutionInfo end = end_of("b");
  EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(end.cancel_reason, "changed their mind");
  EXPECT_EQ(talk_->attempts, 1);
}

TEST_F(LiveCancel, OfAClientOfThisProcessNeedsNoReadOfTheStore) {
  store_.deaf = true;
  store_.claims_unknown = true;  // the lease keeper learns nothing
  run();
  start(boss, "b", "\"x\"");
  ASSERT_TRUE(talk_->begun.wait());
  EXPECT_TRUE(Client(store()).cancel("b", "at once").changed);
  EXPECT_EQ(talk_->said(), "at once");
  store_.claims_unknown = false;
  EXPECT_EQ(end_of("b").status, ExecutionStatus::kCanceled);
}

TEST_F(LiveCancel, IsFoundByLookingWhenNothingTellsOfIt) {
  store_.deaf = true;
  run();
  start(boss, "b", "\"x\"");
  ASSERT_TRUE(talk_->begun.wait());
  EXPECT_TRUE(cancel("b", "unheard").changed);
  EXPECT_EQ(talk_->said(), "unheard");
  EXPECT_EQ(end_of("b").status, ExecutionStatus::kCanceled);
}

TEST_F(LiveCancel, IsHeardFromAnotherProviderOfTheFile) {
  run();
  start(boss, "b", "\"x\"");
  ASSERT_TRUE(talk_->begun.wait());
  sqlite::Options same;
  same.path = dir_.file("db");
  const std::unique_ptr<Provider> other = sqlite::open(same).value();
  CancelOrchestration request;
  request.id = "b";
  request.reason = "from afar";
  ASSERT_TRUE(other->cancel_orchestration(std::move(request)).value().changed);
  EXPECT_EQ(talk_->said(), "from afar");
  EXPECT_EQ(end_of("b").status, ExecutionStatus::kCanceled);
}

TEST_F(LiveCancel, WakesAHandlerThatWaitsForACondition) {
  listens_by([](ActivityContext& ctx) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    ctx.wait(never, lock, [] { return false; });
  });
}

TEST_F(LiveCancel, IsSeenByAHandlerThatLooks) {
  listens_by([](ActivityContext& ctx) {
    while (!ctx.is_cancellation_requested()) std::this_thread::yield();
    ctx.throw_if_canceled();
  });
}

TEST_F(LiveCancel, IsThrownByAHeartbeat) {
  listens_by([](ActivityContext& ctx) {
    for (;;) ctx.heartbeat();
  });
}

TEST_F(LiveCancel, ReachesAThreadOfTheHandlerThroughItsToken) {
  listens_by([](ActivityContext& ctx) {
    std::jthread helper([token = ctx.stop_token()] {
      while (!token.stop_requested()) std::this_thread::yield();
    });
    helper.join();
    ctx.throw_if_canceled();
  });
}

TEST_F(LiveCancel, TerminateStopsARunningHandler) {
  run();
  start(boss, "b", "\"x\"");
  ASSERT_TRUE(talk_->begun.wait());
  TerminateOrchestration request;
  request.id = "b";
  request.reason = "now";
  ASSERT_TRUE(real_->terminate_orchestration(std::move(request)).value().changed);
  EXPECT_EQ(talk_->said(), "the run was terminated");
  EXPECT_EQ(end_of("b").status, ExecutionStatus::kTerminated);
}

TEST_F(LiveCancel, RefusesWhatADeafHandlerBrings) {
  const auto cancel_done = std::make_shared<Gate>();
  Registry deaf;
  deaf.add(boss, run_boss);
  deaf.add(toil, [talk = talk_, cancel_done](const std::string&) {
    talk->begun.open();
    EXPECT_TRUE(cancel_done->wait());
    return std::string("late");
  });
  registry_ = deaf;
  run();
  start(boss, "b", "\"x\"");
  ASSERT_TRUE(talk_->begun.wait());
  EXPECT_TRUE(cancel("b", "over").changed);
  const ExecutionInfo end = end_of("b");
  EXPECT_EQ(end.status, ExecutionStatus::kCanceled) << "without waiting for the handler";
  cancel_done->open();
  runtime_->stop();
  EXPECT_EQ(info("b").status, ExecutionStatus::kCanceled);
  EXPECT_EQ(info("b").output, "");
}

constexpr Orchestration<std::string()> racer{"racer"};

TEST_F(LiveCancel, StopsTheLoserOfARace) {
  registry_.add(racer, [](OrchestrationContext& ctx) -> Task<std::string> {
    const std::string input = "slow";
    auto slow = ctx.call(toil, input);
    auto first = ctx.wait_for(Event<bool>{"go"});
    co_return co_await when_any(slow, first) == 1 ? "raced" : "odd";
  });
  run();
  start(racer, "r");
  ASSERT_TRUE(talk_->begun.wait());
  RaiseEvent go;
  go.id = "r";
  go.name = "go";
  go.payload = "true";
  ASSERT_TRUE(real_->raise_event(std::move(go)).ok());
  EXPECT_FALSE(talk_->said().empty());
  EXPECT_EQ(end_of("r").output, "\"raced\"");
}

constexpr Orchestration<std::string()> limited{"limited"};

TEST_F(LiveCancel, EndsAnAttemptAtItsStartToClose) {
  Registry registry;
  registry.add(toil, [talk = talk_](ActivityContext& ctx, const std::string&) -> std::string {
    if (ctx.attempt() > 1) return "second";
    return toil_on(ctx, *talk);
  });
  registry.add(limited, [](OrchestrationContext& ctx) -> Task<std::string> {
    const std::string input = "slow";
    co_return co_await ctx.call(toil, input, {.retry = retry(2, 1ms), .start_to_close = 3s});
  });
  registry_ = registry;
  run();
  start(limited, "l");
  EXPECT_EQ(end_of("l").output, "\"second\"");
  EXPECT_NE(talk_->said().find("start_to_close of 3000 ms"), std::string::npos);
}

TEST_F(LiveCancel, FailsACallWhoseLastAttemptTookTooLong) {
  registry_.add(limited, [](OrchestrationContext& ctx) -> Task<std::string> {
    const std::string input = "slow";
    const auto outcome = co_await ctx.call(toil, input, {.start_to_close = 30ms}).outcome();
    co_return outcome.failure().type;
  });
  run();
  start(limited, "l");
  EXPECT_EQ(end_of("l").output, "\"timeout\"");
}

TEST_F(LiveCancel, EndsACallAtItsTimeout) {
  registry_.add(limited, [](OrchestrationContext& ctx) -> Task<std::string> {
    const std::string input = "slow";
    const auto outcome = co_await ctx.call(toil, input, {.timeout = 3s}).outcome();
    co_return outcome.failure().type;
  });
  run();
  start(limited, "l");
  EXPECT_EQ(end_of("l").output, "\"timeout\"");
  EXPECT_FALSE(talk_->said().empty());
}

TEST_F(LiveCancel, CancelsARunAtItsDeadline) {
  run();
  StartOrchestration request;
  request.id = "d";
  request.name = "boss";
  request.input = "\"x\"";
  request.run_timeout = 100ms;
  ASSERT_TRUE(real_->start_orchestration(std::move(request)).ok());
  EXPECT_EQ(end_of("d").status, ExecutionStatus::kCanceled);
  EXPECT_EQ(info("d").cancel_reason, "deadline");
}

constexpr Orchestration<void()> parent{"parent"};

TEST_F(LiveCancel, ReachesTheHandlersOfChildren) {
  registry_.add(parent, [](OrchestrationContext& ctx) -> Task<void> {
    const std::string name = "child";
    co_await ctx.call(boss, name, {.id = "kid"});
  });
  run();
  start(parent, "p");
  ASSERT_TRUE(talk_->begun.wait());
  EXPECT_TRUE(cancel("p", "storm").changed);
  EXPECT_EQ(talk_->said(), "storm");
  EXPECT_EQ(end_of("p").status, ExecutionStatus::kCanceled);
  EXPECT_EQ(end_of("kid").status, ExecutionStatus::kCanceled);
}

}  // namespace

}  // namespace perdure::test::cancel_test
