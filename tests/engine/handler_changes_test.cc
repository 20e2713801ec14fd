#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Handlers that come, go and change under running instances.
namespace perdure::test::handler_changes_test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct Book {
  std::vector<int> seen;
};

inline constexpr Orchestration<int()> self{"demo"};
inline constexpr Signal<int> note{"note"};
inline constexpr Signal<int> jot{"jot"};
inline constexpr Update<int(int)> change{"change"};
inline constexpr Update<int(int)> edit{"edit"};
inline constexpr Query<int()> count{"count"};

void take(Book& book, int item) {
  book.seen.push_back(item);
}

int take_and_count(Book& book, int item) {
  book.seen.push_back(item);
  return static_cast<int>(book.seen.size());
}

Task<int> ping_twice(OrchestrationContext& ctx, Book& book) {
  co_await ctx.call(ping);
  co_await ctx.call(ping);
  co_return static_cast<int>(book.seen.size());
}

Registry bare() {
  Registry registry;
  registry.add(self, ping_twice);
  return registry;
}

Registry with_handlers() {
  Registry registry;
  registry.add(self, ping_twice)
      .signal(note, take)
      .update(change, take_and_count)
      .query(count, [](const Book& book) { return static_cast<int>(book.seen.size()); });
  return registry;
}

Registry renamed() {
  Registry registry;
  registry.add(self, ping_twice).signal(jot, take).update(edit, take_and_count);
  return registry;
}

TEST(HandlerChanges, ARunOfCodeWithoutHandlersGoesOnUnderCodeWithThem) {
  for (const bool first_answered : {false, true}) {
    ScriptedRun run(bare(), "demo");
    run.start();
    if (first_answered) run.complete("ping");
    run.deploy(with_handlers());
    EXPECT_TRUE(run.replays());
    run.signal("note", "1");
    run.update("change", "2");
    EXPECT_THAT(run.replies(), ElementsAre("answered u: 2"));
    if (!first_answered) run.complete("ping");
    run.complete("ping");
    EXPECT_EQ(run.output(), "2");
    EXPECT_THAT(run.lines(), Not(Contains("main_began"))) << "main had begun before";
    EXPECT_TRUE(run.replays());
  }
}

TEST(HandlerChanges, ARunThatHadNothingToRecordBeforeStillBeganBeforeItsMessages) {
  const auto main = [](OrchestrationContext& ctx, Book& book) -> Task<int> {
    book.seen.push_back(0);
    co_await ctx.until([&] { return book.seen.size() == 2; });
    if (book.seen.front() == 0) co_return co_await ctx.call(twice, 1);
    co_return co_await ctx.call(thrice, 1);
  };
  Registry before;
  before.add(self, main);
  Registry after;
  after.add(self, main).signal(note, take);
  ScriptedRun run(before, "demo");
  run.start();
  run.deploy(after);
  run.advance(1h);
  run.signal("note", "1");
  EXPECT_EQ(run.lines().back(), "activity_scheduled twice");
  EXPECT_TRUE(run.replays()) << "main began before the signal came";
}

TEST(HandlerChanges, ARunThatNobodyToldAnythingGoesOnUnderCodeWithoutHandlers) {
  ScriptedRun run(with_handlers(), "demo");
  run.start();
  EXPECT_THAT(run.lines(), Contains("main_began"));
  run.complete("ping");
  run.deploy(bare());
  EXPECT_TRUE(run.replays());
  run.complete("ping");
  EXPECT_EQ(run.output(), "0");
}

TEST(HandlerChanges, AHandlerThatWasAddedBesideOthersIsThereAtOnce) {
  ScriptedRun run(renamed(), "demo");
  run.start();
  Registry both;
  both.add(self, ping_twice).signal(note, take).signal(jot, take).update(edit, take_and_count);
  run.deploy(both);
  run.signal("note", "1");
  run.complete("ping");
  run.complete("ping");
  EXPECT_EQ(run.output(), "1");
}

TEST(HandlerChanges, AHandlerThatIsGoneBlocksRunsWhoseHistoryHasItsMessages) {
  for (const Registry& without : {bare(), renamed()}) {
    {
      ScriptedRun run(with_handlers(), "demo");
      run.start();
      run.signal("note", "1");
      run.deploy(without);
      const auto result = run.try_turn({run.completed(run.open_call("ping"))});
      ASSERT_TRUE(result.mismatch);
      EXPECT_EQ(result.mismatch->position, EventId{4});
      EXPECT_THAT(result.mismatch->expected, HasSubstr("note"));
      EXPECT_EQ(result.mismatch->actual, "no handler for it");
    }
    ScriptedRun run(with_handlers(), "demo");
    run.update("change", "1");
    run.deploy(without);
    const auto result = run.try_turn({});
    ASSERT_TRUE(result.mismatch) << "one that came before main, too";
    EXPECT_EQ(result.mismatch->position, EventId{2});
    EXPECT_THAT(result.mismatch->expected, HasSubstr("change"));
    run.deploy(with_handlers());
    EXPECT_TRUE(run.replays()) << "nothing was lost";
  }
}

/// The handler of `change` before and after a deploy, and where they part in a history with its
/// first turn.
struct Change {
  const char* what;
  Registry before;
  Registry after;
  std::int64_t position;
  const char* expected;
  const char* actual;
};

template <class Handler>
Registry changing_by(Handler handler) {
  Registry registry;
  registry.add(self, ping_twice).update(change, handler);
  return registry;
}

Task<int> base(OrchestrationContext& ctx, Book&, int item) {
  auto called = ctx.call(twice, item);
  auto limit = ctx.timer(1h);
  co_await ctx.wait_for(number);
  co_return co_await called;
}

Task<int> with_a_further_call(OrchestrationContext& ctx, Book&, int item) {
  auto called = ctx.call(twice, item);
  auto added = ctx.call(thrice, item);
  auto limit = ctx.timer(1h);
  co_await ctx.wait_for(number);
  co_return co_await called;
}

Task<int> without_the_timer(OrchestrationContext& ctx, Book&, int item) {
  auto called = ctx.call(twice, item);
  co_await ctx.wait_for(number);
  co_return co_await called;
}

Task<int> reordered(OrchestrationContext& ctx, Book&, int item) {
  auto limit = ctx.timer(1h);
  auto called = ctx.call(twice, item);
  co_await ctx.wait_for(number);
  co_return co_await called;
}

Task<int> with_another_call(OrchestrationContext& ctx, Book&, int item) {
  auto called = ctx.call(thrice, item);
  auto limit = ctx.timer(1h);
  co_await ctx.wait_for(number);
  co_return co_await called;
}

Task<int> with_a_call_for_the_timer(OrchestrationContext& ctx, Book&, int item) {
  auto called = ctx.call(twice, item);
  auto limit = ctx.call(ping);
  co_await ctx.wait_for(number);
  co_return co_await called;
}

Task<int> returning_early(OrchestrationContext& ctx, Book&, int item) {
  ctx.call(twice, item).detach();
  co_return item;
}

int give_up(Book&, int) {
  throw Failed("full", "the book is full", false);
}

constexpr const char* kTwice = "a call of activity 'twice'";
constexpr const char* kCompleted = "'update_completed'";

/// Event 4 is the update.
std::vector<Change> changes() {
  const Registry durable = changing_by(base);
  const Registry plain = changing_by(take_and_count);
  const Registry failing = changing_by(give_up);
  return {
      {"added step",
       durable,
       changing_by(with_a_further_call),
       6,
       "a timer",
       "a call of activity 'thrice'"},
      {"removed step",
       durable,
       changing_by(without_the_timer),
       6,
       "a timer",
       "a wait for event 'number'"},
      {"reordered steps", durable, changing_by(reordered), 5, kTwice, "a timer"},
      {"renamed activity", durable, changing_by(with_another_call), 5, "'twice'", "'thrice'"},
      {"timer became a call",
       durable,
       changing_by(with_a_call_for_the_timer),
       6,
       "a timer",
       "a call of activity 'ping'"},
      {"early return",
       durable,
       changing_by(returning_early),
       6,
       "a timer",
       "the drop of event 5"},
      {"durable became plain", durable, plain, 5, kTwice, kCompleted},
      {"plain became durable", plain, durable, 5, kCompleted, kTwice},
      {"completed became failed", plain, failing, 5, kCompleted, "'update_failed'"},
      {"failed became completed", failing, plain, 5, "'update_failed'", kCompleted},
  };
}

TEST(HandlerChanges, EveryOtherDecisionOfAHandlerIsBlockedUntilTheOldCodeIsBack) {
  for (const Change& each : changes()) {
    SCOPED_TRACE(each.what);
    ScriptedRun run(each.before, "demo");
    run.start();
    run.update("change", "1");
    const auto history = run.history();
    run.deploy(each.after);
    const auto result = run.try_turn({run.completed(run.open_call("ping"))});
    ASSERT_TRUE(result.mismatch);
    EXPECT_EQ(result.mismatch->position, EventId{each.position});
    EXPECT_THAT(result.mismatch->expected, HasSubstr(each.expected));
    EXPECT_THAT(result.mismatch->actual, HasSubstr(each.actual));
    EXPECT_THAT(result.mismatch->hint, HasSubstr("patched(id)"));
    EXPECT_TRUE(result.decisions.events.empty()) << "no command after a mismatch";
    EXPECT_TRUE(result.decisions.work.empty() && result.decisions.timers.empty());
    EXPECT_TRUE(result.decisions.replies.empty());
    EXPECT_EQ(run.history(), history);
    run.deploy(each.before);
    run.complete("ping");
    EXPECT_EQ(run.status(), ExecutionStatus::kRunning);
    EXPECT_TRUE(run.replays());
  }
}

TEST(HandlerChanges, AConditionBeforeMainsFirstCommandIsNoMismatch) {
  Registry after;
  after
      .add(self,
           [](OrchestrationContext& ctx, Book& book) -> Task<int> {
             co_await ctx.until([] { return true; });
             co_await ctx.call(ping);
             co_await ctx.call(ping);
             co_return static_cast<int>(book.seen.size());
           })
      .update(change, take_and_count);
  ScriptedRun run(changing_by(take_and_count), "demo");
  run.update("change", "1");
  run.deploy(after);
  EXPECT_TRUE(run.replays()) << "conditions are not recorded";
  run.update("change", "2");
  run.complete("ping");
  run.complete("ping");
  EXPECT_EQ(run.output(), "2");
  EXPECT_TRUE(run.replays());
}

TEST(HandlerChanges, AnUpdateThatAnswersOtherwiseThanItDidIsAWarning) {
  ScriptedRun run(with_handlers(), "demo");
  run.start();
  run.update("change", "1");
  Registry changed;
  changed.add(self, ping_twice).update(change, [](Book& book, int item) {
    book.seen.push_back(item);
    return -1;
  });
  run.deploy(changed);
  const auto result = run.try_turn({run.completed(run.open_call("ping"))});
  EXPECT_FALSE(result.mismatch);
  ASSERT_EQ(result.warnings.size(), 1u) << "it answered so, and its caller has it";
  run.set_arguments(replay::ArgumentCheck::kStrict);
  EXPECT_TRUE(run.try_turn({}).mismatch);
}

// --- patches

Registry patching() {
  Registry registry;
  registry
      .add(self,
           [](OrchestrationContext& ctx, Book& book) -> Task<int> {
             co_await ctx.call(ping);
             const bool changed = ctx.patched("p");
             co_await ctx.call(ping);
             book.seen.push_back(changed ? 1 : 0);
             co_return book.seen.front() == book.seen.back() ? book.seen.front() : -1;
           })
      .signal(note, [](OrchestrationContext& ctx, Book& book, int) -> Task<void> {
        book.seen.push_back(ctx.patched("p") ? 1 : 0);
        co_return;
      });
  return registry;
}

std::int64_t marks_in(const std::vector<std::string>& lines) {
  return std::count(lines.begin(), lines.end(), "patch_marked p");
}

TEST(HandlerPatches, ASignalAPatchAndTheStartInOneTurnAgree) {
  both_ways(patching(), [](ScriptedRun& run) {
    run.signal("note", "1");
    EXPECT_THAT(run.lines(),
                ElementsAre("started demo",
                            "signal_received note",
                            "patch_marked p",
                            "main_began",
                            "activity_scheduled ping"));
    run.complete("ping");
    run.complete("ping");
    EXPECT_EQ(run.output(), "1");
    EXPECT_EQ(marks_in(run.lines()), 1);
  });
}

TEST(HandlerPatches, MainAndHandlersGetTheSameAnswerWhicheverAsksFirst) {
  for (const int signal_at : {0, 1, 2}) {
    SCOPED_TRACE(signal_at);
    both_ways(patching(), [&](ScriptedRun& run) {
      run.start();
      for (int i = 0; i < 2; ++i) {
        if (i == signal_at) run.signal("note", "1");
        if (i == 1 && signal_at == 2) {
          run.turn({run.completed(run.open_call("ping")), run.signal_message("note", "1")});
        } else {
          run.complete("ping");
        }
      }
      EXPECT_EQ(run.output(), "1");
      EXPECT_EQ(marks_in(run.lines()), 1);
    });
  }
}

TEST(HandlerPatches, ARunThatPassedBeforeKeepsTheOldPathInItsHandlersToo) {
  ScriptedRun run(bare(), "demo");
  run.start();
  run.complete("ping");
  run.deploy(patching());
  run.signal("note", "1");
  run.complete("ping");
  EXPECT_EQ(run.output(), "0");
  EXPECT_EQ(marks_in(run.lines()), 0);
  EXPECT_TRUE(run.replays());
}

TEST(HandlerPatches, AHandlerThatAsksBeforeMainComesThereDecidesForBoth) {
  ScriptedRun run(bare(), "demo");
  run.start();
  run.deploy(patching());
  run.signal("note", "1");
  run.complete("ping");
  run.complete("ping");
  EXPECT_EQ(run.output(), "1");
  EXPECT_EQ(marks_in(run.lines()), 1);
  EXPECT_TRUE(run.replays());
}

// --- registration

template <class Register>
std::string refusal(Register registering) {
  Registry registry;
  try {
    registering(registry);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(HandlerRegistration, ANameIsDeclaredOnceForEachKind) {
  EXPECT_EQ(refusal([](Registry& registry) {
              registry.add(self, ping_twice).signal(note, take).signal(note, take);
            }),
            "signal 'note' of orchestration 'demo' is registered already");
  EXPECT_THAT(refusal([](Registry& registry) {
                registry.add(self, ping_twice)
                    .update(change, take_and_count)
                    .update(change, take_and_count);
              }),
              HasSubstr("update 'change'"));
  EXPECT_THAT(refusal([](Registry& registry) {
                const auto one = [](const Book&) { return 1; };
                registry.add(self, ping_twice).query(count, one).query(count, one);
              }),
              HasSubstr("query 'count'"));
  EXPECT_THAT(refusal([](Registry& registry) {
                registry.add(self, ping_twice).signal(Signal<int>(""), take);
              }),
              HasSubstr("signal name"));
}

TEST(HandlerRegistration, KindsAndVersionsDoNotShareNames) {
  EXPECT_EQ(refusal([](Registry& registry) {
              registry.add(self, ping_twice, "1")
                  .signal(Signal<int>("same"), take)
                  .update(Update<int(int)>("same"), take_and_count)
                  .query(Query<int()>("same"), [](const Book&) { return 1; })
                  .add(self, ping_twice, "2")
                  .signal(Signal<int>("same"), take);
            }),
            "(accepted)");
}

}  // namespace
}  // namespace perdure::test::handler_changes_test
