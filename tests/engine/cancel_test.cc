#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// How a cancel reaches the code of a run.
namespace perdure::test::cancel_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

TEST(Cancel, ItReachesMainAtItsAwait) {
  both_ways(
      demo([](OrchestrationContext& ctx) -> Task<int> { co_return co_await ctx.call(twice, 1); }),
      [](ScriptedRun& run) {
        run.start();
        const auto& decisions = run.cancel("changed my mind");
        EXPECT_THAT(run.lines(2), ElementsAre("cancel_requested", "canceled"));
        EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
        EXPECT_EQ(run.history().back().text, "changed my mind");
        EXPECT_TRUE(decisions.canceled_work.empty()) << "the caller's commit has deleted the row";
      });
}

TEST(Cancel, ItComesBeforeTheOtherMessagesOfATurn) {
  both_ways(
      demo([](OrchestrationContext& ctx) -> Task<int> { co_return co_await ctx.call(twice, 1); }),
      [](ScriptedRun& run) {
        run.start();
        run.turn({run.completed(EventId{2}, "2"), run.cancel_message()});
        EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
        EXPECT_THAT(run.lines(2), ElementsAre("cancel_requested", "canceled"));
      });
}

TEST(Cancel, ACancelThatIsThereAtTheFirstTurnComesBeforeTheFirstCommand) {
  both_ways(
      demo([](OrchestrationContext& ctx) -> Task<int> {
        ctx.start_detached(helper, "born", 1);
        co_return co_await ctx.call(twice, 1);
      }),
      [](ScriptedRun& run) {
        run.advance(1h);
        const auto& decisions = run.turn({run.raised("number", "1"), run.cancel_message("early")});
        EXPECT_TRUE(decisions.children.empty());
        EXPECT_TRUE(decisions.work.empty());
        EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
        EXPECT_THAT(run.lines(), ElementsAre("started demo", "cancel_requested", "canceled"));
      });
}

TEST(Cancel, CanceledIsSticky) {
  both_ways(
      demo([](OrchestrationContext& ctx) -> Task<int> {
        int thrown = 0;
        auto call = ctx.call(twice, 1);
        auto done = ctx.call(thrice, 1);
        for (int i = 0; i < 3; ++i) {
          try {
            co_await call;
          } catch (const Canceled&) {
            ++thrown;
          }
        }
        try {
          co_await done;
        } catch (const Canceled&) {
          ++thrown;
        }
        try {
          co_await when_any(call, done);
        } catch (const Canceled&) {
          ++thrown;
        }
        try {
          co_await when_all(done);
        } catch (const Canceled&) {
          ++thrown;
        }
        const auto command = [&](const auto& make) {
          try {
            make();
          } catch (const Canceled&) {
            ++thrown;
          }
        };
        command([&] { ctx.call(twice, 2).detach(); });
        command([&] { ctx.call(helper, 2).detach(); });
        command([&] { ctx.timer(1s).detach(); });
        command([&] { ctx.wait_for(number).detach(); });
        command([&] { ctx.start_detached(helper, "x", 1); });
        ctx.set_status(thrown);
        co_return thrown;
      }),
      [](ScriptedRun& run) {
        run.start();
        run.complete("thrice", "3");
        run.cancel();
        EXPECT_EQ(run.status(), ExecutionStatus::kCanceled) << "swallowing does not keep it alive";
        EXPECT_EQ(run.custom_status(), "11") << "every await and every command threw";
        EXPECT_THAT(run.lines(4), ElementsAre("cancel_requested", "custom_status_set", "canceled"));
      });
}

TEST(Cancel, ValuesStayAvailable) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              try {
                co_await ctx.timer(1h);
              } catch (const Canceled&) {
              }
              int values = ctx.is_canceled() && ctx.cancel_reason() == "stop" ? 1 : 0;
              values += ctx.uuid().size() == 36 ? 1 : 0;
              ctx.random();
              values += ctx.side_effect([] { return 1; });
              values += ctx.patched("late") ? 1 : 0;
              values += ctx.now() > TimePoint{} ? 1 : 0;
              ctx.set_status(values);
              ctx.log("still here");
              co_return values;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.cancel("stop");
              EXPECT_EQ(run.custom_status(), "5");
              EXPECT_THAT(run.log(), ElementsAre("still here"));
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
            });
}

TEST(Cancel, AnOutcomeTellsItWithoutAnException) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              auto call = ctx.call(twice, 1);
              const auto outcome = co_await call.outcome();
              ctx.set_status(outcome.reason());
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.cancel("because");
              EXPECT_EQ(run.custom_status(), "\"because\"");
            });
}

TEST(Cancel, ACallThatWaitsEndsWithItsRealOutcome) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              const int value = co_await ctx.call(twice, 1, {.on_cancel = OnCancel::kWait});
              ctx.set_status(value);
              co_await ctx.timer(1h);
              co_return value;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.work().begin()->second.on_cancel, OnCancel::kWait);
              run.cancel();
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
              run.complete("twice", "2");
              EXPECT_EQ(run.custom_status(), "2");
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled) << "the next command throws";
            });
}

TEST(Cancel, ACallThatWaitsMayEndAsCanceled) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              auto call = ctx.call(twice, 1, {.on_cancel = OnCancel::kWait});
              const auto outcome = co_await call.outcome();
              ctx.set_status(outcome.reason());
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.cancel("stop");
              run.turn({run.canceled_answer(EventId{2})});
              EXPECT_EQ(run.custom_status(), "\"stop\"");
              EXPECT_THAT(run.lines(3),
                          ElementsAre("activity_canceled of 2", "custom_status_set", "canceled"));
            });
}

TEST(Cancel, AScopeThatIsCanceledTellsAWaitingCallToStopAndWaitsForIt) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<int> call(OrchestrationContext& c) {
                  co_return co_await c.call(twice, 1, {.on_cancel = OnCancel::kWait});
                }
              };
              auto scope = ctx.scope();
              auto task = scope.spawn(Parts::call(ctx));
              co_await ctx.wait_for(number);
              scope.cancel();
              co_return co_await task;
            }),
            [](ScriptedRun& run) {
              run.start();
              const auto& decisions = run.raise("number", "1");
              EXPECT_THAT(decisions.canceled_work, ElementsAre(EventId{3})) << "its token fires";
              EXPECT_EQ(run.status(), ExecutionStatus::kRunning);
              run.complete("twice", "2");
              EXPECT_EQ(run.output(), "2");
            });
}

TEST(Cancel, AChildThatWaitsEndsWithItsRealOutcome) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              auto child = ctx.call(helper, 1, {.on_cancel = OnCancel::kWait});
              const auto outcome = co_await child.outcome();
              ctx.set_status(outcome.failure().type);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.cancel();
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
              run.turn({run.child(EventId{2}, MessageKind::kChildCanceled)});
              EXPECT_EQ(run.custom_status(), "\"canceled\"");
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
            });
}

TEST(Cancel, AnAbandonedCallIsCutOffAndItsAnswerDropped) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<int> clean(OrchestrationContext& c) {
                  co_return co_await c.call(thrice, 1);
                }
              };
              auto call = ctx.call(twice, 1, {.on_cancel = OnCancel::kAbandon});
              const auto outcome = co_await call.outcome();
              (void)outcome;
              co_return co_await ctx.shield(Parts::clean(ctx));
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.work().begin()->second.on_cancel, OnCancel::kAbandon);
              run.cancel();
              EXPECT_TRUE(run.turn({run.completed(EventId{2}, "2")}).events.empty());
              run.complete("thrice", "3");
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
            });
}

TEST(Cancel, ASecondCancelIsConsumedWithoutATrace) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_return co_await ctx.call(twice, 1, {.on_cancel = OnCancel::kWait});
            }),
            [](ScriptedRun& run) {
              run.start();
              run.turn({run.cancel_message("first"), run.cancel_message("second")});
              EXPECT_TRUE(run.turn({run.cancel_message("third")}).events.empty());
              run.complete("twice", "2");
              EXPECT_EQ(run.history().back().text, "first");
            });
}

TEST(Cancel, AfterACancelTheOnlyEndIsCanceled) {
  struct Row {
    const char* how;
    Registry registry;
  };
  const Row rows[] = {
      {"returns", demo([](OrchestrationContext& ctx) -> Task<int> {
         auto timer = ctx.timer(1h);
         const auto outcome = co_await timer.outcome();
         co_return outcome.ok() ? 1 : 2;
       })},
      {"throws", demo([](OrchestrationContext& ctx) -> Task<int> {
         auto timer = ctx.timer(1h);
         const auto outcome = co_await timer.outcome();
         (void)outcome;
         throw std::runtime_error("other");
         co_return 1;
       })},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.how);
    both_ways(row.registry, [](ScriptedRun& run) {
      run.start();
      run.cancel("stop");
      EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
      EXPECT_EQ(run.lines().back(), "canceled");
    });
  }
}

TEST(Cancel, ACompletingRunCanBeCanceled) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<void> slow(OrchestrationContext& c) { co_await c.call(ping); }
              };
              ctx.shield(Parts::slow(ctx)).detach();
              co_await ctx.wait_for(number);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.raise("number", "1");
              EXPECT_EQ(run.status(), ExecutionStatus::kCompleting);
              run.cancel("late");
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
              run.complete("ping");
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
            });
}

TEST(Cancel, ACanceledThatTheCodeThrowsItselfIsAFailure) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              (void)ctx;
              throw Canceled("my own");
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
              EXPECT_EQ(run.failure().type, kCanceledFailure);
            });
}

TEST(Cancel, AnEventThatCameWithTheCancelIsRecordedInItsPlace) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<int> last(OrchestrationContext& c) {
                  co_return co_await c.wait_for(number);
                }
              };
              try {
                co_await ctx.timer(1h);
              } catch (const Canceled&) {
              }
              const int value = co_await ctx.shield(Parts::last(ctx));
              ctx.set_status(value);
              co_return value;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.turn({run.raised("number", "4"), run.cancel_message()});
              EXPECT_EQ(run.custom_status(), "4");
              EXPECT_THAT(run.lines(2),
                          ElementsAre("cancel_requested",
                                      "event_subscribed number",
                                      "event_received number",
                                      "custom_status_set",
                                      "canceled"));
            });
}

}  // namespace
}  // namespace perdure::test::cancel_test
