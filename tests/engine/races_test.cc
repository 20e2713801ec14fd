#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// History order decides every race; answers that nobody waits for are consumed without a trace.
namespace perdure::test::races_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

Registry call_against_timer() {
  return demo([](OrchestrationContext& ctx) -> Task<int> {
    auto call = ctx.call(twice, 1);
    auto patience = ctx.timer(1h);
    if (co_await when_any(call, patience) == 1) co_return -1;
    co_return call.get();
  });
}

TEST(Races, TheMessageThatCameFirstWins) {
  both_ways(call_against_timer(), [](ScriptedRun& run) {
    run.start();
    run.turn({run.completed(EventId{2}, "2"), run.fired(EventId{3})});
    EXPECT_EQ(run.output(), "2");
    EXPECT_THAT(run.lines(3),
                ElementsAre("activity_completed of 2", "timer_dropped of 3", "completed"));
  });
  both_ways(call_against_timer(), [](ScriptedRun& run) {
    run.start();
    run.turn({run.fired(EventId{3}), run.completed(EventId{2}, "2")});
    EXPECT_EQ(run.output(), "-1");
    EXPECT_THAT(run.lines(3),
                ElementsAre("timer_fired of 3", "activity_dropped of 2", "completed"));
  });
}

TEST(Races, TheLoserIsCanceledInTheSameCommit) {
  both_ways(call_against_timer(), [](ScriptedRun& run) {
    run.start();
    EXPECT_THAT(run.fire().canceled_work, ElementsAre(EventId{2}));
  });
}

TEST(Races, WhoWasResolvedFirstWinsAlsoWhenAwaitedLater) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              auto first = ctx.call(twice, 1);
              auto second = ctx.call(thrice, 1);
              co_await ctx.wait_for(number);
              const auto winner = co_await when_any(first, second);
              co_return static_cast<int>(winner);
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("thrice", "3");
              run.complete("twice", "2");
              run.raise("number", "0");
              EXPECT_EQ(run.output(), "1");
            });
}

TEST(Races, EventsAreAppliedOneAtATime) {
  both_ways(
      demo([](OrchestrationContext& ctx) -> Task<int> {
        int sum = 0;
        for (int i = 0; i < 3; ++i) sum = 10 * sum + co_await ctx.wait_for(number);
        co_return sum;
      }),
      [](ScriptedRun& run) {
        run.start();
        run.turn({run.raised("number", "1"), run.raised("number", "2"), run.raised("number", "3")});
        EXPECT_EQ(run.output(), "123");
        EXPECT_THAT(run.lines(2),
                    ElementsAre("event_received number",
                                "event_subscribed number",
                                "event_received number",
                                "event_subscribed number",
                                "event_received number",
                                "completed"));
      });
}

TEST(Races, WhenAllGivesValuesInTheOrderOfItsArguments) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              auto a = ctx.call(twice, 1);
              auto b = ctx.call(thrice, 1);
              auto pause = ctx.timer(1h);
              const auto [x, y, nothing] = co_await when_all(a, b, pause);
              (void)nothing;
              co_return 10 * x + y;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("thrice", "3");
              run.fire();
              run.complete("twice", "2");
              EXPECT_EQ(run.output(), "23");
            });
}

TEST(Races, WhenAllEndsAtOnceWithTheFirstFailure) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<std::string> {
              std::vector<Future<int>> calls;
              for (int i = 0; i < 3; ++i) calls.push_back(ctx.call(twice, i));
              std::string how = "completed";
              try {
                co_await when_all(std::move(calls));
              } catch (const ActivityFailed& failed) {
                how = failed.failure().type;
              }
              co_await ctx.timer(1h);
              co_return how;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.turn({run.failed(EventId{3}, {"broken", "no", true, {}})});
              EXPECT_THAT(run.lines(4),
                          ElementsAre("activity_failed of 3",
                                      "timer_created",
                                      "activity_dropped of 2",
                                      "activity_dropped of 4"))
                  << "the futures belong to the wait";
              run.fire();
              EXPECT_EQ(run.output(), "\"broken\"");
            });
}

TEST(Races, WhenAnyCountsAFailureAsAnOutcome) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<std::string> {
              auto a = ctx.call(twice, 1);
              auto b = ctx.call(thrice, 1);
              const auto winner = co_await when_any(a, b);
              std::string how = std::to_string(winner);
              try {
                b.get();
              } catch (const ActivityFailed& failed) {
                how += failed.called();
              }
              co_return how;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.fail("thrice", {"broken", "no", true, {}});
              EXPECT_EQ(run.output(), "\"1thrice\"");
            });
}

TEST(Races, WhenAllWithACanceledMemberThrowsCanceled) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<std::string> {
              struct Parts {
                static Task<int> sleep(OrchestrationContext& c) {
                  co_await c.timer(1h);
                  co_return 1;
                }
              };
              auto scope = ctx.scope();
              auto task = scope.spawn(Parts::sleep(ctx));
              auto call = ctx.call(twice, 1);
              co_await ctx.wait_for(number);
              scope.cancel("not needed");
              std::string how;
              try {
                co_await when_all(task, call);
              } catch (const Canceled& canceled) {
                how = canceled.reason();
              }
              co_return how;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.raise("number", "1");
              EXPECT_EQ(run.output(), "\"not needed\"");
            });
}

TEST(Races, WhenAllOfNothingIsReady) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              std::vector<Future<int>> none;
              const auto values = co_await when_all(std::move(none));
              (void)ctx;
              co_return static_cast<int>(values.size());
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.output(), "0");
            });
}

TEST(Races, WhenAnyOfAnEmptyVectorIsAnErrorOfTheCode) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              std::vector<Future<int>> none;
              const auto winner = co_await when_any(none);
              (void)ctx;
              co_return static_cast<int>(winner);
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.failure().type, "std::invalid_argument");
            });
}

TEST(Races, WhenAnyOverThousandsTakesTheOneOfHistory) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              std::vector<Future<int>> calls;
              for (int i = 0; i < 5000; ++i) calls.push_back(ctx.call(twice, i));
              const auto winner = co_await when_any(calls);
              co_return static_cast<int>(winner);
            }),
            [](ScriptedRun& run) {
              run.start();
              const auto& decisions = run.turn({run.completed(EventId{4002})});
              EXPECT_EQ(run.output(), "4000");
              EXPECT_EQ(decisions.canceled_work.size(), 4999u);
            });
}

TEST(Races, AnAnswerToAResolvedCallIsConsumedWithoutATrace) {
  both_ways(
      demo([](OrchestrationContext& ctx) -> Task<int> {
        const int first = co_await ctx.call(twice, 1);
        co_return first + co_await ctx.call(twice, first);
      }),
      [](ScriptedRun& run) {
        run.start();
        const Message answer = run.completed(EventId{2}, "2");
        run.turn({answer, answer});
        EXPECT_THAT(run.lines(2),
                    ElementsAre("activity_completed of 2", "activity_scheduled twice"));
        EXPECT_TRUE(run.turn({answer}).events.empty());
        EXPECT_TRUE(run.turn({run.failed(EventId{2}, {"late", "", true, {}})}).events.empty());
        run.complete("twice", "4");
        EXPECT_EQ(run.output(), "6");
      });
}

TEST(Races, AnAnswerToADroppedCallIsConsumedWithoutATrace) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              { auto call = ctx.call(twice, 1); }
              { auto timer = ctx.timer(1s); }
              { auto child = ctx.call(helper, 1); }
              co_await ctx.timer(1h);
              co_return 0;
            }),
            [](ScriptedRun& run) {
              run.start();
              const auto& decisions =
                  run.turn({run.completed(EventId{2}, "2"),
                            run.fired(EventId{3}),
                            run.child(EventId{4}, MessageKind::kChildCompleted, "1")});
              EXPECT_TRUE(decisions.events.empty());
              EXPECT_EQ(decisions.status, ExecutionStatus::kRunning);
            });
}

TEST(Races, AnAnswerOfAnotherExecutionOrToAnUnknownCommandIsConsumedWithoutATrace) {
  both_ways(
      demo([](OrchestrationContext& ctx) -> Task<int> { co_return co_await ctx.call(twice, 1); }),
      [](ScriptedRun& run) {
        run.start();
        Message other_execution = run.completed(EventId{2}, "7");
        other_execution.execution = ExecutionNo{2};
        Message start;
        start.execution = ExecutionNo{1};
        const auto& decisions = run.turn({other_execution,
                                          run.completed(EventId{99}, "7"),
                                          run.fired(EventId{2}),
                                          run.child(EventId{2}, MessageKind::kChildFailed),
                                          start});
        EXPECT_TRUE(decisions.events.empty()) << "a timer and a child do not answer a call";
        run.complete("twice", "2");
        EXPECT_EQ(run.output(), "2");
      });
}

TEST(Races, AFutureCanBeAwaitedTwice) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<std::string> name(OrchestrationContext& c) {
                  co_await c.call(ping);
                  co_return "abc";
                }
              };
              auto call = ctx.call(twice, 1);
              auto task = ctx.spawn(Parts::name(ctx));
              int sum = co_await call;
              sum += co_await call;
              std::string both = co_await task;
              both += co_await task;
              co_return sum + static_cast<int>(both.size());
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("twice", "2");
              run.complete("ping");
              EXPECT_EQ(run.output(), "10");
            });
}

TEST(Races, AFutureAwaitedAtTwoPlacesAtOnceIsAnErrorOfTheCode) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<int> await(Future<int>& shared) { co_return co_await shared; }
              };
              Future<int> call = ctx.call(twice, 1);
              auto one = ctx.spawn(Parts::await(call));
              auto two = ctx.spawn(Parts::await(call));
              co_return co_await one + co_await two;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.failure().type, "std::logic_error");
            });
}

TEST(Races, ATaskThatIsNeverAwaitedNeverRuns) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<int> call(OrchestrationContext& c) {
                  co_return co_await c.call(twice, 1);
                }
              };
              { auto task = Parts::call(ctx); }
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_THAT(run.lines(), ElementsAre("started demo", "completed"));
            });
}

}  // namespace
}  // namespace perdure::test::races_test
