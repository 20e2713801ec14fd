#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Code that decides otherwise than history says: blocked, never failed, and told apart.
namespace perdure::test::nondeterminism_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

using Main = Task<int> (*)(OrchestrationContext&);

/// Code before and after a deploy, and where they part in the history of the first turn and one
/// answer.
struct Change {
  const char* what;
  Main before;
  Main after;
  std::int64_t position;
  const char* expected;
  const char* actual;
};

Task<int> base(OrchestrationContext& ctx) {
  auto a = ctx.call(twice, 1);
  auto t = ctx.timer(1h);
  co_await ctx.wait_for(number);
  auto child = ctx.call(helper, 1, {.id = "kid"});
  co_await ctx.wait_for(number);
  co_return co_await a + co_await child;
}

Task<int> with_drop(OrchestrationContext& ctx) {
  { auto a = ctx.call(twice, 1); }
  co_await ctx.wait_for(number);
  co_await ctx.wait_for(number);
  co_return 1;
}

Task<int> with_values(OrchestrationContext& ctx) {
  ctx.uuid();
  ctx.patched("one");
  ctx.set_status(1);
  co_await ctx.wait_for(number);
  ctx.side_effect([] { return 1; });
  co_await ctx.wait_for(number);
  co_return 1;
}

Task<int> with_scope(OrchestrationContext& ctx) {
  auto first = ctx.scope();
  auto second = ctx.scope();
  first.cancel();
  co_await ctx.call(twice, 1).undo_with(undo_twice);
  co_await ctx.wait_for(number);
  co_return 1;
}

constexpr Orchestration<int(int)> renamed{"renamed"};

Task<int> with_children(OrchestrationContext& ctx) {
  auto limited = ctx.call(helper, 1, {.id = "kid", .timeout = 1h});
  auto child = ctx.call(helper, 1, {.id = "sibling"});
  auto t = ctx.timer(1h);
  ctx.start_detached(helper, "free", 1);
  co_await ctx.wait_for(number);
  co_await ctx.wait_for(number);
  co_return co_await limited + co_await child;
}

const Change kChanges[] = {
    {"added command",
     &base,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto a = ctx.call(twice, 1);
       auto added = ctx.call(thrice, 1);
       auto t = ctx.timer(1h);
       co_await ctx.wait_for(number);
       co_return 1;
     },
     3,
     "a timer",
     "a call of activity 'thrice'"},
    {"removed command",
     &base,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto a = ctx.call(twice, 1);
       co_await ctx.wait_for(number);
       co_return 1;
     },
     3,
     "a timer",
     "a wait for event 'number'"},
    {"removed last command of a turn",
     &base,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto a = ctx.call(twice, 1);
       auto t = ctx.timer(1h);
       co_return co_await a;
     },
     4,
     "a wait for event 'number'",
     "no further command"},
    {"reordered commands",
     &base,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto t = ctx.timer(1h);
       auto a = ctx.call(twice, 1);
       co_await ctx.wait_for(number);
       co_return 1;
     },
     2,
     "a call of activity 'twice'",
     "a timer"},
    {"renamed activity",
     &base,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto a = ctx.call(thrice, 1);
       auto t = ctx.timer(1h);
       co_await ctx.wait_for(number);
       co_return 1;
     },
     2,
     "'twice'",
     "'thrice'"},
    {"renamed event",
     &base,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto a = ctx.call(twice, 1);
       auto t = ctx.timer(1h);
       co_await ctx.wait_for(other);
       co_return 1;
     },
     4,
     "a wait for event 'number'",
     "a wait for event 'other'"},
    {"timer became an activity",
     &base,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto a = ctx.call(twice, 1);
       auto t = ctx.call(ping);
       co_await ctx.wait_for(number);
       co_return 1;
     },
     3,
     "a timer",
     "a call of activity 'ping'"},
    {"activity became a child",
     &base,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto a = ctx.call(helper, 1);
       auto t = ctx.timer(1h);
       co_await ctx.wait_for(number);
       co_return 1;
     },
     2,
     "a call of activity 'twice'",
     "a call of orchestration 'helper'"},
    {"child became a detached start",
     &base,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto a = ctx.call(twice, 1);
       auto t = ctx.timer(1h);
       co_await ctx.wait_for(number);
       ctx.start_detached(helper, "kid", 1);
       co_await ctx.wait_for(number);
       co_return 1;
     },
     6,
     "a call of orchestration 'helper'",
     "a detached start of 'helper'"},
    {"changed child id",
     &base,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto a = ctx.call(twice, 1);
       auto t = ctx.timer(1h);
       co_await ctx.wait_for(number);
       auto child = ctx.call(helper, 1, {.id = "other kid"});
       co_await ctx.wait_for(number);
       co_return 1;
     },
     6,
     "with id 'kid'",
     "with id 'other kid'"},
    {"a time limit added to a child",
     &base,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto a = ctx.call(twice, 1);
       auto t = ctx.timer(1h);
       co_await ctx.wait_for(number);
       auto child = ctx.call(helper, 1, {.id = "kid", .timeout = 1h});
       co_await ctx.wait_for(number);
       co_return 1;
     },
     7,
     "a wait for event 'number'",
     "the time limit of event 6"},
    {"a child's time limit became a timer",
     &with_children,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto limited = ctx.call(helper, 1, {.id = "kid"});
       auto t = ctx.timer(1h);
       co_await ctx.wait_for(number);
       co_return 1;
     },
     3,
     "the time limit of event 2",
     "a timer"},
    {"timer became a child's time limit",
     &with_children,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto limited = ctx.call(helper, 1, {.id = "kid", .timeout = 1h});
       auto child = ctx.call(helper, 1, {.id = "sibling", .timeout = 1h});
       co_await ctx.wait_for(number);
       co_return 1;
     },
     5,
     "a timer",
     "the time limit of event 4"},
    {"renamed child",
     &with_children,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto limited = ctx.call(renamed, 1, {.id = "kid", .timeout = 1h});
       co_await ctx.wait_for(number);
       co_return 1;
     },
     2,
     "a call of orchestration 'helper' with id 'kid'",
     "a call of orchestration 'renamed' with id 'kid'"},
    {"renamed detached start",
     &with_children,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto limited = ctx.call(helper, 1, {.id = "kid", .timeout = 1h});
       auto child = ctx.call(helper, 1, {.id = "sibling"});
       auto t = ctx.timer(1h);
       ctx.start_detached(renamed, "free", 1);
       co_await ctx.wait_for(number);
       co_return 1;
     },
     6,
     "a detached start of 'helper' with id 'free'",
     "a detached start of 'renamed' with id 'free'"},
    {"early return with history left over",
     &base,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto a = ctx.call(twice, 1);
       auto t = ctx.timer(1h);
       co_await ctx.wait_for(number);
       co_return 1;
     },
     6,
     "a call of orchestration 'helper'",
     "the drop of event 2"},
    {"early failure with history left over",
     &base,
     [](OrchestrationContext& ctx) -> Task<int> {
       ctx.call(twice, 1).detach();
       ctx.timer(1h).detach();
       co_await ctx.wait_for(number);
       throw Failed("new", "check");
     },
     6,
     "a call of orchestration 'helper'",
     "the end 'failed'"},
    {"early continue-as-new with history left over",
     &base,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto a = ctx.call(twice, 1);
       auto t = ctx.timer(1h);
       co_await ctx.wait_for(number);
       co_await ctx.continue_as_new(Orchestration<int()>("demo"));
       co_return 1;
     },
     6,
     "a call of orchestration 'helper'",
     "the end 'continued_as_new'"},
    {"removed drop",
     &with_drop,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto a = ctx.call(twice, 1);
       co_await ctx.wait_for(number);
       co_await ctx.wait_for(number);
       co_return 1;
     },
     4,
     "the drop of event 2",
     "no further command"},
    {"added drop",
     &base,
     [](OrchestrationContext& ctx) -> Task<int> {
       { auto a = ctx.call(twice, 1); }
       auto t = ctx.timer(1h);
       co_await ctx.wait_for(number);
       co_return 1;
     },
     5,
     "'event_received'",
     "the drop of event 2"},
    {"side effect removed",
     &with_values,
     [](OrchestrationContext& ctx) -> Task<int> {
       ctx.patched("one");
       ctx.uuid();
       ctx.set_status(1);
       co_await ctx.wait_for(number);
       co_return 1;
     },
     3,
     "patch 'one'",
     "a custom status"},
    {"side effect added",
     &with_drop,
     [](OrchestrationContext& ctx) -> Task<int> {
       { auto a = ctx.call(twice, 1); }
       ctx.side_effect([] { return 1; });
       co_await ctx.wait_for(number);
       co_return 1;
     },
     3,
     "a wait for event 'number'",
     "a recorded side_effect"},
    {"another recorded value",
     &with_values,
     [](OrchestrationContext& ctx) -> Task<int> {
       ctx.random();
       ctx.patched("one");
       ctx.set_status(1);
       co_await ctx.wait_for(number);
       co_return 1;
     },
     2,
     "a recorded uuid",
     "a recorded random"},
    {"changed patch",
     &with_values,
     [](OrchestrationContext& ctx) -> Task<int> {
       ctx.uuid();
       ctx.patched("two");
       ctx.set_status(1);
       co_await ctx.wait_for(number);
       co_return 1;
     },
     3,
     "patch 'one'",
     "a custom status"},
    {"another scope canceled",
     &with_scope,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto first = ctx.scope();
       auto second = ctx.scope();
       second.cancel();
       co_await ctx.call(twice, 1).undo_with(undo_twice);
       co_return 1;
     },
     2,
     "the cancel of scope 1",
     "the cancel of scope 2"},
    {"another undo",
     &with_scope,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto first = ctx.scope();
       auto second = ctx.scope();
       first.cancel();
       co_await ctx.call(twice, 1).undo_with(undo_thrice);
       co_return 1;
     },
     4,
     "undo_with 'undo_twice' for event 3",
     "undo_with 'undo_thrice' for event 3"},
    {"undo removed",
     &with_scope,
     [](OrchestrationContext& ctx) -> Task<int> {
       auto first = ctx.scope();
       auto second = ctx.scope();
       first.cancel();
       co_await ctx.call(twice, 1);
       co_return 1;
     },
     4,
     "undo_with 'undo_twice'",
     "no further command"},
};

void for_each_change(const std::function<void(const Change&, ScriptedRun&)>& check) {
  for (const Change& change : kChanges) {
    SCOPED_TRACE(change.what);
    ScriptedRun run(demo(change.before), "demo");
    run.start();
    if (change.before == &with_scope) {
      run.complete("twice", "2");
    } else {
      run.raise("number", "1");
    }
    check(change, run);
  }
}

TEST(Nondeterminism, EveryChangeIsBlockedWithExpectedActualPositionAndHint) {
  for_each_change([](const Change& change, ScriptedRun& run) {
    const auto history = run.history();
    run.deploy(demo(change.after));
    const auto result = run.try_turn({run.raised("number", "2")});
    ASSERT_TRUE(result.mismatch);
    EXPECT_EQ(result.mismatch->position, EventId{change.position});
    EXPECT_THAT(result.mismatch->expected, HasSubstr(change.expected));
    EXPECT_THAT(result.mismatch->actual, HasSubstr(change.actual));
    EXPECT_THAT(result.mismatch->hint, HasSubstr("patched(id)"));
    EXPECT_THAT(to_string(*result.mismatch),
                HasSubstr("at event " + std::to_string(change.position)));
    EXPECT_TRUE(result.decisions.events.empty()) << "no command after a mismatch";
    EXPECT_TRUE(result.decisions.work.empty() && result.decisions.timers.empty() &&
                result.decisions.children.empty() && result.decisions.canceled_work.empty());
    EXPECT_FALSE(result.decisions.next || result.decisions.custom_status);
    EXPECT_EQ(run.history(), history);
  });
}

TEST(Nondeterminism, GoingBackToTheOldCodeGoesOn) {
  for_each_change([](const Change& change, ScriptedRun& run) {
    run.deploy(demo(change.after));
    EXPECT_TRUE(run.try_turn({run.raised("number", "2")}).mismatch);
    EXPECT_TRUE(run.try_turn({run.raised("number", "2")}).mismatch)
        << "and again, as often as tried";
    run.deploy(demo(change.before));
    run.raise("number", "2");
    EXPECT_NE(run.status(), ExecutionStatus::kFailed);
    EXPECT_TRUE(run.replays());
  });
}

TEST(Nondeterminism, ACatchAllOfTheCodeCannotSwallowIt) {
  static int resumed;
  resumed = 0;
  ScriptedRun run(demo(&base), "demo");
  run.start();
  run.deploy(demo([](OrchestrationContext& ctx) -> Task<int> {
    for (int i = 0; i < 3; ++i) {
      try {
        co_await ctx.call(thrice, 1);
        ++resumed;
      } catch (...) {
        ++resumed;
      }
    }
    co_return 1;
  }));
  EXPECT_TRUE(run.try_turn({run.completed(EventId{2}, "2")}).mismatch);
  EXPECT_EQ(resumed, 0) << "neither a value nor an exception came out of the await";
}

TEST(Nondeterminism, AnEndThatHistoryDoesNotHaveIsAMismatch) {
  ScriptedRun run(demo(&base), "demo");
  run.start();
  run.deploy(demo([](OrchestrationContext& ctx) -> Task<int> {
    ctx.call(twice, 1).detach();
    ctx.timer(1h).detach();
    auto wait = ctx.wait_for(number);
    auto again = ctx.call(ping);
    co_return 1;
  }));
  const auto result = run.try_turn({});
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->position, EventId{5});
  EXPECT_EQ(result.mismatch->expected, "nothing more");
  EXPECT_THAT(result.mismatch->actual, HasSubstr("'ping'"));
}

}  // namespace
}  // namespace perdure::test::nondeterminism_test
