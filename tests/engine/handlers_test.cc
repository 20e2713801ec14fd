#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Handlers of signals and updates: when they run, and whom they hurt.
namespace perdure::test::handlers_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

struct Book {
  std::vector<int> seen;
  bool closed = false;
};

inline constexpr Orchestration<std::string()> self{"demo"};
inline constexpr Signal<int> note{"note"};
inline constexpr Signal<int> buy{"buy"};
inline constexpr Signal<void> spoil{"spoil"};
inline constexpr Signal<void> finish{"finish"};
inline constexpr Update<int(int)> change{"change"};
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

Task<void> buy_it(OrchestrationContext& ctx, Book& book, int item) {
  book.seen.push_back(co_await ctx.call(twice, item));
}

Task<int> change_it(OrchestrationContext& ctx, Book& book, int item) {
  const int changed = co_await ctx.call(thrice, item);
  book.seen.push_back(changed);
  co_return changed;
}

template <class Main>
Registry book_with(Main main) {
  Registry registry;
  registry.add(self, main)
      .signal(note, [](Book& book, int item) { book.seen.push_back(item); })
      .signal(buy, buy_it)
      .signal(spoil, [](Book&) { throw std::runtime_error("spilled ink"); })
      .signal(finish, [](Book& book) { book.closed = true; })
      .update(change, change_it)
      .query(count, [](const Book& book) { return static_cast<int>(book.seen.size()); });
  return registry;
}

Registry book() {
  return book_with(wait_for_close);
}

TEST(Handlers, SignalsAreHandledInTheOrderOfArrival) {
  both_ways(book(), [](ScriptedRun& run) {
    run.start();
    run.turn({run.signal_message("note", "1"), run.signal_message("note", "2")});
    run.signal("note", "3");
    run.signal("finish");
    EXPECT_EQ(run.output(), "\"1,2,3\"");
    EXPECT_THAT(run.lines(),
                ElementsAre("started demo",
                            "main_began",
                            "signal_received note",
                            "signal_received note",
                            "signal_received note",
                            "signal_received finish",
                            "completed"));
    EXPECT_EQ(run.history()[3].payload, "2");
  });
}

TEST(Handlers, RunBeforeMainInTheFirstTurnToo) {
  const auto main = [](OrchestrationContext& ctx, Book& book) -> Task<std::string> {
    const int first = book.seen.empty() ? -1 : book.seen.front();
    co_await ctx.call(ping);
    co_return std::to_string(first);
  };
  both_ways(book_with(main), [](ScriptedRun& run) {
    run.advance(1h);
    run.turn({run.signal_message("buy", "5"), run.signal_message("note", "7")});
    EXPECT_THAT(run.lines(),
                ElementsAre("started demo",
                            "signal_received buy",
                            "activity_scheduled twice",
                            "signal_received note",
                            "main_began",
                            "activity_scheduled ping"));
    run.complete("twice", "10");
    run.complete("ping");
    EXPECT_EQ(run.output(), "\"7\"") << "main saw what the handlers of its first turn did";
  });
}

TEST(Handlers, TheTimeOfTheFirstTurnIsThatOfItsHandlersAndOfMain) {
  const auto main = [](OrchestrationContext& ctx, Book&) -> Task<std::string> {
    const TimePoint began = ctx.now();
    co_await ctx.call(ping);
    co_return std::to_string(began.time_since_epoch().count());
  };
  both_ways(book_with(main), [](ScriptedRun& run) {
    run.advance(3h);
    const std::string began = std::to_string(run.now().time_since_epoch().count());
    run.signal("note", "1");
    run.advance(1h);
    run.complete("ping");
    EXPECT_EQ(run.output(), "\"" + began + "\"");
  });
}

TEST(Handlers, SignalsAndUpdatesOfABatchComeBeforeAllElse) {
  const auto main = [](OrchestrationContext& ctx, Book& book) -> Task<std::string> {
    auto call = ctx.call(ping);
    auto timer = ctx.timer(1h);
    co_await call;
    const std::string seen = joined(book.seen);
    co_await timer;
    co_return seen;
  };
  both_ways(book_with(main), [](ScriptedRun& run) {
    run.start();
    const EventId call = run.open_call("ping");
    const EventId timer = run.open_timers().front();
    run.advance(1h);
    run.turn({run.completed(call),
              run.signal_message("note", "1"),
              run.fired(timer),
              run.update_message("change", "2"),
              run.signal_message("note", "3")});
    EXPECT_THAT(run.lines(4),
                ElementsAre("signal_received note",
                            "update_accepted change",
                            "activity_scheduled thrice",
                            "signal_received note",
                            "activity_completed of 3",
                            "timer_fired of 4"));
    run.complete("thrice", "6");
    EXPECT_EQ(run.output(), "\"1,3\"");
  });
}

/// All orders of a batch that keep the order of what is told (h), of answers (a), of queries (q).
std::vector<std::vector<Message>> mixtures(const std::vector<Message>& told,
                                           const std::vector<Message>& answers,
                                           const std::vector<Message>& queries) {
  std::string classes = std::string(answers.size(), 'a') + std::string(told.size(), 'h') +
                        std::string(queries.size(), 'q');
  std::vector<std::vector<Message>> all;
  do {
    auto next_told = told.begin();
    auto next_answer = answers.begin();
    auto next_query = queries.begin();
    std::vector<Message>& batch = all.emplace_back();
    for (const char each : classes) {
      batch.push_back(each == 'h' ? *next_told++ : each == 'a' ? *next_answer++ : *next_query++);
    }
  } while (std::next_permutation(classes.begin(), classes.end()));
  return all;
}

Task<std::string> ping_and_wait(OrchestrationContext& ctx, Book& book) {
  auto call = ctx.call(ping);
  auto timer = ctx.timer(1h);
  co_await when_all(call, timer);
  co_return joined(book.seen);
}

TEST(Handlers, HowABatchMixesMessagesAnswersAndQueriesDoesNotMatter) {
  const Registry registry = book_with(ping_and_wait);
  ScriptedRun model(registry, "demo");
  model.start();
  const auto orders =
      mixtures({model.signal_message("note", "1"), model.update_message("change")},
               {model.completed(model.open_call("ping")), model.fired(model.open_timers().front())},
               {model.query_message("count")});
  ASSERT_EQ(orders.size(), 30u);
  std::vector<HistoryEvent> first;
  for (const std::vector<Message>& batch : orders) {
    ScriptedRun run(registry, "demo");
    run.start();
    run.turn(batch);
    EXPECT_THAT(run.replies(), ElementsAre("refused u: bad_input", "answered q: 1"));
    EXPECT_EQ(run.output(), "\"1\"");
    if (first.empty()) first = run.history();
    EXPECT_EQ(run.history(), first);
    EXPECT_TRUE(run.replays());
  }
}

TEST(Handlers, WhatDoesNotDependOnTheOrderWithinAClassIsTheSame) {
  const Registry registry = book_with(ping_and_wait);
  std::vector<int> order{0, 1, 2};
  std::set<std::vector<std::string>> commands;
  do {
    ScriptedRun run(registry, "demo");
    run.start();
    const Message told[] = {run.signal_message("buy", "1"),
                            run.update_message("change", "2"),
                            run.signal_message("spoil")};
    const Message answers[] = {run.completed(run.open_call("ping")),
                               run.fired(run.open_timers().front())};
    std::vector<Message> batch;
    for (const int i : order) batch.push_back(told[i]);
    for (const int i : {0, 1}) batch.push_back(answers[order[0] == 0 ? i : 1 - i]);
    std::vector<std::string> made;
    for (const NewWork& work : run.turn(batch).work) made.push_back(work.name + work.input);
    EXPECT_THAT(run.replies(), ElementsAre("accepted u"));
    std::sort(made.begin(), made.end());
    commands.insert(made);
    EXPECT_TRUE(run.replays());
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_THAT(commands, ElementsAre(std::vector<std::string>{"thrice2", "twice1"}));
}

TEST(Handlers, MainGoesOnBehindAllOfABatch) {
  both_ways(book(), [](ScriptedRun& run) {
    run.start();
    run.turn({run.signal_message("finish"),
              run.signal_message("note", "1"),
              run.update_message("change", "2", "u"),
              run.signal_message("note", "3")});
    EXPECT_THAT(run.lines(2),
                ElementsAre("signal_received finish",
                            "signal_received note",
                            "update_accepted change",
                            "activity_scheduled thrice",
                            "signal_received note"));
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleting) << "main has returned behind them";
    run.complete("thrice", "6");
    EXPECT_EQ(run.output(), "\"1,3\"");
  });
}

/// What main finds when it goes on: the last word of each turn.
Task<std::string> watch_pages(OrchestrationContext& ctx, Book& book) {
  std::string found;
  while (!book.closed) {
    const std::size_t before = book.seen.size();
    co_await ctx.until([&] { return book.closed || book.seen.size() > before; });
    found += std::to_string(book.seen.size()) + " ";
  }
  co_return found;
}

TEST(Handlers, AReplayKnowsWhichOfThemWereOneBatch) {
  both_ways(book_with(watch_pages), [](ScriptedRun& run) {
    run.start();
    run.turn({run.signal_message("note", "1"), run.signal_message("note", "2")});
    run.signal("note", "3");
    run.turn({run.signal_message("note", "4"),
              run.signal_message("nobody", "0"),  // is kept, and tears nothing apart
              run.signal_message("note", "5"),
              run.signal_message("note", "6")});
    run.signal("note", "7");
    run.signal("finish");
    EXPECT_EQ(run.output(), "\"2 3 6 7 7 \"");
    std::vector<std::int64_t> numbers;
    for (const HistoryEvent& event : run.history()) {
      if (event.kind == EventKind::kSignalReceived) numbers.push_back(event.number);
    }
    EXPECT_THAT(numbers, ElementsAre(0, 2, 0, 0, 3, 2, 2, 0, 0));
  });
}

TEST(Handlers, OfOneBatchWakeEachOtherBeforeMainAndInAReplayToo) {
  const auto main = [](OrchestrationContext& ctx, Book& book) -> Task<std::string> {
    co_await ctx.until([&] { return !book.seen.empty(); });  // the first condition there is
    co_await ctx.call(ping);
    co_await ctx.until([&] { return book.closed; });
    co_return joined(book.seen);
  };
  Registry registry;
  registry.add(self, main)
      .signal(note, [](Book& book, int item) { book.seen.push_back(item); })
      .signal(finish, [](Book& book) { book.closed = true; })
      .signal(buy, [](OrchestrationContext& ctx, Book& book, int item) -> Task<void> {
        co_await ctx.until([&] { return !book.seen.empty(); });
        co_await ctx.call(twice, item);
      });
  both_ways(registry, [](ScriptedRun& run) {
    run.start();
    run.signal("buy", "1");
    run.turn({run.signal_message("note", "1"), run.signal_message("note", "2")});
    EXPECT_THAT(run.lines(3),
                ElementsAre("signal_received note",
                            "activity_scheduled twice",
                            "signal_received note",
                            "activity_scheduled ping"));
    run.signal("finish");
    run.complete("ping", "null");
    run.complete("twice", "2");
    EXPECT_EQ(run.output(), "\"1,2\"");
  });
}

TEST(Handlers, MessagesTogetherOrOneByOneGiveTheSameEvents) {
  const auto script = [](bool together) {
    ScriptedRun run(book(), "demo");
    run.start();
    const std::vector<Message> told = {run.signal_message("note", "1"),
                                       run.signal_message("buy", "2"),
                                       run.update_message("change", "3"),
                                       run.signal_message("note", "4"),
                                       run.update_message("change", "5", "late"),
                                       run.signal_message("finish")};
    if (together) {
      run.turn(told);
    } else {
      for (const Message& message : told) run.turn({message});
    }
    run.complete("twice", "4");
    run.complete("thrice", "9");
    EXPECT_TRUE(run.replays());
    return run.lines();
  };
  EXPECT_EQ(script(true), script(false));
}

TEST(Handlers, CallActivitiesTimersAndChildrenBesideMain) {
  Registry registry;
  registry.add(self, wait_for_close)
      .signal(finish, [](Book& book) { book.closed = true; })
      .update(change, [](OrchestrationContext& ctx, Book& book, int item) -> Task<int> {
        const int fetched = co_await ctx.call(twice, item);
        co_await ctx.timer(1h);
        const int helped = co_await ctx.call(helper, fetched);
        const int told = co_await ctx.wait_for(number);
        book.seen.push_back(helped + told);
        co_return helped;
      });
  both_ways(registry, [](ScriptedRun& run) {
    run.start();
    run.turn({run.update_message("change", "1", "a"), run.update_message("change", "2", "b")});
    EXPECT_THAT(run.replies(), ElementsAre("accepted a", "accepted b"));
    const auto calls = run.open_calls("twice");
    run.turn({run.completed(calls[1], "20"), run.completed(calls[0], "10")});
    run.fire();
    run.fire();
    std::vector<EventId> children;
    for (const auto& [event, child] : run.children()) children.push_back(EventId{event});
    ASSERT_EQ(children.size(), 2u);
    run.turn({run.child(children[0], MessageKind::kChildCompleted, "100")});
    run.turn({run.child(children[1], MessageKind::kChildCompleted, "200")});
    run.raise("number", "1");
    EXPECT_THAT(run.replies(), ElementsAre("answered b: 100")) << "the first that fetched";
    run.raise("number", "2");
    EXPECT_THAT(run.replies(), ElementsAre("answered a: 200"));
    EXPECT_EQ(run.status(), ExecutionStatus::kRunning);
    run.signal("finish");
    EXPECT_EQ(run.output(), "\"101,202\"");
  });
}

TEST(Handlers, ASignalHandlerThatFailsIsAWarningAndHurtsNobody) {
  both_ways(book(), [](ScriptedRun& run) {
    run.start();
    run.turn({run.signal_message("buy", "1"),
              run.signal_message("spoil"),
              run.signal_message("note", "2")});
    ASSERT_EQ(run.warnings().size(), 1u);
    EXPECT_THAT(run.warnings()[0], HasSubstr("signal 'spoil' failed"));
    EXPECT_THAT(run.warnings()[0], HasSubstr("spilled ink"));
    EXPECT_EQ(run.status(), ExecutionStatus::kRunning);
    run.complete("twice", "2");
    run.signal("finish");
    EXPECT_EQ(run.output(), "\"2,2\"");
    EXPECT_EQ(run.log().size(), 1u) << "said once, not again by replays";
  });
}

TEST(Handlers, ASignalHandlerMayFailAtAnAwaitOrInItsInput) {
  both_ways(book(), [](ScriptedRun& run) {
    run.start();
    run.signal("buy", "1");
    run.fail("twice", {"sold_out", "none left", false, {}});
    run.signal("note", "\"text\"");
    ASSERT_EQ(run.warnings().size(), 2u);
    EXPECT_THAT(run.warnings()[0], HasSubstr("sold_out"));
    EXPECT_THAT(run.warnings()[1], HasSubstr("bad_input"));
    EXPECT_THAT(run.warnings()[1], HasSubstr("the input of signal 'note'"));
    run.signal("finish");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
  });
}

}  // namespace
}  // namespace perdure::test::handlers_test
