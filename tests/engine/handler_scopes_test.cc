#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Where handlers run: beside main, each for itself, out of reach of a cancel unless they want it.
namespace perdure::test::handler_scopes_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Book {
  std::vector<int> seen;
  bool closed = false;
};

inline constexpr Orchestration<std::string()> self{"demo"};
inline constexpr Signal<int> note{"note"};
inline constexpr Signal<void> finish{"finish"};
inline constexpr Update<int(int)> change{"change"};
inline constexpr Update<int(int)> careful{"careful"};
inline constexpr Query<int()> count{"count"};

std::string joined(const std::vector<int>& values) {
  std::string text;
  for (const int value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

Task<std::string> wait_for_close(OrchestrationContext& ctx, Book& book) {
  co_await ctx.until([&] { return book.closed; });
  co_return joined(book.seen);
}

/// Main waits for the signal `finish`.
template <class Handler>
Registry book(Handler handler, const MessageOptions& options = {}) {
  Registry registry;
  registry.add(self, wait_for_close)
      .signal(finish, [](Book& book) { book.closed = true; })
      .update(change, handler, options);
  return registry;
}

Task<int> fetch(OrchestrationContext& ctx, Book&, int item) {
  co_return co_await ctx.call(twice, item);
}

Task<int> spoiled(OrchestrationContext& ctx) {
  co_await ctx.call(ping);
  throw Failed("spoiled", "on purpose");
}

Task<int> fetch_thrice(OrchestrationContext& ctx, int item) {
  co_return co_await ctx.call(thrice, item);
}

TEST(HandlerScopes, AFailureIsItsOwnAndNoOthers) {
  both_ways(book(fetch), [](ScriptedRun& run) {
    run.start();
    run.turn({run.update_message("change", "1", "a"), run.update_message("change", "2", "b")});
    run.fail("twice", {"sold_out", "none left", false, {}});
    EXPECT_THAT(run.replies(), ElementsAre("failed a: sold_out"));
    EXPECT_EQ(run.last().replies[0].failure.message, "none left");
    EXPECT_EQ(run.status(), ExecutionStatus::kRunning);
    run.complete("twice", "4");
    EXPECT_THAT(run.replies(), ElementsAre("answered b: 4"));
    run.signal("finish");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
    EXPECT_THAT(run.warnings(), IsEmpty()) << "the caller knows";
  });
}

TEST(HandlerScopes, ATaskThatAHandlerSpawnedFailsTheHandlerAlone) {
  const auto handler = [](OrchestrationContext& ctx, Book&, int item) -> Task<int> {
    auto beside = ctx.spawn(spoiled(ctx));
    co_await ctx.call(twice, item);
    co_return co_await beside;
  };
  both_ways(book(handler), [](ScriptedRun& run) {
    run.start();
    run.update("change", "1");
    run.complete("ping");
    EXPECT_EQ(run.status(), ExecutionStatus::kRunning);
    run.complete("twice", "2");
    EXPECT_THAT(run.replies(), ElementsAre("failed u: spoiled"));
    run.signal("finish");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
  });
}

TEST(HandlerScopes, ATaskThatFailsUnseenHurtsNobody) {
  const auto handler = [](OrchestrationContext& ctx, Book&, int item) -> Task<int> {
    ctx.spawn(spoiled(ctx)).detach();
    co_return co_await ctx.call(twice, item);
  };
  both_ways(book(handler), [](ScriptedRun& run) {
    run.start();
    run.update("change", "1");
    run.complete("ping");
    EXPECT_EQ(run.status(), ExecutionStatus::kRunning);
    run.complete("twice", "2");
    EXPECT_THAT(run.replies(), ElementsAre("answered u: 2"));
  });
}

TEST(HandlerScopes, ATaskThatIsLeftWhenItsHandlerEndsIsCanceled) {
  const auto handler = [](OrchestrationContext& ctx, Book&, int item) -> Task<int> {
    auto beside = ctx.spawn(fetch_thrice(ctx, item));
    co_return co_await ctx.call(twice, item);
  };
  both_ways(book(handler), [](ScriptedRun& run) {
    run.start();
    run.update("change", "1");
    run.complete("twice", "2");
    EXPECT_THAT(run.replies(), ElementsAre("answered u: 2"));
    EXPECT_TRUE(run.work().empty()) << "what it left open is given up";
    run.signal("finish");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted) << "nothing is left to wait for";
  });
}

TEST(HandlerScopes, ADetachedCallOfAHandlerEndsWithIt) {
  const auto handler = [](OrchestrationContext& ctx, Book&, int item) -> Task<int> {
    ctx.call(thrice, item).detach();
    co_return item;
  };
  both_ways(book(handler), [](ScriptedRun& run) {
    run.start();
    const auto& decisions = run.update("change", "1");
    EXPECT_THAT(run.lines(2),
                ElementsAre("update_accepted change",
                            "activity_scheduled thrice",
                            "activity_dropped of 4",
                            "update_completed of 3"));
    EXPECT_THAT(decisions.canceled_work, ElementsAre(EventId{4}));
  });
}

TEST(HandlerScopes, OnlyMainContinuesAsNew) {
  const auto handler = [](OrchestrationContext& ctx, Book&, int) -> Task<int> {
    co_await ctx.continue_as_new(self);
    co_return 1;
  };
  both_ways(book(handler), [](ScriptedRun& run) {
    run.start();
    run.update("change", "1");
    EXPECT_THAT(run.replies(), ElementsAre("failed u: invalid_argument"));
    EXPECT_THAT(run.last().replies[0].failure.message, HasSubstr("main alone decides it"));
    EXPECT_THAT(run.warnings(), ElementsAre("a message handler asked to continue as new"));
    EXPECT_EQ(run.status(), ExecutionStatus::kRunning);
    run.signal("finish");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
  });
}

TEST(HandlerScopes, WorkIsShieldedUnlessTheHandlerIsCanceledWithTheRun) {
  const auto handler = [](OrchestrationContext& ctx, Book&, int item) -> Task<int> {
    auto patience = ctx.timer(1h);
    auto call = ctx.call(twice, item);
    co_await when_any(call, patience);
    co_return 1;
  };
  for (const bool with_run : {false, true}) {
    SCOPED_TRACE(with_run);
    both_ways(book(handler, {.cancel_with_run = with_run}), [&](ScriptedRun& run) {
      run.start();
      const auto& decisions = run.update("change", "1");
      ASSERT_EQ(decisions.work.size(), 1u);
      EXPECT_EQ(decisions.work[0].shielded, !with_run);
      ASSERT_EQ(decisions.timers.size(), 1u);
      EXPECT_EQ(decisions.timers[0].shielded, !with_run);
    });
  }
}

Registry two_kinds() {
  Registry registry;
  registry.add(self, wait_for_close)
      .signal(note, [](Book& book, int item) { book.seen.push_back(item); })
      .update(change, fetch)
      .update(careful, fetch, {.cancel_with_run = true})
      .query(count, [](const Book& book) { return static_cast<int>(book.seen.size()); });
  return registry;
}

TEST(HandlerScopes, ACancelReachesMainAndThoseHandlersThatAskedForIt) {
  both_ways(two_kinds(), [](ScriptedRun& run) {
    run.start();
    run.turn({run.update_message("change", "1", "a"), run.update_message("careful", "2", "b")});
    run.cancel("stop");
    EXPECT_THAT(run.replies(), ElementsAre("failed b: canceled"));
    EXPECT_EQ(run.last().replies[0].failure.message, "stop");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
    EXPECT_TRUE(run.last().drain_at) << "the other one may finish";
    EXPECT_THAT(run.lines(6), ElementsAre("cancel_requested", "update_failed of 5"));
    run.complete("twice", "2");
    EXPECT_THAT(run.replies(), ElementsAre("answered a: 2"));
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
  });
}

TEST(HandlerScopes, ASignalHandlerThatIsCanceledWithTheRunIsNoWarning) {
  Registry registry;
  registry.add(self, wait_for_close)
      .signal(note,
              [](OrchestrationContext& ctx, Book&, int) -> Task<void> { co_await ctx.timer(1h); },
              {.cancel_with_run = true});
  both_ways(registry, [](ScriptedRun& run) {
    run.start();
    run.signal("note", "1");
    run.cancel();
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
    EXPECT_THAT(run.warnings(), IsEmpty());
  });
}

TEST(HandlerScopes, ACancelInTheFirstTurnComesBeforeSignalsAndMain) {
  both_ways(two_kinds(), [](ScriptedRun& run) {
    run.turn({run.signal_message("note", "1"),
              run.update_message("change", "1"),
              run.query_message("count"),
              run.cancel_message("early")});
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
    EXPECT_THAT(
        run.lines(),
        ElementsAre(
            "started demo", "cancel_requested", "signal_received note", "main_began", "canceled"));
    EXPECT_THAT(run.replies(), ElementsAre("refused u: run_ended", "answered q: 1"));
  });
}

TEST(HandlerScopes, ASignalThatComesWhileMainCleansUpIsHandled) {
  struct Parts {
    static Task<void> clean(OrchestrationContext& ctx) { co_await ctx.call(ping); }
  };
  Registry registry;
  registry
      .add(self,
           [](OrchestrationContext& ctx, Book& book) -> Task<std::string> {
             auto timer = ctx.timer(1h);
             const auto outcome = co_await timer.outcome();
             (void)outcome;
             co_await ctx.shield(Parts::clean(ctx));
             ctx.set_status(joined(book.seen));
             co_return "";
           })
      .signal(note, [](Book& book, int item) { book.seen.push_back(item); });
  both_ways(registry, [](ScriptedRun& run) {
    run.start();
    run.cancel();
    run.signal("note", "1");
    EXPECT_EQ(run.history().back().number, 0) << "taken, not kept";
    run.complete("ping");
    EXPECT_EQ(run.custom_status(), "\"1\"");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
  });
}

TEST(HandlerScopes, TheCleanupDeadlineEndsHandlersToo) {
  both_ways(two_kinds(), [](ScriptedRun& run) {
    run.start();
    run.update("change", "1");
    run.cancel();
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
    const auto& decisions = run.turn({run.cleanup_deadline()});
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
    EXPECT_THAT(decisions.canceled_work, ElementsAre(EventId{4}));
  });
}

TEST(HandlerScopes, TheCleanupDeadlineTellsCallersBeforeUndosRun) {
  Registry registry;
  registry
      .add(self,
           [](OrchestrationContext& ctx) -> Task<std::string> {
             co_await ctx.call(twice, 1).undo_with(undo_twice);
             co_await ctx.call(ping);
             co_return "done";
           })
      .signal(note,
              [](OrchestrationContext& ctx, Book&, int item) -> Task<void> {
                co_await ctx.call(thrice, item);
              })
      .update(Update<int(int)>("change"),
              [](OrchestrationContext& ctx, Book&, int item) -> Task<int> {
                co_return co_await ctx.call(thrice, item);
              });
  both_ways(registry, [](ScriptedRun& run) {
    run.start();
    run.complete("twice", "2");
    run.update("change", "1");
    run.signal("note", "1");
    run.cancel();
    run.turn({run.cleanup_deadline()});
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceling) << "an undo runs";
    EXPECT_THAT(run.replies(), ElementsAre("cut u: run_ended"));
    EXPECT_EQ(run.warnings().size(), 1u) << "of the signal";
    run.complete("undo_twice");
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
  });
}

TEST(HandlerScopes, HandlersMayUseAStateOfTheirOwnWhenMainTakesNone) {
  Registry registry;
  registry
      .add(self,
           [](OrchestrationContext& ctx) -> Task<std::string> {
             co_await ctx.call(ping);
             co_return joined(ctx.local<Book>().seen);
           })
      .signal(note, [](Book& book, int item) { book.seen.push_back(item); })
      .query(count, [](const Book& book) { return static_cast<int>(book.seen.size()); });
  both_ways(registry, [](ScriptedRun& run) {
    run.signal("note", "1");
    run.signal("note", "2");
    run.query("count");
    EXPECT_THAT(run.replies(), ElementsAre("answered q: 2"));
    run.complete("ping");
    EXPECT_EQ(run.output(), "\"1,2\"");
  });
}

TEST(HandlerScopes, AStateThatCannotBeMadeFailsTheRun) {
  struct Bad {
    Bad() { throw Failed("bad_state", "never"); }
  };
  Registry registry;
  registry
      .add(self,
           [](OrchestrationContext& ctx, Bad&) -> Task<std::string> {
             co_await ctx.call(ping);
             co_return "";
           })
      .signal(note, [](Bad&, int) {})
      .update(change, [](Bad&, int) { return 1; })
      .query(count, [](const Bad&) { return 1; });
  both_ways(registry, [](ScriptedRun& run) {
    run.turn({run.signal_message("note", "1"),
              run.update_message("change", "1"),
              run.query_message("count")});
    EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
    EXPECT_EQ(run.failure().type, "bad_state");
    EXPECT_THAT(run.replies(), ElementsAre("refused u: run_ended", "refused q: run_ended"));
  });
}

}  // namespace
}  // namespace perdure::test::handler_scopes_test
