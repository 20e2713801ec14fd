#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Tasks beside main and the scopes they live in.
namespace perdure::test::scopes_test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

Task<int> call_twice(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(twice, value);
}

Task<int> fail_after_ping(OrchestrationContext& ctx) {
  co_await ctx.call(ping);
  throw Failed("broken", "by design");
}

/// Notes when it is canceled.
Task<void> sleep_and_note(OrchestrationContext& ctx, std::vector<std::string>& notes) {
  try {
    co_await ctx.timer(1h);
  } catch (const Canceled& canceled) {
    notes.push_back(canceled.reason());
    throw;
  }
}

TEST(Scopes, ASpawnedTaskRunsBesideMain) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              auto a = ctx.spawn(call_twice(ctx, 1));
              auto b = ctx.spawn(call_twice(ctx, 2));
              const int sum = co_await a;
              co_return sum + co_await b;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.open_calls("twice").size(), 2u) << "both run before either is awaited";
              run.turn({run.completed(EventId{3}, "4"), run.completed(EventId{2}, "2")});
              EXPECT_EQ(run.output(), "6");
            });
}

TEST(Scopes, TheFirstFailureOfASiblingCancelsTheRestAndFailsTheRun) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              auto broken = ctx.spawn(fail_after_ping(ctx));
              auto other_task = ctx.spawn(call_twice(ctx, 1));
              co_await ctx.timer(1h);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("ping");
              EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
              EXPECT_EQ(run.failure().type, "broken");
              EXPECT_THAT(run.lines(4),
                          ElementsAre("activity_completed of 3",
                                      "timer_dropped of 2",
                                      "activity_dropped of 4",
                                      "failed"));
            });
}

TEST(Scopes, TasksStillRunningWhenMainEndsAreCanceledInThatTurn) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              ctx.spawn(call_twice(ctx, 1)).detach();
              co_await ctx.wait_for(number);
              co_return 7;
            }),
            [](ScriptedRun& run) {
              run.start();
              const auto& decisions = run.raise("number", "1");
              EXPECT_THAT(decisions.canceled_work, ElementsAre(EventId{3}));
              EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
              EXPECT_EQ(run.output(), "7");
              EXPECT_EQ(run.lines().back(), "completed");
            });
}

TEST(Scopes, TheRunIsCompletingUntilItsTasksHaveEnded) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              ctx.shield(call_twice(ctx, 1)).detach();
              co_await ctx.wait_for(number);
              co_return 7;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.raise("number", "1");
              EXPECT_EQ(run.status(), ExecutionStatus::kCompleting);
              run.complete("twice", "2");
              EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
              EXPECT_EQ(run.output(), "7");
            });
}

TEST(Scopes, DroppingTheFutureOfATaskCancelsIt) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<std::vector<std::string>> {
              std::vector<std::string> notes;
              {
                auto task = ctx.spawn(sleep_and_note(ctx, notes));
                co_await ctx.wait_for(number);
              }
              co_await ctx.wait_for(number);
              co_return notes;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_THAT(run.raise("number", "1").canceled_timers, ElementsAre(EventId{3}));
              run.raise("number", "2");
              EXPECT_EQ(run.output(), "[\"dropped\"]") << "and the run goes on";
            });
}

TEST(Scopes, CancelingAScopeCancelsWhatIsInItAndNothingElse) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<std::vector<std::string>> {
              std::vector<std::string> notes;
              auto scope = ctx.scope();
              auto in = scope.spawn(sleep_and_note(ctx, notes));
              auto call = ctx.call(twice, 1);
              co_await ctx.wait_for(number);
              scope.cancel("enough");
              co_await call;
              co_return notes;
            }),
            [](ScriptedRun& run) {
              run.start();
              const auto& decisions = run.raise("number", "1");
              EXPECT_THAT(decisions.canceled_timers, ElementsAre(EventId{4}));
              EXPECT_TRUE(decisions.canceled_work.empty());
              EXPECT_THAT(
                  run.lines(4),
                  ElementsAre("event_received number", "scope_canceled", "timer_dropped of 4"));
              run.complete("twice", "2");
              EXPECT_EQ(run.output(), "[\"enough\"]");
            });
}

TEST(Scopes, ACanceledScopeStaysCanceled) {
  both_ways(
      demo([](OrchestrationContext& ctx) -> Task<std::vector<std::string>> {
        std::vector<std::string> notes;
        auto scope = ctx.scope();
        scope.cancel("closed");
        scope.cancel("again");
        auto late = scope.spawn(sleep_and_note(ctx, notes));
        const auto outcome = co_await late.outcome();
        notes.push_back(scope.is_canceled() && outcome.kind() == Outcome<void>::Kind::kCanceled
                            ? "canceled"
                            : "ran");
        co_return notes;
      }),
      [](ScriptedRun& run) {
        run.start();
        EXPECT_THAT(run.lines(1), ElementsAre("scope_canceled", "completed"))
            << "canceled once; its tasks make no commands";
        EXPECT_EQ(run.output(), "[\"closed\",\"canceled\"]");
      });
}

TEST(Scopes, ANestedScopeIsCanceledWithTheOneAbove) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<std::vector<std::string>> {
              struct Parts {
                static Task<void> outer(OrchestrationContext& c, std::vector<std::string>& notes) {
                  auto inner = c.scope();
                  auto task = inner.spawn(sleep_and_note(c, notes));
                  co_await task;
                }
              };
              std::vector<std::string> notes;
              auto scope = ctx.scope();
              auto task = scope.spawn(Parts::outer(ctx, notes));
              co_await ctx.wait_for(number);
              scope.cancel("above");
              co_await ctx.wait_for(number);
              co_return notes;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.raise("number", "1");
              EXPECT_THAT(run.lines(), Contains("timer_dropped of 3"));
              run.raise("number", "2");
              EXPECT_EQ(run.output(), "[\"above\"]");
            });
}

TEST(Scopes, DestroyingAScopeCancelsWhatStillRunsInIt) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<std::vector<std::string>> {
              std::vector<std::string> notes;
              {
                auto scope = ctx.scope();
                scope.spawn(sleep_and_note(ctx, notes)).detach();
                co_await ctx.wait_for(number);
              }
              co_await ctx.wait_for(number);
              co_return notes;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.raise("number", "1");
              EXPECT_THAT(run.lines(), Contains("scope_canceled"));
              run.raise("number", "2");
              EXPECT_EQ(run.output(), "[\"scope dropped\"]");
            });
}

TEST(Scopes, DestroyingAScopeInWhichNothingRunsLeavesNoTrace) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              int value = 0;
              {
                auto scope = ctx.scope();
                auto task = scope.spawn(call_twice(ctx, 1));
                value = co_await task;
              }
              co_await ctx.timer(1h);
              co_return value;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("twice", "2");
              EXPECT_THAT(run.lines(), Not(Contains("scope_canceled")));
              run.fire();
              EXPECT_EQ(run.output(), "2");
            });
}

TEST(Scopes, AFailureInAScopeBelongsToItsFutureAlone) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<std::string> {
              auto scope = ctx.scope();
              auto task = scope.spawn(fail_after_ping(ctx));
              const auto outcome = co_await task.outcome();
              co_return outcome.failure().type;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("ping");
              EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
              EXPECT_EQ(run.output(), "\"broken\"");
            });
}

TEST(Scopes, AnOperationOfACanceledScopeThatAnotherAwaitsEndsAsCanceled) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<std::string> {
              struct Parts {
                static Task<void> make(OrchestrationContext& c, std::optional<Future<int>>& out) {
                  out.emplace(c.call(twice, 1));
                  co_await c.timer(1h);
                }
              };
              std::optional<Future<int>> shared;
              auto scope = ctx.scope();
              auto maker = scope.spawn(Parts::make(ctx, shared));
              co_await ctx.wait_for(number);
              scope.cancel("over");
              const auto outcome = co_await shared->outcome();
              co_return outcome.reason();
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_THAT(run.raise("number", "1").canceled_work, ElementsAre(EventId{3}));
              EXPECT_EQ(run.output(), "\"over\"");
            });
}

TEST(Scopes, AnAwaitOfACanceledScopeEndsAlthoughTheOperationIsAnothers) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<int> await(Future<int>& theirs) { co_return co_await theirs; }
              };
              Future<int> call = ctx.call(twice, 1);
              auto scope = ctx.scope();
              auto task = scope.spawn(Parts::await(call));
              co_await ctx.wait_for(number);
              scope.cancel("over");
              const auto outcome = co_await task.outcome();
              const int value = co_await call;
              co_return outcome.kind() == Outcome<int>::Kind::kCanceled ? value : -1;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_TRUE(run.raise("number", "1").canceled_work.empty()) << "the call is main's";
              run.complete("twice", "2");
              EXPECT_EQ(run.output(), "2");
            });
}

TEST(Scopes, AReasonThatCannotBeStoredIsAnErrorAtTheCall) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              auto scope = ctx.scope();
              int errors = 0;
              try {
                scope.cancel("\xff");
              } catch (const InvalidArgument&) {
                ++errors;
              }
              co_return errors;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.output(), "1");
            });
}

TEST(Scopes, ThousandsOfTasksAreDroppedAtOnce) {
  constexpr int kTasks = 3000;
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              {
                std::vector<Future<int>> tasks;
                for (int i = 0; i < kTasks; ++i) tasks.push_back(ctx.spawn(call_twice(ctx, i)));
                co_await ctx.wait_for(number);
              }
              co_await ctx.wait_for(number);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              const auto& dropped = run.raise("number", "1").canceled_work;
              ASSERT_EQ(dropped.size(), static_cast<std::size_t>(kTasks));
              EXPECT_TRUE(std::is_sorted(dropped.begin(), dropped.end()));
              run.raise("number", "2");
              EXPECT_EQ(run.output(), "1");
            });
}

Task<int> nested(OrchestrationContext& ctx, int depth) {
  if (depth == 0) co_return co_await ctx.call(twice, 1);
  const int below = co_await nested(ctx, depth - 1);
  co_return below + 1;
}

TEST(Scopes, DeepNestingOfTasksNeedsNoStack) {
  both_ways(
      demo([](OrchestrationContext& ctx) -> Task<int> { co_return co_await nested(ctx, 100'000); }),
      [](ScriptedRun& run) {
        run.start();
        run.complete("twice", "2");
        EXPECT_EQ(run.output(), "100002");
      });
}

Task<int> nested_failure(OrchestrationContext& ctx, int depth) {
  if (depth == 0) {
    co_await ctx.call(ping);
    throw Failed("deep", "down");
  }
  co_return co_await nested_failure(ctx, depth - 1);
}

TEST(Scopes, AnExceptionLeavesDeepNestingWithoutStack) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_return co_await nested_failure(ctx, 20'000);
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("ping");
              EXPECT_EQ(run.failure().type, "deep");
            });
}

Task<int> spawn_chain(OrchestrationContext& ctx, int depth) {
  if (depth == 0) co_return co_await ctx.call(twice, 1);
  auto below = ctx.spawn(spawn_chain(ctx, depth - 1));
  co_return co_await below;
}

TEST(Scopes, DeepNestingOfScopesNeedsNoStack) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_return co_await spawn_chain(ctx, 20'000);
            }),
            [](ScriptedRun& run) {
              run.start();
              run.cancel();
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
            });
}

TEST(Scopes, ALoopOfTasksThatNeverWaitNeedsNoStack) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<int> next(int value) { co_return value + 1; }
              };
              int value = 0;
              for (int i = 0; i < 200'000; ++i) value = co_await Parts::next(value);
              (void)ctx;
              co_return value;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.output(), "200000");
            });
}

}  // namespace
}  // namespace perdure::test::scopes_test
