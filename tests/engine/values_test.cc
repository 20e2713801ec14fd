#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Recorded values, custom status, log, storage of the run.
namespace perdure::test::values_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

TEST(Values, UuidsAndRandomNumbersAreTheSameInReplay) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<bool> {
              const std::string id = ctx.uuid();
              const std::uint64_t random = ctx.random();
              ctx.set_status(id + std::to_string(random));
              co_await ctx.call(ping);
              ctx.set_status(id + std::to_string(random));
              co_return id != ctx.uuid() && random != ctx.random();
            }),
            [](ScriptedRun& run) {
              run.start();
              const std::string before = run.custom_status();
              EXPECT_EQ(run.history()[1].payload.size(), 38u) << "recorded in the same turn";
              run.complete("ping");
              EXPECT_EQ(run.custom_status(), before);
              EXPECT_EQ(run.output(), "true");
            });
}

TEST(Values, AUuidHasTheFormOfVersionFour) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<std::string> { co_return ctx.uuid(); }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_THAT(
                  run.output(),
                  testing::MatchesRegex("\"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                                        "[0-9a-f]{12}\""));
            });
}

TEST(Values, ASideEffectRunsOnce) {
  static int runs;
  runs = 0;
  ScriptedRun run(demo([](OrchestrationContext& ctx) -> Task<int> {
                    const int value = ctx.side_effect([] { return ++runs; });
                    co_await ctx.call(ping);
                    co_await ctx.call(ping);
                    co_return value;
                  }),
                  "demo");
  run.start();
  run.complete("ping");
  run.complete("ping");
  EXPECT_EQ(run.output(), "1");
  EXPECT_EQ(runs, 1) << "not in replays";
}

TEST(Values, WhatASideEffectThrowsIsThrownAgainInReplay) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<std::string> {
              std::string how;
              try {
                ctx.side_effect([]() -> int { throw std::runtime_error("no file"); });
              } catch (const Failed& failed) {
                how = failed.failure().type + " " + failed.failure().message;
              }
              co_await ctx.call(ping);
              co_return how;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("ping");
              EXPECT_EQ(run.output(), "\"std::runtime_error no file\"");
            });
}

TEST(Values, ASideEffectThatGivesWhatJsonCannotCarryIsInvalid) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              int errors = 0;
              try {
                ctx.side_effect([] { return std::numeric_limits<double>::quiet_NaN(); });
              } catch (const InvalidArgument&) {
                ++errors;
              }
              co_await ctx.call(ping);
              co_return errors;
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("ping");
              EXPECT_EQ(run.output(), "1");
            });
}

TEST(Values, ASideEffectMakesNoCommands) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              int errors = 0;
              const auto attempt = [&](const auto& make) {
                try {
                  ctx.side_effect(make);
                } catch (const InvalidArgument&) {
                  ++errors;
                }
              };
              const auto call = [&] {
                ctx.call(twice, 1).detach();
                return 1;
              };
              const auto id = [&] { return ctx.uuid(); };
              attempt(call);
              attempt(id);
              co_await ctx.call(ping);
              co_return errors;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_TRUE(run.open_calls("twice").empty());
              run.complete("ping");
              EXPECT_EQ(run.output(), "2");
            });
}

TEST(Values, TheLastCustomStatusOfATurnCounts) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              ctx.set_status("one");
              ctx.set_status("two");
              co_await ctx.call(ping);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              EXPECT_EQ(run.start().custom_status, "\"two\"");
              EXPECT_EQ(run.turn({run.completed(EventId{4})}).custom_status, std::nullopt)
                  << "a replayed one is not set again";
            });
}

TEST(Values, LogLinesComeOnceAndNotInReplay) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              ctx.log("before");
              co_await ctx.call(ping);
              ctx.log(LogLevel::kError, "after");
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_THAT(run.log(), ElementsAre("before"));
              run.complete("ping");
              EXPECT_THAT(run.log(), ElementsAre("before", "after"));
            });
}

TEST(Values, LocalStorageIsOnePerRunAndFilledAgainInReplay) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              struct Parts {
                static Task<void> count(OrchestrationContext& c) {
                  ++c.local<int>();
                  co_await c.call(ping);
                  ++c.local<int>();
                }
              };
              ctx.local<std::string>() = "beside";
              auto task = ctx.spawn(Parts::count(ctx));
              ++ctx.local<int>();
              co_await task;
              co_return ctx.local<int>();
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("ping");
              EXPECT_EQ(run.output(), "3");
            });
}

TEST(Values, AFutureMayLiveInLocalStorage) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              ctx.local<std::vector<Future<int>>>().push_back(ctx.call(twice, 1));
              co_await ctx.call(ping);
              co_return co_await ctx.local<std::vector<Future<int>>>().front();
            }),
            [](ScriptedRun& run) {
              run.start();
              run.complete("ping");
              run.complete("twice", "2");
              EXPECT_EQ(run.output(), "2");
            });
}

TEST(Values, TheRunKnowsWhatItIs) {
  both_ways(demo(
                [](OrchestrationContext& ctx) -> Task<std::string> {
                  const bool first = ctx.is_replaying();
                  co_await ctx.call(ping);
                  co_return ctx.instance_id() + " " + ctx.name() + " " + ctx.version() + " " +
                      std::to_string(ctx.execution()) +
                      (ctx.is_replaying() ? " replaying" : " live") + (first ? "" : "");
                },
                "1.4"),
            [](ScriptedRun& run) {
              run.start();
              run.complete("ping");
              EXPECT_EQ(run.output(), "\"run-1 demo 1.4 1 live\"");
            });
}

TEST(Values, CallOptionsReachTheWorkRow) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              co_return co_await ctx.call(twice,
                                          1,
                                          {.queue = "gpu",
                                           .priority = 5,
                                           .retry = retry(3, 2s).except("fatal"),
                                           .timeout = 1h,
                                           .start_to_close = 1min,
                                           .schedule_to_start = 10min,
                                           .heartbeat = 30s});
            }),
            [](ScriptedRun& run) {
              const NewWork work = run.start().work.at(0);
              EXPECT_EQ(work.event, EventId{2});
              EXPECT_EQ(work.queue, "gpu");
              EXPECT_EQ(work.priority, 5);
              EXPECT_EQ(work.retry.max_attempts, 3);
              EXPECT_EQ(work.retry.first_delay, 2s);
              EXPECT_THAT(work.retry.non_retryable, ElementsAre("fatal"));
              EXPECT_EQ(work.timeouts.schedule_to_close, 1h);
              EXPECT_EQ(work.timeouts.start_to_close, 1min);
              EXPECT_EQ(work.timeouts.schedule_to_start, 10min);
              EXPECT_EQ(work.timeouts.heartbeat, 30s);
              EXPECT_FALSE(work.shielded);
              EXPECT_EQ(run.history().back().text, "gpu");
            });
}

TEST(Values, BadCallOptionsAreErrorsAtTheCall) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              int errors = 0;
              const auto attempt = [&](const ActivityOptions& options) {
                try {
                  ctx.call(twice, 1, options).detach();
                } catch (const InvalidArgument&) {
                  ++errors;
                }
              };
              attempt({.queue = std::string_view("\xff", 1)});
              attempt({.retry = retry(-1)});
              attempt({.timeout = -1s});
              attempt({.start_to_close = -1s});
              attempt({.schedule_to_start = -1s});
              attempt({.heartbeat = -1s});
              try {
                ctx.patched("");
              } catch (const InvalidArgument&) {
                ++errors;
              }
              co_return errors;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.output(), "7");
              EXPECT_EQ(run.lines().size(), 2u) << "nothing was recorded";
            });
}

}  // namespace
}  // namespace perdure::test::values_test
