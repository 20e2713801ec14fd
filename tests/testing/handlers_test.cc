#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <perdure/perdure.h>
#include <perdure/testing.h>

/// A shopping cart that is told and asked things, as a user tests it.
namespace perdure::test::handlers_test {

namespace {

using namespace std::chrono_literals;
using perdure::testing::TestOptions;
using perdure::testing::TestRuntime;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Cart {
  std::vector<std::string> items;
  std::string paper = "plain";
  bool ordered = false;
};

inline constexpr Orchestration<std::string(int)> shopping{"shopping"};
inline constexpr Activity<bool(std::string)> reserve{"reserve"};
inline constexpr Signal<std::string> wrap{"wrap"};
inline constexpr Signal<void> order{"order"};
inline constexpr Signal<int> unheard{"unheard"};
inline constexpr Update<int(std::string)> put{"put"};
inline constexpr Update<int(std::string)> put_reserved{"put_reserved"};
inline constexpr Update<void()> clear{"clear"};
inline constexpr Update<int()> vanish{"vanish"};
inline constexpr Query<std::vector<std::string>()> items{"items"};
inline constexpr Query<std::string(int)> item_at{"item_at"};

Task<std::string> run_shopping(OrchestrationContext& ctx, int days, Cart& cart) {
  auto ordered = ctx.until([&] { return cart.ordered; });
  auto patience = ctx.timer(days * 24h);
  if (co_await when_any(ordered, patience) == 1) co_return "left";
  co_return std::to_string(cart.items.size()) + " in " + cart.paper;
}

Task<int> run_put_reserved(OrchestrationContext& ctx, Cart& cart, std::string item) {
  const bool reserved = co_await ctx.call(reserve, item, {.retry = retry(100, 20s)});
  if (!reserved) throw Failed("sold_out", item);
  cart.items.push_back(item);
  co_return static_cast<int>(cart.items.size());
}

Registry shop() {
  Registry registry;
  registry.add(shopping, run_shopping)
      .signal(wrap, [](Cart& cart, std::string paper) { cart.paper = paper; })
      .signal(order, [](Cart& cart) { cart.ordered = true; })
      .update(
          put,
          [](Cart& cart, std::string item) {
            cart.items.push_back(item);
            return static_cast<int>(cart.items.size());
          },
          [](const Cart& cart, const std::string& item) {
            if (item.empty()) throw Failed("no_name", "an item has a name");
            if (cart.items.size() == 3) throw Failed("full", "three at most");
          })
      .update(put_reserved, run_put_reserved)
      .update(clear, [](Cart& cart) { cart.items.clear(); })
      .query(items, [](const Cart& cart) { return cart.items; })
      .query(item_at, [](const Cart& cart, int at) { return cart.items.at(std::size_t(at)); });
  registry.add(reserve, [](std::string item) { return item != "unicorn"; });
  return registry;
}

TEST(Handlers, ASignalChangesWhatTheRunDoes) {
  TestRuntime runtime(shop());
  auto run = runtime.start(shopping, "c", 7);
  runtime.signal("c", wrap, "red");
  runtime.signal("c", wrap, "gold", 1h);
  runtime.run_until_idle();
  EXPECT_EQ(run.status().status, ExecutionStatus::kRunning);
  runtime.advance(1h);
  runtime.signal("c", order);
  EXPECT_EQ(run.result(), "0 in gold");
}

TEST(Handlers, ASignalMayComeWithTheStart) {
  TestRuntime runtime(shop());
  auto run = runtime.signal_with_start(shopping, "c", 7, wrap, "red");
  runtime.run_until_idle();
  const auto history = runtime.history("c");
  ASSERT_GE(history.size(), 3U);
  EXPECT_EQ(history[1].kind, "signal_received");
  EXPECT_EQ(history[2].kind, "main_began") << "it was there before main";
  runtime.signal_with_start(shopping, "c", 7, wrap, "gold");
  EXPECT_EQ(runtime.queued().runs_ready, 1) << "the same run";
  runtime.signal("c", order);
  EXPECT_EQ(run.result(), "0 in gold");
}

TEST(Handlers, AnUpdateMayComeWithTheStart) {
  TestRuntime runtime(shop());
  EXPECT_EQ(runtime.update_with_start(shopping, "c", 7, put, "apple").result(), 1);
  EXPECT_EQ(runtime.update_with_start(shopping, "c", 7, put, "pear", "u").result(), 2);
  EXPECT_EQ(runtime.update_with_start(shopping, "c", 7, put, "pear", "u").result(), 2);
  runtime.update_with_start(shopping, "c", 7, clear).result();
  EXPECT_TRUE(runtime.query("c", items).empty());
  auto run = runtime.signal_with_start(shopping, "c", 7, order);
  EXPECT_EQ(run.result(), "0 in plain");
}

TEST(Handlers, ASignalThatNobodyTakesIsNotStoredWithAStartEither) {
  TestRuntime runtime(shop());
  runtime.start(shopping, "c", 7);
  runtime.run_until_idle();
  EXPECT_THROW(runtime.signal_with_start(shopping, "c", 7, unheard, 1), UnknownHandler);
  EXPECT_EQ(runtime.queued().runs_ready, 0);
}

TEST(Handlers, AKeptSignalIsTakenWhenCodeWithAHandlerIsDeployed) {
  Registry old;
  old.add(shopping, run_shopping);
  TestRuntime runtime(old);
  auto run = runtime.start(shopping, "c", 7);
  runtime.signal("c", order);
  runtime.run_until_idle();
  EXPECT_EQ(run.status().status, ExecutionStatus::kRunning);
  runtime.deploy(shop());
  EXPECT_EQ(run.result(), "0 in plain");
}

TEST(Handlers, AnUpdateGivesItsResult) {
  TestRuntime runtime(shop());
  runtime.start(shopping, "c", 7);
  EXPECT_EQ(runtime.update("c", put, "apple"), 1);
  EXPECT_EQ(runtime.update("c", put_reserved, "pear"), 2) << "it waited for its activity";
  EXPECT_THAT(runtime.query("c", items), ElementsAre("apple", "pear"));
  runtime.update("c", clear);
  EXPECT_TRUE(runtime.query("c", items).empty());
}

TEST(Handlers, AnUpdateHasStages) {
  TestRuntime runtime(shop());
  runtime.start(shopping, "c", 7);
  runtime.run_until_idle();
  auto update = runtime.start_update("c", put_reserved, "pear", "u-1");
  EXPECT_EQ(update.update_id(), "u-1");
  EXPECT_EQ(update.stage(), "waiting");
  EXPECT_EQ(update.result(), 1);
  EXPECT_EQ(update.stage(), "answered");
  EXPECT_EQ(runtime.start_update("c", put_reserved, "pear", "u-1").result(), 1)
      << "the same id is the same update";
  EXPECT_THAT(runtime.query("c", items), ElementsAre("pear"));
}

TEST(Handlers, AnUpdateMayBeRejectedOrFail) {
  TestRuntime runtime(shop());
  runtime.start(shopping, "c", 7);
  for (const char* item : {"a", "b"}) runtime.update("c", put, item);
  const std::size_t before = runtime.history("c").size();
  try {
    runtime.update("c", put, "");
    FAIL() << "accepted";
  } catch (const UpdateRejected& rejected) {
    EXPECT_EQ(rejected.failure().type, "no_name");
  }
  EXPECT_EQ(runtime.history("c").size(), before) << "no trace in history";
  try {
    runtime.update("c", put_reserved, "unicorn");
    FAIL() << "reserved";
  } catch (const UpdateFailed& failed) {
    EXPECT_EQ(failed.failure().type, "sold_out");
  }
  EXPECT_EQ(runtime.status("c").status, ExecutionStatus::kRunning);
}

TEST(Handlers, AnUpdateThatWaitsIsAConflictUntilItIsDone) {
  TestRuntime runtime(shop());
  runtime.fake(reserve, [](ActivityContext& ctx, std::string) {
    if (ctx.attempt() < 2) throw Failed("busy", "later");
    return true;
  });
  runtime.start(shopping, "c", 7);
  auto update = runtime.start_update("c", put_reserved, "pear");
  EXPECT_THROW(update.result(), Conflict);
  EXPECT_EQ(update.stage(), "accepted");
  runtime.advance(1h);
  EXPECT_EQ(update.result(), 1);
}

TEST(Handlers, AQueryReadsAndMayFail) {
  TestRuntime runtime(shop());
  runtime.start(shopping, "c", 7);
  runtime.update("c", put, "apple");
  const std::size_t before = runtime.history("c").size();
  EXPECT_EQ(runtime.query("c", item_at, 0), "apple");
  EXPECT_THROW(runtime.query("c", item_at, 5), QueryFailed);
  EXPECT_EQ(runtime.history("c").size(), before);
}

TEST(Handlers, AnEndedRunAnswersQueriesAndRefusesTheRest) {
  TestRuntime runtime(shop());
  auto run = runtime.start(shopping, "c", 7);
  runtime.update("c", put, "apple");
  runtime.signal("c", order);
  EXPECT_EQ(run.result(), "1 in plain");
  EXPECT_THAT(runtime.query("c", items), ElementsAre("apple"));
  EXPECT_THROW(runtime.query("c", item_at, 5), QueryFailed);
  EXPECT_THROW(runtime.update("c", put, "pear"), RunEnded);
  EXPECT_THROW(runtime.signal("c", wrap, "red"), RunEnded);
}

TEST(Handlers, UnknownRunsAndNamesAreTypedErrors) {
  TestRuntime runtime(shop());
  EXPECT_THROW(runtime.signal("nobody", order), NotFound);
  EXPECT_THROW(runtime.update("nobody", put, "pear"), NotFound);
  EXPECT_THROW(runtime.query("nobody", items), NotFound);
  runtime.start(shopping, "c", 7);
  try {
    runtime.update("c", vanish);
    FAIL() << "known";
  } catch (const UnknownHandler& unknown) {
    EXPECT_THAT(unknown.what(), HasSubstr("'clear', 'put', 'put_reserved'"));
  }
  EXPECT_THROW(runtime.query("c", Query<int()>("age")), UnknownHandler);
  EXPECT_THROW(runtime.signal("c", unheard, 1), UnknownHandler);
}

TEST(Handlers, AnInputOfAnotherTypeIsRefused) {
  TestRuntime runtime(shop());
  runtime.start(shopping, "c", 7);
  try {
    runtime.update("c", Update<int(int)>("put"), 5);
    FAIL() << "taken";
  } catch (const InvalidArgument& refused) {
    EXPECT_THAT(refused.what(), HasSubstr("the input of update 'put'"));
  }
  EXPECT_THROW(runtime.query("c", Query<std::string(std::string)>("item_at"), "x"),
               InvalidArgument);
}

TEST(Handlers, ARunWaitsForUpdatesThatItHasAccepted) {
  TestRuntime runtime(shop());
  runtime.fake(reserve, [](ActivityContext& ctx, std::string) {
    if (ctx.attempt() < 2) throw Failed("busy", "later");
    return true;
  });
  auto run = runtime.start(shopping, "c", 7);
  auto update = runtime.start_update("c", put_reserved, "pear");
  runtime.run_until_idle();
  runtime.signal("c", order);
  runtime.run_until_idle();
  EXPECT_EQ(run.status().status, ExecutionStatus::kCompleting);
  EXPECT_THROW(runtime.update("c", put, "late"), RunEnded);
  runtime.advance(50s);
  EXPECT_EQ(update.result(), 1) << "main had returned";
  EXPECT_EQ(run.result(), "0 in plain");
}

TEST(Handlers, ARunDoesNotWaitForUpdatesForEver) {
  TestOptions options;
  options.handler_drain_timeout = 30s;
  TestRuntime runtime(shop(), options);
  runtime.fake(reserve, [](std::string) -> bool { throw Failed("busy", "always"); });
  auto run = runtime.start(shopping, "c", 7);
  auto update = runtime.start_update("c", put_reserved, "pear");
  runtime.run_until_idle();
  runtime.signal("c", order);
  runtime.advance(29s);
  EXPECT_EQ(run.status().status, ExecutionStatus::kCompleting);
  runtime.advance(1s);
  EXPECT_EQ(run.status().status, ExecutionStatus::kCompleted);
  EXPECT_THROW(update.result(), RunEnded);
  EXPECT_TRUE(runtime.queued().calls.empty());
}

TEST(Handlers, ACancelEndsMainAndLetsUpdatesFinish) {
  TestRuntime runtime(shop());
  auto run = runtime.start(shopping, "c", 7);
  runtime.fake(reserve, [&](std::string) {
    runtime.cancel("c", "enough");
    return true;
  });
  EXPECT_EQ(runtime.update("c", put_reserved, "pear"), 1);
  EXPECT_THROW(run.result(), RunCanceled);
}

}  // namespace

}  // namespace perdure::test::handlers_test
