#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Waits for a state of the run.
namespace perdure::test::conditions_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

struct Board {
  int level = 0;
  int tokens = 0;
  std::vector<std::string> order;
};

inline constexpr Orchestration<std::string()> self{"demo"};
inline constexpr Signal<int> raise_to{"raise_to"};
inline constexpr Signal<int> call_and_raise{"call_and_raise"};
inline constexpr Signal<int> deal{"deal"};

template <class Main>
Registry board(Main main) {
  Registry registry;
  registry.add(self, main)
      .signal(raise_to, [](Board& board, int level) { board.level = level; })
      .signal(call_and_raise,
              [](OrchestrationContext& ctx, Board& board, int level) -> Task<void> {
                auto call = ctx.call(twice, level);
                board.level = level;
                co_await call;
              })
      .signal(deal, [](Board& board, int tokens) { board.tokens += tokens; });
  return registry;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(Conditions, OneThatHoldsDoesNotWait) {
  both_ways(board([](OrchestrationContext& ctx, Board& board) -> Task<std::string> {
              auto held = ctx.until([&] { return board.level == 0; });
              const bool ready = held.ready();
              co_await held;
              co_await ctx.until([] { return true; });
              co_return ready ? "ready" : "not ready";
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.output(), "\"ready\"");
              EXPECT_THAT(run.lines(), ElementsAre("started demo", "main_began", "completed"))
                  << "recorded nowhere";
            });
}

TEST(Conditions, ARunThatWaitsOnlyForAChangeOfItsStateSleepsUntilAHandlerMakesIt) {
  both_ways(board([](OrchestrationContext& ctx, Board& board) -> Task<std::string> {
              co_await ctx.until([&] { return board.level >= 2; });
              const int first = board.level;
              co_await ctx.until([&] { return board.level >= 5; });
              co_return std::to_string(first) + " " + std::to_string(board.level);
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.status(), ExecutionStatus::kRunning) << "no deadlock";
              EXPECT_TRUE(run.work().empty());
              EXPECT_TRUE(run.open_timers().empty());
              run.signal("raise_to", "1");
              EXPECT_EQ(run.status(), ExecutionStatus::kRunning);
              run.signal("raise_to", "3");
              run.signal("raise_to", "4");
              run.turn({});
              EXPECT_EQ(run.status(), ExecutionStatus::kRunning);
              run.signal("raise_to", "5");
              EXPECT_EQ(run.output(), "\"3 5\"");
            });
}

TEST(Conditions, OneThatComesTrueInATurnThatMakesACommandWakesInThatTurn) {
  both_ways(board([](OrchestrationContext& ctx, Board& board) -> Task<std::string> {
              co_await ctx.until([&] { return board.level == 1; });
              co_await ctx.call(thrice, 1);
              co_return "woken";
            }),
            [](ScriptedRun& run) {
              run.start();
              const auto& decisions = run.signal("call_and_raise", "1");
              EXPECT_EQ(decisions.work.size(), 2u);
              EXPECT_THAT(run.lines(2),
                          ElementsAre("signal_received call_and_raise",
                                      "activity_scheduled twice",
                                      "activity_scheduled thrice"));
              run.complete("thrice", "3");
              run.complete("twice", "2");
              EXPECT_EQ(run.output(), "\"woken\"");
            });
}

TEST(Conditions, OneThatAnAnswerMakesTrueWakesWithIt) {
  both_ways(board([](OrchestrationContext& ctx, Board& board) -> Task<std::string> {
              struct Parts {
                static Task<void> set(OrchestrationContext& c, Board& b) {
                  b.level = co_await c.call(twice, 1);
                  co_await c.call(ping);
                }
              };
              auto setting = ctx.spawn(Parts::set(ctx, board));
              co_await ctx.until([&] { return board.level == 2; });
              co_return "woken";
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("twice", "2");
              EXPECT_EQ(run.output(), "\"woken\"");
              EXPECT_THAT(run.lines(3),
                          ElementsAre("activity_completed of 3",
                                      "activity_scheduled ping",
                                      "activity_dropped of 5",
                                      "completed"));
            });
}

Task<void> take_token(OrchestrationContext& ctx, Board& board, std::string name, int at_least) {
  co_await ctx.until([&] { return board.tokens >= at_least; });
  board.order.push_back(name + std::to_string(board.tokens));
  --board.tokens;
}

TEST(Conditions, SeveralAreServedInTheirOrderAndWhoeverWakesFindsItTrue) {
  both_ways(board([](OrchestrationContext& ctx, Board& board) -> Task<std::string> {
              std::vector<Future<void>> takers;
              takers.push_back(ctx.spawn(take_token(ctx, board, "a", 2)));
              takers.push_back(ctx.spawn(take_token(ctx, board, "b", 1)));
              takers.push_back(ctx.spawn(take_token(ctx, board, "c", 1)));
              co_await when_all(std::move(takers));
              co_return joined(board.order);
            }),
            [](ScriptedRun& run) {
              run.start();
              run.signal("deal", "1");
              run.signal("deal", "2");
              EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
              EXPECT_EQ(run.output(), "\"b1 a2 c1\"");
            });
}

TEST(Conditions, WhatOneWaiterDoesMayMakeAnotherTrue) {
  both_ways(board([](OrchestrationContext& ctx, Board& board) -> Task<std::string> {
              struct Parts {
                static Task<void> pass(OrchestrationContext& c, Board& b, int from) {
                  co_await c.until([&] { return b.level == from; });
                  b.order.push_back(std::to_string(from));
                  b.level = from + 1;
                }
              };
              std::vector<Future<void>> chain;
              for (int from = 4; from > 0; --from) {
                chain.push_back(ctx.spawn(Parts::pass(ctx, board, from)));
              }
              co_await when_all(std::move(chain));
              co_return joined(board.order);
            }),
            [](ScriptedRun& run) {
              run.start();
              run.signal("raise_to", "1");
              EXPECT_EQ(run.output(), "\"1 2 3 4\"") << "until nothing moves any more";
            });
}

TEST(Conditions, WhatAConditionThrowsComesOutOfTheAwait) {
  both_ways(board([](OrchestrationContext& ctx, Board& board) -> Task<std::string> {
              const auto throws = [&]() -> bool {
                if (board.level == 1) throw Failed("odd", "one");
                if (board.level == 2) throw std::logic_error("two");
                return false;
              };
              auto first = ctx.until(throws);
              const auto outcome = co_await first.outcome();
              std::string thrown = outcome.failure().type;
              co_await ctx.until([&] { return board.level == 0; });
              try {
                co_await ctx.until(throws);
              } catch (const std::logic_error& error) {
                thrown += " " + std::string(error.what());
              }
              co_await ctx.until(throws);
              co_return thrown;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.signal("raise_to", "1");
              run.signal("raise_to", "0");
              EXPECT_EQ(run.status(), ExecutionStatus::kRunning);
              run.signal("raise_to", "2");
              EXPECT_EQ(run.status(), ExecutionStatus::kFailed) << "the next one throws at once";
              EXPECT_EQ(run.failure().type, "std::logic_error");
            });
}

TEST(Conditions, OneThatIsCanceledEndsAtOnce) {
  both_ways(board([](OrchestrationContext& ctx, Board& board) -> Task<std::string> {
              auto wait = ctx.until([&] { return board.level == 1; });
              const auto outcome = co_await wait.outcome();
              ctx.set_status(outcome.reason());
              co_return "";
            }),
            [](ScriptedRun& run) {
              run.start();
              run.cancel("stop");
              EXPECT_EQ(run.custom_status(), "\"stop\"");
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
            });
}

TEST(Conditions, OneInAScopeEndsWithItsScope) {
  both_ways(
      board([](OrchestrationContext& ctx, Board& board) -> Task<std::string> {
        Scope scope = ctx.scope();
        auto waiting = scope.spawn(take_token(ctx, board, "a", 1));
        co_await ctx.until([&] { return board.level == 1; });
        scope.cancel("enough");
        const auto outcome = co_await waiting.outcome();
        board.tokens = 1;
        co_await ctx.call(ping);
        co_return outcome.reason() + joined(board.order);
      }),
      [](ScriptedRun& run) {
        run.start();
        run.signal("raise_to", "1");
        EXPECT_THAT(
            run.lines(2),
            ElementsAre("signal_received raise_to", "scope_canceled", "activity_scheduled ping"));
        run.complete("ping");
        EXPECT_EQ(run.output(), "\"enough\"");
      });
}

int looks = 0;  // at a condition that nobody waits for any more

TEST(Conditions, OneThatIsDroppedLeavesNothing) {
  both_ways(board([](OrchestrationContext& ctx, Board& board) -> Task<std::string> {
              std::string first;
              {
                auto raised = ctx.until([&] {
                  ++looks;
                  return board.level == 1;
                });
                auto patience = ctx.timer(1h);
                first = co_await when_any(raised, patience) == 0 ? "raised" : "late";
              }
              looks = 0;
              co_await ctx.call(ping);
              co_return first + (looks == 0 ? "" : ", looked at again");
            }),
            [](ScriptedRun& run) {
              run.start();
              run.fire();
              EXPECT_THAT(run.lines(3), ElementsAre("timer_fired of 3", "activity_scheduled ping"));
              run.signal("raise_to", "1");
              run.complete("ping");
              EXPECT_EQ(run.output(), "\"late\"");
            });
  both_ways(board([](OrchestrationContext& ctx, Board& board) -> Task<std::string> {
              auto raised = ctx.until([&] { return board.level == 1; });
              auto patience = ctx.timer(1h);
              co_return co_await when_any(raised, patience) == 0 ? "raised" : "late";
            }),
            [](ScriptedRun& run) {
              run.start();
              run.signal("raise_to", "1");
              EXPECT_EQ(run.output(), "\"raised\"");
              EXPECT_TRUE(run.open_timers().empty());
            });
}

TEST(Conditions, OneThatIsDetachedIsLookedAtNoMore) {
  both_ways(board([](OrchestrationContext& ctx, Board& board) -> Task<std::string> {
              struct Parts {
                static Task<void> leave(OrchestrationContext& c, Board& b) {
                  const int local = 1;
                  c.until([&] {
                     ++looks;
                     return b.level == local;
                   }).detach();
                  co_return;
                }
              };
              co_await Parts::leave(ctx, board);
              looks = 0;
              co_await ctx.until([&] { return board.level == 2; });
              co_return looks == 0 ? "left alone" : "looked at with a frame that is gone";
            }),
            [](ScriptedRun& run) {
              run.start();
              run.signal("raise_to", "2");
              EXPECT_EQ(run.output(), "\"left alone\"");
            });
}

TEST(Conditions, MakeNoCommands) {
  both_ways(board([](OrchestrationContext& ctx, Board& board) -> Task<std::string> {
              const auto acts = [&] {
                if (board.level == 1) ctx.call(ping).detach();
                if (board.level == 2) ctx.set_status(1);
                if (board.level == 3) return ctx.patched("new");
                if (board.level == 4) ctx.until([] { return true; }).detach();
                return false;
              };
              std::string refused;
              for (int level = 1; level <= 4; ++level) {
                auto wait = ctx.until(acts);
                const auto outcome = co_await wait.outcome();
                if (outcome.failure().type == kInvalidArgumentFailure) refused += "x";
                board.level = 0;
              }
              co_return refused;
            }),
            [](ScriptedRun& run) {
              run.start();
              for (const char* level : {"1", "2", "3", "4"}) run.signal("raise_to", level);
              EXPECT_EQ(run.output(), "\"xxxx\"");
              EXPECT_THAT(run.lines(2), testing::Each(testing::Not(HasSubstr("activity"))));
            });
}

}  // namespace
}  // namespace perdure::test::conditions_test
