#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Signals are kept until somebody takes them.
namespace perdure::test::kept_signals_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

struct Book {
  std::vector<int> seen;
  bool closed = false;
};

inline constexpr Orchestration<int(int)> self{"demo"};
inline constexpr Signal<int> note{"note"};
inline constexpr Signal<int> buy{"buy"};
inline constexpr Signal<void> finish{"finish"};
inline constexpr Update<int(int)> change{"change"};
inline constexpr Query<int()> count{"count"};

int number_of(const std::vector<int>& digits) {
  int value = 0;
  for (const int digit : digits) value = 10 * value + digit;
  return value;
}

/// Rounds of one execution each, until round 2; `finish` ends a round.
Task<int> rounds(OrchestrationContext& ctx, int round, Book& book) {
  co_await ctx.until([&] { return book.closed; });
  if (round < 2) co_await ctx.continue_as_new(self, round + 1);
  co_return number_of(book.seen);
}

Registry without_note() {
  Registry registry;
  registry.add(self, rounds).signal(finish, [](Book& book) { book.closed = true; });
  return registry;
}

Registry with_note() {
  Registry registry;
  registry.add(self, rounds)
      .signal(finish, [](Book& book) { book.closed = true; })
      .signal(note,
              [](Book& book, int item) {
                if (item < 0) throw Failed("negative", "no");
                book.seen.push_back(item);
              })
      .signal(buy,
              [](OrchestrationContext& ctx, Book& book, int item) -> Task<void> {
                book.seen.push_back(co_await ctx.call(twice, item));
              })
      .update(change, [](Book& book, int item) { return number_of(book.seen) + item; })
      .query(count, [](const Book& book) { return static_cast<int>(book.seen.size()); });
  return registry;
}

std::vector<std::string> carried_by(const ScriptedRun& run) {
  std::vector<std::string> carried;
  if (!run.next()) return carried;
  for (const HistoryEvent& event : run.next()->carried) {
    carried.push_back(std::string(to_string(event.kind)) + " " + event.name + " " + event.payload);
    EXPECT_EQ(event.number, 0);
    EXPECT_EQ(event.source, EventId{});
  }
  return carried;
}

TEST(KeptSignals, OneWithoutAHandlerIsRecordedAndAWarning) {
  both_ways(without_note(), "2", [](ScriptedRun& run) {
    run.start();
    run.signal("note", "1");
    EXPECT_EQ(run.lines().back(), "signal_received note");
    EXPECT_EQ(run.history().back().number, 1) << "kept";
    ASSERT_EQ(run.warnings().size(), 1u);
    EXPECT_THAT(run.warnings()[0], HasSubstr("'note' is kept: this code has no handler"));
    run.signal("finish");
    EXPECT_EQ(run.output(), "0");
  });
}

TEST(KeptSignals, CodeWithoutAnyHandlerKeepsThemToo) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_await ctx.call(ping);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.turn({run.signal_message("note", "1")});
              run.signal("note", "2");
              run.complete("ping");
              EXPECT_EQ(run.output(), "1");
              EXPECT_THAT(run.lines(),
                          ElementsAre("started demo",
                                      "signal_received note",
                                      "activity_scheduled ping",
                                      "signal_received note",
                                      "activity_completed of 3",
                                      "completed"));
            });
}

TEST(KeptSignals, AreTakenInOrderByTheFirstTurnOfCodeWithAHandler) {
  for (const bool kept_frames : {false, true}) {
    ScriptedRun run(without_note(), "demo", "2");
    run.keep_frames(kept_frames);
    run.turn({run.signal_message("note", "1")});
    run.signal("other", "0");
    run.signal("note", "2");
    run.deploy(with_note());
    run.turn({run.signal_message("note", "3"), run.query_message("count")});
    EXPECT_THAT(
        run.lines(5),
        ElementsAre(
            "signal_received note of 2", "signal_received note of 5", "signal_received note"));
    EXPECT_THAT(run.replies(), ElementsAre("answered q: 3"));
    EXPECT_TRUE(run.replays());
    run.signal("finish");
    EXPECT_EQ(run.output(), "123");
    EXPECT_TRUE(run.replays());
  }
}

TEST(KeptSignals, FollowTheRulesOfThoseThatAreTakenAtOnce) {
  for (const bool kept_first : {false, true}) {
    SCOPED_TRACE(kept_first);
    ScriptedRun run(kept_first ? without_note() : with_note(), "demo", "2");
    run.start();
    const std::vector<Message> told = {run.signal_message("note", "-1"),
                                       run.signal_message("note", "\"text\""),
                                       run.signal_message("buy", "2"),
                                       run.signal_message("note", "3")};
    run.turn(told);
    const std::size_t said_before = run.warnings().size();
    if (kept_first) {
      EXPECT_EQ(said_before, 4u);
      run.deploy(with_note());
      run.turn({});
      EXPECT_EQ(run.warnings().size(), 6u);
    } else {
      EXPECT_EQ(said_before, 2u);
    }
    EXPECT_THAT(run.warnings().back(), HasSubstr("bad_input"));
    EXPECT_EQ(run.status(), ExecutionStatus::kRunning);
    run.complete("twice", "4");
    run.signal("finish");
    EXPECT_EQ(run.output(), "34");
    EXPECT_TRUE(run.replays());
  }
}

TEST(KeptSignals, AreCarriedToTheNextExecutionAndTakenBeforeItsMain) {
  both_ways(without_note(), "1", [](ScriptedRun& run) {
    run.start();
    run.signal("note", "1");
    run.turn({run.signal_message("note", "2"),
              run.signal_message("finish"),
              run.signal_message("note", "3")});
    EXPECT_EQ(run.status(), ExecutionStatus::kContinuedAsNew);
    EXPECT_THAT(carried_by(run),
                ElementsAre(
                    "signal_received note 1", "signal_received note 2", "signal_received note 3"));
    for (const bool kept_frames : {false, true}) {
      ScriptedRun next(run, *run.next());
      next.keep_frames(kept_frames);
      next.deploy(with_note());
      next.advance(1h);
      next.turn({next.signal_message("note", "4")});
      EXPECT_THAT(next.lines(),
                  ElementsAre("started demo",
                              "signal_received note",
                              "signal_received note",
                              "signal_received note",
                              "signal_received note of 2",
                              "signal_received note of 3",
                              "signal_received note of 4",
                              "signal_received note",
                              "main_began"));
      next.signal("finish");
      EXPECT_EQ(next.output(), "1234");
      EXPECT_TRUE(next.replays());
    }
  });
}

TEST(KeptSignals, AreCarriedOnAndOnWhileNobodyTakesThem) {
  ScriptedRun first(without_note(), "demo", "0");
  first.turn({first.signal_message("note", "7"), first.signal_message("finish")});
  ASSERT_TRUE(first.next());
  ScriptedRun second(first, *first.next());
  second.start();
  EXPECT_TRUE(second.replays());
  second.signal("finish");
  EXPECT_THAT(carried_by(second), ElementsAre("signal_received note 7"));
  EXPECT_TRUE(second.replays());
  ScriptedRun third(second, *second.next());
  third.deploy(with_note());
  third.start();
  third.signal("finish");
  EXPECT_EQ(third.output(), "7");
}

TEST(KeptSignals, AreCarriedBesideUnreadEventsEachInTheirOrder) {
  both_ways(without_note(), "1", [](ScriptedRun& run) {
    run.start();
    run.turn({run.signal_message("note", "1"), run.raised("number", "1")});
    run.turn({run.signal_message("finish"),
              run.raised("number", "2"),
              run.signal_message("note", "2"),
              run.raised("number", "3")});
    EXPECT_THAT(carried_by(run),
                ElementsAre("event_received number 1",
                            "signal_received note 1",
                            "signal_received note 2",
                            "event_received number 2",
                            "event_received number 3"));
  });
}

TEST(KeptSignals, QueriesBehindAContinueAsNewAreLeftToTheNext) {
  both_ways(with_note(), "1", [](ScriptedRun& run) {
    run.start();
    std::vector<Message> batch = {run.query_message("count"),
                                  run.update_message("change", "1", "before"),
                                  run.signal_message("finish"),
                                  run.update_message("change", "2", "behind"),
                                  run.signal_message("note", "5")};
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch[i].id = MessageId{static_cast<std::int64_t>(i) + 10};
    }
    const auto& decisions = run.turn(batch);
    EXPECT_THAT(run.replies(), ElementsAre("answered before: 1", "answered behind: 2"));
    EXPECT_THAT(decisions.kept_messages, ElementsAre(MessageId{10}));
    EXPECT_THAT(carried_by(run), testing::IsEmpty());
    EXPECT_EQ(run.lines().back(), "continued_as_new");
  });
}

TEST(KeptSignals, AreAllTakenBeforeMainContinuesBecauseOfOne) {
  Registry deaf;
  deaf.add(self, rounds).query(count, [](const Book&) { return 0; });
  for (const bool kept_frames : {false, true}) {
    ScriptedRun run(deaf, "demo", "1");
    run.keep_frames(kept_frames);
    run.start();
    run.turn({run.signal_message("note", "1"),
              run.signal_message("finish"),
              run.signal_message("note", "2"),
              run.signal_message("finish")});
    run.deploy(with_note());
    run.turn({run.signal_message("note", "3")});
    EXPECT_THAT(
        run.lines(6),
        ElementsAre("signal_received note of 3",
                    "signal_received finish of 4",
                    "signal_received note of 5",
                    "signal_received finish of 6",
                    "signal_received note",
                    "continued_as_new"));
    EXPECT_THAT(carried_by(run), testing::IsEmpty());
    EXPECT_TRUE(run.replays());
  }
}

TEST(KeptSignals, AreGivenUpWithTheRun) {
  both_ways(without_note(), "2", [](ScriptedRun& run) {
    run.start();
    run.turn({run.signal_message("finish"), run.signal_message("note", "1")});
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
    EXPECT_EQ(run.lines().back(), "completed") << "nothing behind the end";
    EXPECT_FALSE(run.next());
  });
}

}  // namespace
}  // namespace perdure::test::kept_signals_test
