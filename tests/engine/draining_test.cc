#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Main has ended, handlers go on.
namespace perdure::test::draining_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// How main ends.
enum class End { kNone, kReturn, kThrow, kContinue };

struct Shop {
  End end = End::kNone;
  std::vector<int> seen;
};

inline constexpr Orchestration<int(int)> self{"demo"};
inline constexpr Signal<int> close{"close"};
inline constexpr Signal<int> note{"note"};
inline constexpr Signal<int> fetch_note{"fetch_note"};
inline constexpr Update<int(int)> order{"order"};
inline constexpr Query<int()> count{"count"};

Task<int> run_shop(OrchestrationContext& ctx, int round, Shop& shop) {
  co_await ctx.call(thrice, round).undo_with(undo_thrice);
  co_await ctx.until([&] { return shop.end != End::kNone; });
  if (shop.end == End::kThrow) throw Failed("closed", "for good");
  if (shop.end == End::kContinue) co_await ctx.continue_as_new(self, round + 1);
  co_return round;
}

Registry shop() {
  Registry registry;
  registry.add(self, run_shop)
      .signal(close, [](Shop& shop, int how) { shop.end = static_cast<End>(how); })
      .signal(note, [](Shop& shop, int item) { shop.seen.push_back(item); })
      .signal(fetch_note,
              [](OrchestrationContext& ctx, Shop& shop, int item) -> Task<void> {
                shop.seen.push_back(co_await ctx.call(twice, item));
              })
      .update(order,
              [](OrchestrationContext& ctx, Shop& shop, int item) -> Task<int> {
                shop.seen.push_back(item);
                const int ordered = co_await ctx.call(twice, item);
                co_await ctx.timer(1min);
                co_return ordered;
              })
      .query(count, [](const Shop& shop) { return static_cast<int>(shop.seen.size()); });
  return registry;
}

std::string closing(End how) {
  return std::to_string(static_cast<int>(how));
}

/// Event 3 is the call with an undo, event 6 the update, event 7 its call.
void start_with_order(ScriptedRun& run) {
  run.start();
  run.complete("thrice", "3");
  run.update("order", "1");
  ASSERT_EQ(run.open_call("twice"), EventId{7});
}

TEST(Draining, AnUpdateThatWaitsWhenMainReturnsIsAnsweredAndThenTheRunHasEnded) {
  both_ways(shop(), "0", [](ScriptedRun& run) {
    start_with_order(run);
    const auto& returned = run.signal("close", closing(End::kReturn));
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleting);
    EXPECT_EQ(returned.drain_at, run.now() + 60s);
    run.complete("twice", "2");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleting) << "over as many turns as it needs";
    EXPECT_FALSE(run.last().drain_at) << "said once";
    EXPECT_THAT(run.replies(), IsEmpty());
    run.query("count");
    EXPECT_THAT(run.replies(), ElementsAre("answered q: 1")) << "queries are answered meanwhile";
    run.fire();
    EXPECT_THAT(run.replies(), ElementsAre("answered u: 2"));
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
    EXPECT_EQ(run.output(), "0");
    EXPECT_THAT(run.lines(7),
                ElementsAre("signal_received close",
                            "activity_completed of 7",
                            "timer_created",
                            "timer_fired of 10",
                            "update_completed of 6",
                            "completed"));
  });
}

struct Ended {
  End how;
  ExecutionStatus meanwhile;
  ExecutionStatus at_last;
};
const Ended kEnds[] = {
    {End::kReturn, ExecutionStatus::kCompleting, ExecutionStatus::kCompleted},
    {End::kThrow, ExecutionStatus::kFailing, ExecutionStatus::kFailed},
    {End::kContinue, ExecutionStatus::kCompleting, ExecutionStatus::kContinuedAsNew},
    {End::kNone, ExecutionStatus::kCanceling, ExecutionStatus::kCanceled},
};

/// Main ends so, by a cancel for kNone.
void end_main(ScriptedRun& run, End how) {
  if (how == End::kNone) {
    run.cancel("stop");
  } else {
    run.signal("close", closing(how));
  }
}

/// Undos run behind the drain, and only of ends that undo.
void finish_undos(ScriptedRun& run, End how) {
  if (how != End::kThrow && how != End::kNone) return;
  EXPECT_EQ(run.lines().back(), "undo_scheduled undo_thrice of 3");
  run.complete("undo_thrice");
}

TEST(Draining, PrecedesEveryEndOfMain) {
  for (const Ended& row : kEnds) {
    SCOPED_TRACE(to_string(row.at_last));
    both_ways(shop(), "0", [&](ScriptedRun& run) {
      start_with_order(run);
      end_main(run, row.how);
      EXPECT_EQ(run.status(), row.meanwhile);
      EXPECT_TRUE(run.last().drain_at);
      EXPECT_EQ(run.open_calls("undo_thrice").size(), 0u) << "undos wait for the handlers";
      if (row.how != End::kContinue) {
        run.update("order", "2", "late");
        EXPECT_THAT(run.replies(), ElementsAre("refused late: run_ended"));
        EXPECT_TRUE(run.last().events.empty());
      }
      run.complete("twice", "2");
      run.fire();
      EXPECT_THAT(run.replies(), ElementsAre("answered u: 2"));
      finish_undos(run, row.how);
      EXPECT_EQ(run.status(), row.at_last);
      EXPECT_EQ(run.next().has_value(), row.how == End::kContinue);
    });
  }
}

TEST(Draining, EndsAtItsDeadlineWhateverTheEnd) {
  for (const Ended& row : kEnds) {
    SCOPED_TRACE(to_string(row.at_last));
    both_ways(shop(), "0", [&](ScriptedRun& run) {
      start_with_order(run);
      run.signal("fetch_note", "5");
      end_main(run, row.how);
      const std::int64_t before = run.history().back().id.value;
      run.advance(60s);
      const auto& decisions = run.turn({run.drain_deadline()});
      EXPECT_THAT(run.replies(), ElementsAre("cut u: run_ended"));
      EXPECT_THAT(decisions.replies[0].failure.message, HasSubstr("before the update was done"));
      EXPECT_THAT(decisions.canceled_work, ElementsAre(EventId{7}, EventId{9}))
          << "the rows of its handlers";
      const auto lines = run.lines(before);
      ASSERT_GE(lines.size(), 3u);
      EXPECT_EQ(lines[0], "drain_expired");
      EXPECT_EQ(lines[1], "activity_dropped of 7");
      EXPECT_EQ(lines[2], "activity_dropped of 9");
      EXPECT_EQ(run.warnings().size(), 1u) << "of the signal alone";
      finish_undos(run, row.how);
      EXPECT_EQ(run.status(), row.at_last);
    });
  }
}

TEST(Draining, ASignalHandlerThatIsCutIsAWarning) {
  both_ways(shop(), "0", [&](ScriptedRun& run) {
    start_with_order(run);
    run.signal("fetch_note", "5");
    end_main(run, End::kReturn);
    EXPECT_THAT(run.warnings(), IsEmpty());
    run.turn({run.drain_deadline()});
    EXPECT_THAT(run.warnings(),
                ElementsAre("the handler of signal 'fetch_note' was given up: "
                            "handler_drain_timeout has passed"));
  });
}

TEST(Draining, WaitsForSignalHandlersTooAndTheirFailureIsAWarning) {
  both_ways(shop(), "0", [](ScriptedRun& run) {
    run.start();
    run.complete("thrice", "3");
    run.turn({run.signal_message("fetch_note", "1"),
              run.signal_message("fetch_note", "2"),
              run.signal_message("close", closing(End::kReturn))});
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleting);
    run.fail("twice", {"sold_out", "none", false, {}});
    EXPECT_EQ(run.warnings().size(), 1u);
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleting);
    run.turn({run.completed(run.open_call("twice"), "4"), run.query_message("count")});
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
    EXPECT_THAT(run.replies(), ElementsAre("answered q: 1"));
  });
}

TEST(Draining, WithNothingToWaitForIsNoTurnOfItsOwn) {
  both_ways(shop(), "0", [](ScriptedRun& run) {
    run.start();
    run.complete("thrice", "3");
    run.turn({run.signal_message("note", "1"), run.signal_message("close", closing(End::kReturn))});
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
    EXPECT_FALSE(run.last().drain_at);
  });
}

TEST(Draining, ADeadlineThatComesTooEarlyOrTooLateSaysNothing) {
  both_ways(shop(), "0", [](ScriptedRun& run) {
    start_with_order(run);
    EXPECT_TRUE(run.turn({run.drain_deadline()}).events.empty()) << "main is there";
    run.signal("close", closing(End::kThrow));
    Message foreign = run.drain_deadline();
    foreign.execution = ExecutionNo{7};
    EXPECT_TRUE(run.turn({foreign}).events.empty()) << "of another execution";
    run.complete("twice", "2");
    run.fire();
    EXPECT_EQ(run.status(), ExecutionStatus::kFailing);
    EXPECT_TRUE(run.turn({run.drain_deadline()}).events.empty()) << "undos are not cut";
    run.complete("undo_thrice");
    EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
  });
}

TEST(Draining, ALateAnswerBehindTheDeadlineIsConsumedWithoutATrace) {
  both_ways(shop(), "0", [](ScriptedRun& run) {
    start_with_order(run);
    run.signal("close", closing(End::kThrow));
    run.turn({run.drain_deadline()});
    EXPECT_TRUE(run.turn({run.completed(EventId{7}, "2")}).events.empty());
    run.complete("undo_thrice");
    EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
    EXPECT_EQ(run.failure().type, "closed");
  });
}

TEST(Draining, CallsOfHandlersAreUndoneWithThoseOfMainNewestFirst) {
  Registry registry;
  registry.add(self, run_shop)
      .signal(close, [](Shop& shop, int how) { shop.end = static_cast<End>(how); })
      .update(order, [](OrchestrationContext& ctx, Shop&, int item) -> Task<int> {
        const int paid = co_await ctx.call(twice, item).undo_with(undo_twice);
        co_await ctx.call(ping);
        co_return paid;
      });
  both_ways(registry, "0", [](ScriptedRun& run) {
    start_with_order(run);
    run.complete("twice", "2");
    run.signal("close", closing(End::kThrow));
    EXPECT_EQ(run.open_calls("undo_twice").size(), 0u);
    run.complete("ping");
    EXPECT_THAT(run.replies(), ElementsAre("answered u: 2"));
    EXPECT_EQ(run.lines().back(), "undo_scheduled undo_twice of 7");
    run.complete("undo_twice");
    run.complete("undo_thrice");
    EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
  });
}

TEST(Draining, ACallWithAnUndoThatTheDeadlineCutsIsStillUndone) {
  Registry registry;
  registry.add(self, run_shop)
      .signal(close, [](Shop& shop, int how) { shop.end = static_cast<End>(how); })
      .update(order, [](OrchestrationContext& ctx, Shop&, int item) -> Task<int> {
        co_return co_await ctx.call(twice, item).undo_with(undo_twice);
      });
  both_ways(registry, "0", [](ScriptedRun& run) {
    start_with_order(run);
    run.signal("close", closing(End::kThrow));
    const auto& decisions = run.turn({run.drain_deadline()});
    EXPECT_THAT(decisions.canceled_work, ElementsAre(EventId{7})) << "told to stop";
    EXPECT_EQ(run.status(), ExecutionStatus::kFailing) << "how it ended decides";
    run.complete("twice", "2");
    EXPECT_EQ(run.lines().back(), "undo_scheduled undo_twice of 7");
    run.complete("undo_twice");
    run.complete("undo_thrice");
    EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
  });
}

TEST(Draining, SignalsThatComeMeanwhileAreKeptForTheNextExecution) {
  both_ways(shop(), "0", [](ScriptedRun& run) {
    start_with_order(run);
    run.signal("close", closing(End::kContinue));
    run.signal("note", "1");
    run.signal("fetch_note", "2");
    EXPECT_EQ(run.history().back().number, 1) << "kept";
    ASSERT_EQ(run.warnings().size(), 2u);
    EXPECT_THAT(run.warnings()[0], HasSubstr("the run is about to end"));
    run.raise("number", "3");
    run.complete("twice", "2");
    run.fire();
    ASSERT_TRUE(run.next());
    ScriptedRun next(run, *run.next());
    next.start();
    EXPECT_THAT(next.lines(),
                ElementsAre("started demo",
                            "event_received number",
                            "signal_received note",
                            "signal_received fetch_note",
                            "signal_received note of 3",
                            "signal_received fetch_note of 4",
                            "activity_scheduled twice",
                            "main_began",
                            "activity_scheduled thrice",
                            "undo_owed undo_thrice of 9"));
    EXPECT_TRUE(next.replays());
  });
}

}  // namespace
}  // namespace perdure::test::draining_test
