#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Runs that are started without a parent link.
namespace perdure::test::detached_test {
namespace {

using namespace std::chrono_literals;

TEST(Detached, ADetachedStartHasNoAnswerAndNoParentLink) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              ctx.start_detached(helper, "side-1", 3);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              const auto& decisions = run.start();
              ASSERT_EQ(decisions.children.size(), 1u);
              EXPECT_TRUE(decisions.children[0].detached);
              EXPECT_EQ(decisions.children[0].id, "side-1");
              EXPECT_EQ(decisions.children[0].input, "3");
              EXPECT_THAT(run.lines(1),
                          testing::ElementsAre("detached_started helper", "completed"));
            });
}

TEST(Detached, DelayAndDeadlineCountFromTheTurn) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              ctx.start_detached(helper, "side-1", 3, {.delay = 1h, .run_timeout = 10min});
              ctx.start_detached(helper, "side-2", 3, {.run_timeout = 10min});
              co_return 1;
            }),
            [](ScriptedRun& run) {
              const auto& decisions = run.start();
              EXPECT_EQ(decisions.children.at(0).start_at, run.now() + 1h);
              EXPECT_EQ(decisions.children.at(0).deadline, run.now() + 1h + 10min);
              EXPECT_EQ(decisions.children.at(1).deadline, run.now() + 10min);
            });
}

TEST(Detached, ACancelDoesNotReachIt) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              ctx.start_detached(helper, "side-1", 3);
              co_await ctx.timer(1h);
              co_return 1;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_TRUE(run.cancel().canceled_children.empty());
              EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
            });
}

TEST(Detached, BadArgumentsAreErrorsAtTheCall) {
  both_ways(demo([](OrchestrationContext& ctx) -> Task<int> {
              int errors = 0;
              const auto attempt = [&](std::string_view id, const DetachedOptions& options) {
                try {
                  ctx.start_detached(helper, id, 1, options);
                } catch (const InvalidArgument&) {
                  ++errors;
                }
              };
              attempt("", {});
              attempt(std::string(256, 'x'), {});
              attempt("ok", {.version = "1.2.3.4"});
              attempt("ok", {.delay = -1s});
              attempt("ok", {.run_timeout = -1s});
              co_return errors;
            }),
            [](ScriptedRun& run) {
              run.start();
              EXPECT_EQ(run.output(), "5");
              EXPECT_EQ(run.lines().size(), 2u);
            });
}

}  // namespace
}  // namespace perdure::test::detached_test
