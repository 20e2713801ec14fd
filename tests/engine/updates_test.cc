#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Updates: validated, accepted, done, and their callers told.
namespace perdure::test::updates_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct Cart {
  std::vector<int> items;
  bool paid = false;
  OrchestrationContext* ctx = nullptr;
};

inline constexpr Orchestration<int()> self{"demo"};
inline constexpr Update<int(int)> put{"put"};
inline constexpr Update<int(int)> order{"order"};
inline constexpr Update<void()> clear{"clear"};
inline constexpr Update<std::string(int)> print{"print"};
inline constexpr Signal<void> pay{"pay"};
inline constexpr Query<int()> count{"count"};

int checks = 0;  // of the validator

Task<int> wait_for_pay(OrchestrationContext& ctx, Cart& cart) {
  cart.ctx = &ctx;
  co_await ctx.until([&] { return cart.paid; });
  co_return static_cast<int>(cart.items.size());
}

Task<int> order_it(OrchestrationContext& ctx, Cart& cart, int item) {
  const int stored = co_await ctx.call(twice, item);
  if (stored < 0) throw Failed("sold_out", "item " + std::to_string(item), false);
  cart.items.push_back(stored);
  co_return stored;
}

Registry cart() {
  Registry registry;
  registry.add(self, wait_for_pay)
      .update(
          put,
          [](Cart& cart, int item) {
            if (item == 13) throw std::logic_error("unlucky");
            cart.items.push_back(item);
            return static_cast<int>(cart.items.size());
          },
          [](const Cart& cart, const int& item) {
            ++checks;
            if (item < 0) throw Failed("negative", "items are not negative");
            if (cart.items.size() >= 3) throw std::runtime_error("the cart is full");
            if (item == 99) cart.ctx->call(ping).detach();
          })
      .update(order, order_it)
      .update(clear, [](Cart& cart) { cart.items.clear(); })
      .update(print,
              [](Cart&, int size) { return std::string(static_cast<std::size_t>(size), 'x'); })
      .signal(pay, [](Cart& cart) { cart.paid = true; })
      .query(count, [](const Cart& cart) { return static_cast<int>(cart.items.size()); });
  return registry;
}

TEST(Updates, OneThatIsDoneAtOnceIsAcceptedAndAnsweredInOneTurn) {
  both_ways(cart(), [](ScriptedRun& run) {
    run.start();
    run.update("put", "7", "first");
    EXPECT_THAT(run.lines(2), ElementsAre("update_accepted put", "update_completed of 3"));
    EXPECT_EQ(run.history()[2].payload, "7");
    EXPECT_EQ(run.history()[2].text, "first") << "the id of the update";
    EXPECT_EQ(run.history()[3].payload, "1");
    EXPECT_THAT(run.replies(), ElementsAre("answered first: 1")) << "no word of its acceptance";
    EXPECT_EQ(run.last().replies[0].kind, RequestKind::kUpdate);
    run.update("clear");
    EXPECT_THAT(run.replies(), ElementsAre("answered u: null"));
    run.query("count");
    EXPECT_THAT(run.replies(), ElementsAre("answered q: 0"));
  });
}

TEST(Updates, OneThatWaitsIsAcceptedAndAnsweredLater) {
  both_ways(cart(), [](ScriptedRun& run) {
    run.update("order", "7");
    EXPECT_THAT(run.replies(), ElementsAre("accepted u")) << "in the first turn, before main";
    run.turn({});
    EXPECT_THAT(run.replies(), IsEmpty()) << "a replay replies to nobody";
    run.complete("twice", "14");
    EXPECT_THAT(run.replies(), ElementsAre("answered u: 14"));
    EXPECT_THAT(run.lines(),
                ElementsAre("started demo",
                            "update_accepted order",
                            "activity_scheduled twice",
                            "main_began",
                            "activity_completed of 3",
                            "update_completed of 2"));
  });
}

TEST(Updates, SeveralAtOnceEndInTheirOwnOrder) {
  both_ways(cart(), [](ScriptedRun& run) {
    run.start();
    run.turn({run.update_message("order", "1", "a"),
              run.update_message("put", "2", "b"),
              run.update_message("order", "3", "c")});
    EXPECT_THAT(run.replies(), ElementsAre("accepted a", "answered b: 1", "accepted c"));
    const auto calls = run.open_calls("twice");
    ASSERT_EQ(calls.size(), 2u);
    run.turn({run.completed(calls[1], "6"), run.completed(calls[0], "2")});
    EXPECT_THAT(run.replies(), ElementsAre("answered c: 6", "answered a: 2"));
    run.signal("pay");
    EXPECT_EQ(run.output(), "3");
  });
}

TEST(Updates, AHandlerThatFailsTellsItsCallerTheTypedFailure) {
  both_ways(cart(), [](ScriptedRun& run) {
    run.start();
    run.update("put", "13", "plain");
    EXPECT_THAT(run.replies(), ElementsAre("failed plain: std::logic_error"));
    EXPECT_THAT(run.lines(2), ElementsAre("update_accepted put", "update_failed of 3"));
    run.update("order", "5", "durable");
    run.complete("twice", "-1");
    EXPECT_THAT(run.replies(), ElementsAre("failed durable: sold_out"));
    EXPECT_EQ(run.last().replies[0].failure, (Failure{"sold_out", "item 5", false, {}}));
    EXPECT_EQ(run.history().back().failure.message, "item 5");
    EXPECT_THAT(run.warnings(), IsEmpty());
    run.signal("pay");
    EXPECT_EQ(run.output(), "0") << "main goes on";
  });
}

TEST(Updates, OneThatTheValidatorRefusesLeavesNoTrace) {
  both_ways(cart(), [](ScriptedRun& run) {
    run.start();
    const std::size_t before = run.history().size();
    run.update("put", "-1");
    EXPECT_THAT(run.replies(), ElementsAre("rejected u: negative"));
    EXPECT_EQ(run.last().replies[0].failure.message, "items are not negative");
    EXPECT_TRUE(run.last().events.empty());
    EXPECT_EQ(run.history().size(), before);
    for (const char* item : {"1", "2", "3"}) run.update("put", item);
    run.update("put", "4");
    EXPECT_THAT(run.replies(), ElementsAre("rejected u: std::runtime_error"))
        << "it sees the state of the run";
    run.signal("pay");
    EXPECT_EQ(run.output(), "3");
  });
}

TEST(Updates, AValidatorSeesWhatCameBeforeInTheSameBatch) {
  both_ways(cart(), [](ScriptedRun& run) {
    std::vector<Message> batch;
    for (const char* id : {"a", "b", "c", "d"}) batch.push_back(run.update_message("put", "1", id));
    run.turn(batch);
    EXPECT_THAT(
        run.replies(),
        ElementsAre(
            "answered a: 1", "answered b: 2", "answered c: 3", "rejected d: std::runtime_error"));
  });
}

TEST(Updates, AReplayDoesNotAskTheValidatorAgain) {
  ScriptedRun run(cart(), "demo");
  run.start();
  checks = 0;
  run.update("put", "1");
  EXPECT_EQ(checks, 1);
  run.turn({});
  EXPECT_TRUE(run.replays());
  EXPECT_EQ(checks, 1);
}

TEST(Updates, AValidatorMakesNoCommands) {
  both_ways(cart(), [](ScriptedRun& run) {
    run.start();
    run.update("put", "99");
    EXPECT_THAT(run.replies(), ElementsAre("rejected u: invalid_argument"));
    EXPECT_THAT(run.last().replies[0].failure.message, HasSubstr("a validator reads the state"));
    EXPECT_TRUE(run.last().work.empty());
    EXPECT_TRUE(run.last().events.empty());
  });
}

TEST(Updates, AnInputOfTheWrongShapeIsRefusedWithoutATrace) {
  both_ways(cart(), [](ScriptedRun& run) {
    run.start();
    run.turn({run.update_message("put", "\"text\"", "a"), run.update_message("order", "1.5", "b")});
    EXPECT_THAT(run.replies(), ElementsAre("refused a: bad_input", "refused b: bad_input"));
    EXPECT_THAT(run.last().replies[0].failure.message, HasSubstr("the input of update 'put'"));
    EXPECT_TRUE(run.last().events.empty());
  });
}

TEST(Updates, AnInputForOneThatTakesNoneIsRefused) {
  both_ways(cart(), [](ScriptedRun& run) {
    run.start();
    run.update("clear", "5");
    EXPECT_THAT(run.replies(), ElementsAre("refused u: bad_input"));
    EXPECT_THAT(run.last().replies[0].failure.message, HasSubstr("the input of update 'clear'"));
    EXPECT_TRUE(run.last().events.empty());
  });
}

TEST(Updates, AChangedPayloadLimitIsNoMismatch) {
  struct Filled {
    int times = 0;
  };
  constexpr Update<std::string(int)> fill{"fill"};
  Registry registry;
  registry
      .add(Orchestration<int()>("demo"),
           [](OrchestrationContext& ctx, Filled& filled) -> Task<int> {
             co_await ctx.until([&] { return filled.times == 2; });
             co_await ctx.call(ping);
             co_return filled.times;
           })
      .update(fill, [](Filled& filled, int size) {
        ++filled.times;
        return std::string(static_cast<std::size_t>(size), 'x');
      });
  ScriptedRun run(registry, "demo");  // frames are evicted: each turn replays all before it
  run.start();
  run.set_max_payload(50);
  run.update("fill", "100", "large");
  EXPECT_THAT(run.replies(), ElementsAre("failed large: invalid_argument"));
  run.set_max_payload(1000);
  run.update("fill", "200", "small");
  EXPECT_EQ(run.last().replies.at(0).stage, RequestStage::kAnswered);
  run.set_max_payload(50);
  run.complete("ping");
  EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
  EXPECT_TRUE(run.replays());
}

TEST(Updates, AnUnknownOneIsRefusedAndToldWhichThereAre) {
  both_ways(cart(), [](ScriptedRun& run) {
    run.start();
    run.update("refund", "1");
    EXPECT_THAT(run.replies(), ElementsAre("refused u: unknown_handler"));
    EXPECT_EQ(run.last().replies[0].failure.message,
              "the run has no update 'refund'; it has 'clear', 'order', 'print', 'put'");
    EXPECT_TRUE(run.last().events.empty());
  });
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_await ctx.call(ping);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.update("put", "1");
              EXPECT_EQ(run.last().replies.at(0).failure.message,
                        "the run has no update 'put'; it has none");
            });
}

TEST(Updates, AreRefusedByARunThatIsCanceled) {
  both_ways(cart(), [](ScriptedRun& run) {
    run.start();
    run.turn({run.update_message("put", "1"), run.cancel_message()});
    EXPECT_THAT(run.replies(), IsEmpty()) << "it has ended: its commit answers those it left";
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
  });
  both_ways(cart(), [](ScriptedRun& run) {
    run.start();
    run.update("order", "1", "before");
    run.cancel();
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
    run.update("put", "1");
    EXPECT_THAT(run.replies(), ElementsAre("refused u: run_ended"));
    EXPECT_TRUE(run.last().events.empty());
    run.complete("twice", "2");
    EXPECT_THAT(run.replies(), ElementsAre("answered before: 2"));
  });
}

TEST(Updates, AreRefusedByARunThatCleansUp) {
  struct Parts {
    static Task<void> clean(OrchestrationContext& ctx) { co_await ctx.call(ping); }
  };
  Registry registry;
  registry
      .add(self,
           [](OrchestrationContext& ctx, Cart&) -> Task<int> {
             auto timer = ctx.timer(1h);
             const auto outcome = co_await timer.outcome();
             (void)outcome;
             co_await ctx.shield(Parts::clean(ctx));
             co_return 1;
           })
      .update(put, [](Cart&, int item) { return item; });
  both_ways(registry, [](ScriptedRun& run) {
    run.start();
    run.cancel();
    run.update("put", "1");
    EXPECT_THAT(run.replies(), ElementsAre("refused u: run_ended")) << "main is still there";
  });
}

TEST(Updates, AreRefusedByARunThatIsCompletingOrFailing) {
  both_ways(cart(), [](ScriptedRun& run) {
    run.start();
    run.update("order", "1", "before");
    run.signal("pay");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleting);
    run.update("put", "2", "behind");
    EXPECT_THAT(run.replies(), ElementsAre("refused behind: run_ended"));
    run.update("refund", "2", "unknown");
    EXPECT_THAT(run.replies(), ElementsAre("refused unknown: run_ended"));
    run.complete("twice", "2");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
  });
}

TEST(Updates, AResultThatIsTooLargeIsAFailureOfTheUpdate) {
  both_ways(cart(), [](ScriptedRun& run) {
    run.set_max_payload(50);
    run.start();
    run.update("print", "20");
    EXPECT_EQ(run.last().replies.at(0).stage, RequestStage::kAnswered);
    run.update("print", "100");
    EXPECT_THAT(run.replies(), ElementsAre("failed u: invalid_argument"));
    EXPECT_THAT(run.last().replies[0].failure.message,
                HasSubstr("the result of update 'print': 102 bytes of JSON, the limit is 50"));
    EXPECT_EQ(run.lines().back(), "update_failed of 5");
    EXPECT_EQ(run.status(), ExecutionStatus::kRunning);
  });
}

TEST(Updates, AQueryWithTheSameIdIsAnotherRequest) {
  both_ways(cart(), [](ScriptedRun& run) {
    run.start();
    run.turn(
        {run.update_message("order", "1", "same"), run.query_message("count", "null", "same")});
    EXPECT_THAT(run.replies(), UnorderedElementsAre("accepted same", "answered same: 0"));
  });
}

TEST(Updates, AHandlerMayWaitForWhatMainOrAnotherHandlerDoes) {
  Registry registry;
  registry
      .add(self,
           [](OrchestrationContext& ctx, Cart& cart) -> Task<int> {
             co_await ctx.call(ping);
             cart.paid = true;
             co_await ctx.until([&] { return cart.items.size() == 2; });
             co_return 1;
           })
      .update(order, [](OrchestrationContext& ctx, Cart& cart, int item) -> Task<int> {
        co_await ctx.until([&] { return cart.paid; });
        cart.items.push_back(item);
        co_return static_cast<int>(cart.items.size());
      });
  both_ways(registry, [](ScriptedRun& run) {
    run.turn({run.update_message("order", "1", "a"), run.update_message("order", "2", "b")});
    EXPECT_THAT(run.replies(), ElementsAre("accepted a", "accepted b"));
    run.complete("ping");
    EXPECT_THAT(run.replies(), ElementsAre("answered a: 1", "answered b: 2"));
    EXPECT_THAT(run.lines(5),
                ElementsAre("activity_completed of 5",
                            "update_completed of 2",
                            "update_completed of 3",
                            "completed"));
  });
}

}  // namespace
}  // namespace perdure::test::updates_test
