#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Children: other orchestrations, called and awaited.
namespace perdure::test::children_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

Registry one_child() {
  return demo([](OrchestrationContext& ctx) -> Task<std::string> {
    auto child = ctx.call(helper, 5);
    const auto outcome = co_await child.outcome();
    if (outcome.ok()) co_return std::to_string(outcome.value());
    co_return outcome.failure().type + ": " + outcome.failure().message;
  });
}

TEST(Children, AChildIdIsMadeOfParentExecutionAndEvent) {
  both_ways(one_child(), [](ScriptedRun& run) {
    const auto& decisions = run.start();
    ASSERT_EQ(decisions.children.size(), 1u);
    const NewChild& child = decisions.children[0];
    EXPECT_EQ(child.id, "run-1/1.2");
    EXPECT_EQ(child.name, "helper");
    EXPECT_EQ(child.input, "5");
    EXPECT_EQ(child.queue, "default");
    EXPECT_EQ(child.close_policy, ClosePolicy::kCancel);
    EXPECT_FALSE(child.detached);
    run.turn({run.child(EventId{2}, MessageKind::kChildCompleted, "10")});
    EXPECT_EQ(run.output(), "\"10\"");
  });
}

TEST(Children, OptionsOfAChildReachTheStore) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_return co_await ctx.call(helper,
                                          1,
                                          {.id = "my child",
                                           .version = "2.1",
                                           .queue = "gpu",
                                           .close_policy = ClosePolicy::kAbandon,
                                           .on_reuse = OnReuse::kReject});
            }),
            [](ScriptedRun& run) {
              const NewChild child = run.start().children.at(0);
              EXPECT_EQ(child.id, "my child");
              EXPECT_EQ(child.version, "2.1");
              EXPECT_EQ(child.queue, "gpu");
              EXPECT_EQ(child.close_policy, ClosePolicy::kAbandon);
              EXPECT_EQ(child.on_reuse, OnReuse::kReject);
            });
}

TEST(Children, EveryEndOfAChildHasItsFailure) {
  struct Row {
    MessageKind kind;
    Failure failure;
    std::string text, output;
  };
  const Row rows[] = {
      {MessageKind::kChildFailed, {"broken", "no luck", true, {}}, "", "\"broken: no luck\""},
      {MessageKind::kChildCanceled, {}, "not wanted", "\"canceled: not wanted\""},
      {MessageKind::kChildTerminated, {}, "by hand", "\"terminated: by hand\""},
      {MessageKind::kChildStartFailed, {}, "the id is taken", "\"id_taken: the id is taken\""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(to_string(row.kind));
    both_ways(one_child(), [&](ScriptedRun& run) {
      run.start();
      Message message = run.child(EventId{2}, row.kind);
      message.failure = row.failure;
      message.text = row.text;
      run.turn({message});
      EXPECT_EQ(run.output(), row.output);
    });
  }
}

TEST(Children, AwaitingAFailedChildThrowsChildFailed) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<std::string> {
              std::string how;
              try {
                co_await ctx.call(helper, 1);
              } catch (const ChildFailed& failed) {
                how = failed.called() + " " + failed.failure().type;
              }
              co_return how;
            }),
            [](ScriptedRun& run) {
              run.start();
              Message message = run.child(EventId{2}, MessageKind::kChildFailed);
              message.failure = {"broken", "", true, {}};
              run.turn({message});
              EXPECT_EQ(run.output(), "\"helper broken\"");
            });
}

Registry child_with_a_limit() {
  return demo([](OrchestrationContext& ctx) -> Task<std::string> {
    auto child = ctx.call(helper, 5, {.timeout = 10s});
    const auto outcome = co_await child.outcome();
    co_await ctx.timer(1h);
    co_return outcome.ok() ? "in time" : outcome.failure().type;
  });
}

TEST(Children, ATimeoutOfTheCallFailsItAndCancelsTheChild) {
  both_ways(child_with_a_limit(), [](ScriptedRun& run) {
    const auto& decisions = run.start();
    EXPECT_EQ(decisions.timers.at(0).due, run.now() + 10s);
    EXPECT_THAT(run.lines(1), ElementsAre("child_scheduled helper", "timer_created of 2"));
    EXPECT_THAT(run.fire().canceled_children, ElementsAre(EventId{2}));
    EXPECT_THAT(run.lines(3),
                ElementsAre("timer_fired of 3", "child_dropped of 2", "timer_created"));
    EXPECT_TRUE(
        run.turn({run.child(EventId{2}, MessageKind::kChildCompleted, "1")}).events.empty());
    run.fire();
    EXPECT_EQ(run.output(), "\"timeout\"");
  });
}

TEST(Children, AChildThatEndsInTimeTakesItsTimerAway) {
  both_ways(child_with_a_limit(), [](ScriptedRun& run) {
    run.start();
    const auto& decisions = run.turn({run.child(EventId{2}, MessageKind::kChildCompleted, "1")});
    EXPECT_THAT(decisions.canceled_timers, ElementsAre(EventId{3}));
    EXPECT_THAT(run.lines(3),
                ElementsAre("child_completed of 2", "timer_created", "timer_dropped of 3"));
    EXPECT_TRUE(run.turn({run.fired(EventId{3})}).events.empty()) << "a late timer is dropped";
    run.fire();
    EXPECT_EQ(run.output(), "\"in time\"");
  });
}

TEST(Children, TheClosePolicyHoldsWhenTheCallTimesOut) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<std::string> {
              auto child =
                  ctx.call(helper, 5, {.close_policy = ClosePolicy::kAbandon, .timeout = 10s});
              const auto outcome = co_await child.outcome();
              co_await ctx.timer(1h);
              co_return outcome.failure().type;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_TRUE(run.fire().canceled_children.empty()) << "it goes on by itself";
              run.fire();
              EXPECT_EQ(run.output(), "\"timeout\"");
            });
}

/// Leaves a child with policy abandon and one with policy cancel behind.
template <class End>
Registry leaves_children(End) {
  return demo([](OrchestrationContext& ctx) -> Task<int> {
    auto stays = ctx.call(helper, 1, {.close_policy = ClosePolicy::kAbandon});
    auto goes = ctx.call(helper, 2);
    co_await ctx.wait_for(number);
    co_return End{}(ctx);
  });
}

TEST(Children, TheClosePolicyHoldsWhenMainEnds) {
  const Registry ends[] = {
      leaves_children([](OrchestrationContext&) { return 1; }),
      leaves_children([](OrchestrationContext&) -> int { throw Failed("broken", "no"); }),
  };
  for (const Registry& registry : ends) {
    both_ways(registry, [](ScriptedRun& run) {
      run.start();
      EXPECT_THAT(run.raise("number", "1").canceled_children, ElementsAre(EventId{3}));
      EXPECT_THAT(run.lines(5), testing::Contains("child_dropped of 2"))
          << "given up, not canceled";
    });
  }
}

TEST(Children, TheClosePolicyHoldsWhenATaskFails) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<void> fail(OrchestrationContext& c) {
                  co_await c.wait_for(number);
                  throw Failed("broken", "no");
                }
              };
              ctx.call(helper, 1, {.close_policy = ClosePolicy::kAbandon}).detach();
              ctx.call(helper, 2).detach();
              auto task = ctx.spawn(Parts::fail(ctx));
              co_await ctx.timer(1h);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_THAT(run.raise("number", "1").canceled_children, ElementsAre(EventId{3}));
              EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
            });
}

TEST(Children, DroppingAChildInMidRunCancelsItWhateverItsClosePolicy) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              { auto child = ctx.call(helper, 1, {.close_policy = ClosePolicy::kAbandon}); }
              co_await ctx.timer(1h);
              co_return 0;
            }),
            [](ScriptedRun& run) {
              EXPECT_THAT(run.start().canceled_children, ElementsAre(EventId{2}));
            });
}

TEST(Children, ADroppedChildTakesItsTimerAway) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              { auto child = ctx.call(helper, 5, {.timeout = 10s}); }
              co_await ctx.timer(1h);
              co_return 0;
            }),
            [](ScriptedRun& run) {
              const auto& decisions = run.start();
              EXPECT_THAT(decisions.canceled_children, ElementsAre(EventId{2}));
              EXPECT_THAT(decisions.canceled_timers, ElementsAre(EventId{3}));
              EXPECT_TRUE(run.turn({run.fired(EventId{3})}).events.empty());
            });
}

TEST(Children, BadOptionsAreErrorsAtTheCall) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<std::string> {
              std::string errors;
              const auto attempt = [&](const ChildOptions& options) {
                try {
                  ctx.call(helper, 1, options).detach();
                } catch (const InvalidArgument& error) {
                  errors += std::string(error.what()).substr(0, 7) + "|";
                }
              };
              const std::string long_id(300, 'x');
              attempt({.id = long_id});
              attempt({.version = "new"});
              attempt({.queue = std::string_view("a\0b", 3)});
              attempt({.timeout = -1s});
              co_return errors;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.output(), "\"child i|version|queue m|timeout|\"") << run.output();
              EXPECT_EQ(run.lines().size(), 2u) << "nothing was recorded";
            });
}

}  // namespace
}  // namespace perdure::test::children_test
