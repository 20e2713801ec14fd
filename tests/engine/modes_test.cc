#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Context modes: what code and its destructors may do while the engine is live, replays, has found
/// a mismatch, evicts or has closed the run; and what escapes from user code.
namespace perdure::test::modes_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

int g_destroyed = 0;

/// Tries everything in its destructor.
class Meddler {
 public:
  explicit Meddler(OrchestrationContext& ctx) : ctx_(ctx) {}
  Meddler(const Meddler&) = delete;
  Meddler& operator=(const Meddler&) = delete;
  ~Meddler() {
    ++g_destroyed;
    ctx_.set_status(ctx_.uuid());
    ctx_.random();
    ctx_.patched("meddler");
    ctx_.log("meddling");
    (void)ctx_.now();
    (void)ctx_.is_canceled();
    (void)ctx_.instance_id();
    if (ctx_.is_canceled()) return;
    ctx_.call(twice, 1).detach();
    auto timer = ctx_.timer(1h);
    ctx_.wait_for(number).detach();
    ctx_.start_detached(helper, "from a destructor", 1);
    auto scope = ctx_.scope();
    scope.cancel();
  }

 private:
  OrchestrationContext& ctx_;
};

Registry meddling_at_the_end() {
  return demo([](OrchestrationContext& ctx) -> Task<int> {
    const Meddler meddler(ctx);
    co_await ctx.call(ping);
    co_return 1;
  });
}

TEST(Modes, ADestructorInLiveCodeMayEmit) {
  both_ways(meddling_at_the_end(), [](ScriptedRun& run) {
    run.start();
    run.complete("ping");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
    EXPECT_THAT(run.lines(3),
                ElementsAre("side_effect_recorded uuid",
                            "custom_status_set",
                            "side_effect_recorded random",
                            "patch_marked meddler",
                            "activity_scheduled twice",
                            "timer_created",
                            "event_subscribed number",
                            "detached_started helper",
                            "scope_canceled",
                            "timer_dropped of 9",
                            "event_dropped of 10",
                            "completed"));
  });
}

TEST(Modes, EvictionDestroysFramesAndEmitsNothing) {
  g_destroyed = 0;
  ScriptedRun run(meddling_at_the_end(), "demo");
  run.start();
  EXPECT_EQ(g_destroyed, 1) << "the frame went with the eviction";
  EXPECT_THAT(run.lines(), ElementsAre("started demo", "activity_scheduled ping"));
  EXPECT_TRUE(run.log().empty());
  run.complete("ping");
  EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
}

TEST(Modes, NoExceptionEntersUserCodeWhenFramesAreEvicted) {
  static int caught;
  caught = 0;
  ScriptedRun run(demo([](OrchestrationContext& ctx) -> Task<int> {
                    try {
                      co_await ctx.call(ping);
                    } catch (...) {
                      ++caught;
                    }
                    co_return 1;
                  }),
                  "demo");
  run.start();
  run.turn({});
  run.turn({});
  EXPECT_EQ(caught, 0);
}

TEST(Modes, AfterAMismatchNothingIsEmittedAndNothingResumes) {
  static int after;
  after = 0;
  ScriptedRun run(meddling_at_the_end(), "demo");
  run.start();
  run.deploy(demo([](OrchestrationContext& ctx) -> Task<int> {
    const Meddler meddler(ctx);
    try {
      auto other_call = ctx.call(thrice, 1);
      { const Meddler inner(ctx); }
      for (int i = 0; i < 3; ++i) ctx.uuid();
      co_await ctx.call(ping);
      ++after;
    } catch (...) {
      ++after;
    }
    co_await ctx.timer(1s);
    ++after;
    co_return 1;
  }));
  g_destroyed = 0;
  const auto result = run.try_turn({run.completed(EventId{2})});
  EXPECT_TRUE(result.mismatch);
  EXPECT_EQ(after, 0);
  EXPECT_EQ(g_destroyed, 2);
  EXPECT_TRUE(result.decisions.events.empty() && result.decisions.work.empty());
  EXPECT_TRUE(result.log.empty());
}

TEST(Modes, ASideEffectAfterAMismatchLeavesTheCodeAndACatchCannotSwallowIt) {
  static int ran;
  ran = 0;
  ScriptedRun run(meddling_at_the_end(), "demo");
  run.start();
  run.deploy(demo([](OrchestrationContext& ctx) -> Task<int> {
    try {
      ctx.call(thrice, 1).detach();
      ctx.side_effect([] { return ++ran; });
      ++ran;
    } catch (...) {
    }
    co_await ctx.call(ping);
    ++ran;
    co_return 1;
  }));
  EXPECT_TRUE(run.try_turn({run.completed(EventId{2})}).mismatch);
  EXPECT_EQ(ran, 0);
}

TEST(Modes, WhenTheRunHasEndedDestructorsEmitNothing) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<void> hold(OrchestrationContext& c) {
                  const Meddler meddler(c);
                  co_await c.timer(1h);
                }
              };
              ctx.shield(Parts::hold(ctx)).detach();
              co_await ctx.wait_for(other);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.cancel();
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
              run.turn({run.cleanup_deadline()});
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
              EXPECT_EQ(run.lines().back(), "canceled");
              EXPECT_TRUE(run.custom_status().empty());
            });
}

TEST(Modes, AnExceptionBeforeTheFirstAwaitFailsTheRun) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              ctx.call(ping).detach();
              throw std::out_of_range("nothing there");
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
              EXPECT_EQ(run.failure(), (Failure{"std::out_of_range", "nothing there", true, {}}));
              EXPECT_THAT(run.lines(1), ElementsAre("activity_scheduled ping", "failed"));
            });
}

TEST(Modes, AFailureOfTheCodesOwnTypeIsKeptWhole) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              (void)ctx;
              throw Failed(Failure{"no_stock", "none left", false, "{\"sku\":1}"});
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.failure(), (Failure{"no_stock", "none left", false, "{\"sku\":1}"}));
            });
}

TEST(Modes, WhatIsNoExceptionFailsTheRunToo) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              (void)ctx;
              throw 42;
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.failure().type, "unknown");
            });
}

struct Fragile {
  Fragile() { throw std::runtime_error("no state"); }
};

TEST(Modes, AStateThatCannotBeMadeFailsTheRun) {
  both_ways(demo([](OrchestrationContext& ctx, int, Fragile&) -> Task<int> {
              (void)ctx;
              co_return 1;
            }),
            "0",
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
              EXPECT_EQ(run.failure().message, "no state");
            });
}

struct Progress {
  int steps = 0;
};

TEST(Modes, TheStateBelongsToTheRunAndIsMadeAgainInReplay) {
  both_ways(demo([](OrchestrationContext& ctx, int, Progress& progress) -> Task<int> {
              ++progress.steps;
              co_await ctx.call(ping);
              ++progress.steps;
              co_return progress.steps;
            }),
            "0",
            [](ScriptedRun& run) {
              run.start();
              run.complete("ping");
              EXPECT_EQ(run.output(), "2");
            });
}

TEST(Modes, AnInputOfTheWrongShapeFailsTheRun) {
  both_ways(demo([](OrchestrationContext& ctx, int value) -> Task<int> {
              (void)ctx;
              co_return value;
            }),
            "\"text\"",
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.failure().type, kBadInputFailure);
            });
}

TEST(Modes, AResultThatIsTooLargeFailsTheRun) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<std::string> {
              (void)ctx;
              co_return std::string((std::size_t{2} << 20) + 1, 'x');
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.failure().type, "invalid_argument");
            });
}

TEST(Modes, MessagesToAnEndedRunLeaveNoTrace) {
  both_ways(
      demo([](OrchestrationContext& ctx) -> Task<int> {
        co_await ctx.call(ping);
        co_return 1;
      }),
      [](ScriptedRun& run) {
        run.start();
        run.turn({run.completed(EventId{2}), run.raised("number", "1"), run.completed(EventId{2})});
        EXPECT_EQ(run.lines().back(), "completed") << "the terminal event is the last";
        const auto& late = run.turn({run.raised("number", "1"), run.cancel_message()});
        EXPECT_TRUE(late.events.empty());
        EXPECT_EQ(late.status, ExecutionStatus::kCompleted);
      });
}

TEST(Modes, ATerminatedHistoryReplaysToItsEnd) {
  ScriptedRun run(demo([](OrchestrationContext& ctx) -> Task<int> {
                    co_await ctx.call(ping);
                    co_return 1;
                  }),
                  "demo");
  run.start();
  run.write_end(EventKind::kTerminated, "by hand");
  EXPECT_TRUE(run.replays());
}

}  // namespace
}  // namespace perdure::test::modes_test
