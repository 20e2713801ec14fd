#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// What else may happen while handlers go on without main.
namespace perdure::test::draining_edges_test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

struct Shop {
  bool closed = false;
  bool again = false;
  std::optional<Scope> scope;
};

inline constexpr Orchestration<int(int)> self{"demo"};
inline constexpr Signal<void> close{"close"};
inline constexpr Signal<void> renew{"renew"};
inline constexpr Update<int(int)> order{"order"};
inline constexpr Query<bool()> is_closed{"is_closed"};

int looks = 0;  // at a condition of code that is gone

Task<int> run_shop(OrchestrationContext& ctx, int round, Shop& shop) {
  co_await ctx.until([&] { return shop.closed || shop.again; });
  if (shop.again) co_await ctx.continue_as_new(self, round + 1);
  co_return round;
}

Task<int> call_twice(OrchestrationContext& ctx, Shop&, int item) {
  co_return co_await ctx.call(twice, item);
}

template <class Main, class Handler>
Registry shop(Main main, Handler handler, const MessageOptions& options = {}) {
  Registry registry;
  registry.add(self, main)
      .signal(close, [](Shop& shop) { shop.closed = true; })
      .signal(renew, [](Shop& shop) { shop.again = true; })
      .update(order, handler, options)
      .query(is_closed, [](const Shop& shop) { return shop.closed; });
  return registry;
}

TEST(DrainingEdges, WhatMainLeftOpenIsGivenUpAndItsTasksAreJoinedFirst) {
  struct Parts {
    static Task<void> beside(OrchestrationContext& ctx) {
      auto call = ctx.call(thrice, 1);
      const auto outcome = co_await call.outcome();
      ctx.set_status(outcome.reason());
    }
  };
  const auto main = [](OrchestrationContext& ctx, int round, Shop& shop) -> Task<int> {
    auto timer = ctx.timer(1h);
    auto task = ctx.spawn(Parts::beside(ctx));
    co_await ctx.until([&] { return shop.closed; });
    task.detach();
    co_return round;
  };
  both_ways(shop(main, call_twice), "0", [](ScriptedRun& run) {
    run.start();
    run.update("order", "1");
    const auto& decisions = run.signal("close");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleting);
    EXPECT_TRUE(decisions.drain_at);
    EXPECT_EQ(run.custom_status(), "\"main has ended\"");
    EXPECT_TRUE(run.open_timers().empty());
    EXPECT_THAT(run.open_calls("thrice"), IsEmpty());
    EXPECT_EQ(run.open_calls("twice").size(), 1u);
    run.complete("twice", "2");
    EXPECT_EQ(run.lines().back(), "completed");
  });
}

TEST(DrainingEdges, ACancelMeanwhileMakesItTheEnd) {
  for (const char* how : {"close", "renew"}) {
    SCOPED_TRACE(how);
    both_ways(shop(run_shop, call_twice), "0", [&](ScriptedRun& run) {
      run.start();
      run.update("order", "1");
      run.signal(how);
      EXPECT_EQ(run.status(), ExecutionStatus::kCompleting);
      run.cancel("late");
      EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
      run.complete("twice", "2");
      EXPECT_THAT(run.replies(), ElementsAre("answered u: 2"));
      EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
      EXPECT_FALSE(run.next()) << "a run that is canceled has no next life";
    });
    both_ways(shop(run_shop, call_twice, {.cancel_with_run = true}), "0", [&](ScriptedRun& run) {
      run.start();
      run.update("order", "1");
      run.signal(how);
      run.cancel("late");
      EXPECT_THAT(run.replies(), ElementsAre("failed u: canceled"));
      EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
      EXPECT_FALSE(run.next());
    });
  }
}

TEST(DrainingEdges, AnUpdateThatComesBeforeTheNextExecutionBeginsIsLeftToIt) {
  both_ways(shop(run_shop, call_twice), "0", [](ScriptedRun& run) {
    run.start();
    run.update("order", "1", "before");
    run.signal("renew");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleting);
    run.update("order", "2", "late");
    EXPECT_TRUE(run.last().events.empty());
    EXPECT_THAT(run.replies(), IsEmpty()) << "its row waits: the store sends it to the next one";
    run.complete("twice", "2");
    EXPECT_EQ(run.status(), ExecutionStatus::kContinuedAsNew);
  });
}

TEST(DrainingEdges, TheOrderOfAnswerAndDeadlineDecides) {
  for (const bool answer_first : {true, false}) {
    both_ways(shop(run_shop, call_twice), "0", [&](ScriptedRun& run) {
      run.start();
      run.update("order", "1");
      run.signal("close");
      const Message answer = run.completed(run.open_call("twice"), "2");
      if (answer_first) {
        run.turn({answer, run.drain_deadline()});
        EXPECT_THAT(run.replies(), ElementsAre("answered u: 2"));
      } else {
        run.turn({run.drain_deadline(), answer});
        EXPECT_THAT(run.replies(), ElementsAre("cut u: run_ended"));
      }
      EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
    });
  }
}

TEST(DrainingEdges, AHandlerThatWaitsForMainWaitsUntilTheDeadline) {
  const auto waits = [](OrchestrationContext& ctx, Shop& shop, int item) -> Task<int> {
    co_await ctx.until([&] { return shop.scope.has_value(); });
    co_return item;
  };
  both_ways(shop(run_shop, waits), "0", [](ScriptedRun& run) {
    run.start();
    run.update("order", "1");
    run.signal("close");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleting);
    run.turn({run.drain_deadline()});
    EXPECT_THAT(run.lines(4), ElementsAre("drain_expired", "completed"));
  });
}

TEST(DrainingEdges, HandlersMaySpawnAndShieldWithoutMain) {
  struct Parts {
    static Task<int> fetch(OrchestrationContext& ctx, int item) {
      co_return co_await ctx.call(thrice, item);
    }
  };
  const auto spawns = [](OrchestrationContext& ctx, Shop&, int item) -> Task<int> {
    const int first = co_await ctx.call(twice, item);
    auto one = ctx.spawn(Parts::fetch(ctx, first));
    auto two = ctx.shield(Parts::fetch(ctx, first + 1));
    const int sum = co_await one;
    co_return sum + co_await two;
  };
  both_ways(shop(run_shop, spawns), "0", [](ScriptedRun& run) {
    run.start();
    run.update("order", "1");
    run.signal("close");
    run.complete("twice", "2");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleting);
    run.complete("thrice", "10");
    run.complete("thrice", "20");
    EXPECT_THAT(run.replies(), ElementsAre("answered u: 30"));
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
  });
}

/// Waits for ever under a shield; its condition looks at its own frame.
Task<void> watch(OrchestrationContext& ctx) {
  const int local = 1;
  co_await ctx.until([&] {
    ++looks;
    return local == 2;
  });
}

TEST(DrainingEdges, ConditionsOfMainAreLookedAtNoMoreWhenItContinues) {
  const auto main = [](OrchestrationContext& ctx, int round, Shop& shop) -> Task<int> {
    auto watching = ctx.shield(watch(ctx));
    co_await ctx.until([&] { return shop.again; });
    co_await ctx.continue_as_new(self, round + 1);
    co_return round;
  };
  both_ways(shop(main, call_twice), "0", [](ScriptedRun& run) {
    run.start();
    run.update("order", "1");
    run.signal("renew");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleting);
    run.keep_frames(true);
    run.turn({});
    looks = 0;
    run.complete("twice", "2");
    EXPECT_EQ(looks, 0) << "its frame is gone";
    EXPECT_EQ(run.status(), ExecutionStatus::kContinuedAsNew);
  });
}

TEST(DrainingEdges, WhatMainLeftUnderAShieldIsGivenUpWhenItContinues) {
  struct Parts {
    static Task<int> fetch(OrchestrationContext& ctx) { co_return co_await ctx.call(thrice, 1); }
  };
  const auto main = [](OrchestrationContext& ctx, int round, Shop& shop) -> Task<int> {
    auto fetching = ctx.shield(Parts::fetch(ctx));
    co_await ctx.until([&] { return shop.again; });
    co_await ctx.continue_as_new(self, round + 1);
    co_return round;
  };
  both_ways(shop(main, call_twice), "0", [](ScriptedRun& run) {
    run.start();
    run.update("order", "1");
    const EventId call = run.open_call("thrice");
    EXPECT_THAT(run.signal("renew").canceled_work, ElementsAre(call));
    EXPECT_TRUE(run.turn({run.completed(call, "3")}).events.empty()) << "nobody waits for it";
    run.complete("twice", "2");
    EXPECT_EQ(run.status(), ExecutionStatus::kContinuedAsNew);
  });
}

Task<int> order_under_shield(OrchestrationContext& ctx, Shop&, int) {
  struct Parts {
    static Task<int> fetch(OrchestrationContext& c) { co_return co_await c.call(thrice, 1); }
  };
  auto watching = ctx.shield(watch(ctx));
  auto fetching = ctx.shield(Parts::fetch(ctx));
  co_return co_await fetching;
}

/// Main fails and owes an undo, so that turns follow the deadline.
Task<int> fail_at_close(OrchestrationContext& ctx, int, Shop& shop) {
  co_await ctx.call(twice, 1).undo_with(undo_twice);
  co_await ctx.until([&] { return shop.closed; });
  throw Failed("closed", "for good");
}

TEST(DrainingEdges, ConditionsOfHandlersAreLookedAtNoMoreBehindTheDeadline) {
  both_ways(shop(fail_at_close, order_under_shield), "0", [](ScriptedRun& run) {
    run.start();
    run.complete("twice", "2");
    run.update("order", "1");
    run.signal("close");
    run.turn({run.drain_deadline()});
    EXPECT_EQ(run.status(), ExecutionStatus::kFailing);
    run.keep_frames(true);
    run.turn({});
    looks = 0;
    run.raise("number", "1");
    EXPECT_EQ(looks, 0) << "its frame is gone";
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
  });
}

TEST(DrainingEdges, CallsUnderAShieldOfAHandlerAreGivenUpAtTheDeadlineToo) {
  both_ways(shop(fail_at_close, order_under_shield), "0", [](ScriptedRun& run) {
    run.start();
    run.complete("twice", "2");
    run.update("order", "1");
    const EventId call = run.open_call("thrice");
    run.signal("close");
    EXPECT_THAT(run.turn({run.drain_deadline()}).canceled_work, ElementsAre(call));
    EXPECT_THAT(run.replies(), ElementsAre("cut u: run_ended"));
    EXPECT_TRUE(run.turn({run.completed(call, "3")}).events.empty()) << "nobody waits for it";
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
  });
}

TEST(DrainingEdges, AHandlerThatContinuesAsNewAfterMainHasEndedGetsAnErrorAndAWarning) {
  const auto handler = [](OrchestrationContext& ctx, Shop&, int item) -> Task<int> {
    const int ordered = co_await ctx.call(twice, item);
    co_await ctx.continue_as_new(self, ordered);
    co_return ordered;
  };
  both_ways(shop(run_shop, handler), "0", [](ScriptedRun& run) {
    run.start();
    run.update("order", "1");
    run.signal("close");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleting);
    run.complete("twice", "2");
    EXPECT_THAT(run.replies(), ElementsAre("failed u: invalid_argument"));
    EXPECT_THAT(run.warnings(), ElementsAre("a message handler asked to continue as new"));
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
    EXPECT_FALSE(run.next());
  });
}

TEST(DrainingEdges, AChildThatAHandlerDropsIsGivenUpAsBeforeTheEndOfMain) {
  const auto handler = [](OrchestrationContext& ctx, Shop&, int item) -> Task<int> {
    auto child = ctx.call(helper, item, {.close_policy = ClosePolicy::kAbandon});
    auto call = ctx.call(twice, item);
    co_return co_await call;
  };
  for (const bool in_time : {true, false}) {
    SCOPED_TRACE(in_time);
    both_ways(shop(run_shop, handler), "0", [&](ScriptedRun& run) {
      run.start();
      run.update("order", "1");
      ASSERT_EQ(run.children().size(), 1u);
      const EventId child{run.children().begin()->first};
      run.signal("close");
      const auto& decisions =
          in_time ? run.complete("twice", "2") : run.turn({run.drain_deadline()});
      if (in_time) {
        EXPECT_THAT(decisions.canceled_children, ElementsAre(child)) << "the handler dropped it";
      } else {
        EXPECT_THAT(decisions.canceled_children, IsEmpty()) << "it was cut: by the close policy";
      }
    });
  }
}

/// A handler wakes main and has tasks ready behind it when main continues as new.
TEST(DrainingEdges, TasksOfHandlersThatAreReadyWhenMainContinuesRunOn) {
  struct Parts {
    static Task<void> rest(OrchestrationContext& ctx) { co_await ctx.timer(1h); }
    static Task<int> deepest(OrchestrationContext& ctx, int item) {
      co_return co_await ctx.call(twice, item);
    }
    static Task<int> deeper(OrchestrationContext& ctx, int item) {
      auto task = ctx.spawn(deepest(ctx, item));
      co_return co_await task;
    }
    static Task<int> deep(OrchestrationContext& ctx, int item) {
      auto task = ctx.spawn(deeper(ctx, item));
      co_return co_await task;
    }
  };
  const auto main = [](OrchestrationContext& ctx, int round, Shop& shop) -> Task<int> {
    shop.scope.emplace(ctx.scope());
    auto resting = shop.scope->spawn(Parts::rest(ctx));
    static_cast<void>(co_await resting.outcome());
    co_await ctx.continue_as_new(self, round + 1);
    co_return round;
  };
  const auto handler = [](OrchestrationContext& ctx, Shop& shop, int item) -> Task<int> {
    shop.scope->cancel("wake up");
    auto task = ctx.spawn(Parts::deep(ctx, item));
    co_return co_await task;
  };
  both_ways(shop(main, handler), "0", [](ScriptedRun& run) {
    run.start();
    run.update("order", "1");
    EXPECT_THAT(run.lines(), Contains("activity_scheduled twice"))
        << "nothing that is ready may be left behind by a turn";
    if (run.open_calls("twice").empty()) return;
    run.complete("twice", "2");
    EXPECT_THAT(run.replies(), ElementsAre("answered u: 2"));
    EXPECT_EQ(run.status(), ExecutionStatus::kContinuedAsNew);
  });
}

TEST(DrainingEdges, ARunThatIsTerminatedMeanwhileReplays) {
  both_ways(shop(run_shop, call_twice), "0", [](ScriptedRun& run) {
    run.start();
    run.update("order", "1");
    run.signal("close");
    run.write_end(EventKind::kTerminated, "now");
    run.query("is_closed");
    EXPECT_THAT(run.replies(), ElementsAre("answered q: true"));
  });
}

TEST(DrainingEdges, ARunThatHasLostItsCodeIsWoundDown) {
  ScriptedRun run(shop(fail_at_close, call_twice), "demo", "0");
  run.start();
  run.complete("twice", "2");
  run.update("order", "1");
  run.cancel("stop");
  run.lose_code();
  run.turn({run.update_message("order", "2", "late"), run.signal_message("close")});
  EXPECT_THAT(run.replies(), ElementsAre("refused late: run_ended"));
  run.complete("undo_twice");
  EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
  EXPECT_TRUE(run.replays());
}

}  // namespace
}  // namespace perdure::test::draining_edges_test
