#include <string>

#include <gtest/gtest.h>

#include <perdure/replayer.h>
#include <perdure/testing.h>

/// "1", "1.0" and "1.0.0" are one version, wherever one is passed.
namespace perdure::test::versions_test {

namespace {

using namespace std::chrono_literals;
using perdure::testing::TestRuntime;

inline constexpr Orchestration<std::string(int)> leaf{"leaf"};
inline constexpr Orchestration<std::string(std::string)> caller{"caller"};

/// Continues once, with the same version in another form.
Task<std::string> run_leaf(OrchestrationContext& ctx, int round) {
  co_await ctx.timer(1h);
  if (round == 0) co_await ctx.continue_as_new(leaf, round + 1, "1.0.0");
  co_return "one";
}

Task<std::string> run_newer_leaf(OrchestrationContext& ctx, int) {
  co_await ctx.timer(1h);
  co_return "two";
}

Task<std::string> run_caller(OrchestrationContext& ctx, std::string version) {
  ctx.start_detached(leaf, "detached", 1, {.version = version});
  co_return co_await ctx.call(leaf, 1, {.id = "child", .version = version});
}

/// The leaf of version 1, in this form (empty: without one), beside a newer one.
Registry leaves(std::string_view version) {
  Registry registry;
  registry.add(leaf, run_leaf, version);
  registry.add(leaf, run_newer_leaf, "2");
  registry.add(caller, run_caller);
  return registry;
}

TEST(VersionForms, OfAStartAreServedAlike) {
  for (const char* registered : {"1", "1.0", "1.0.0"}) {
    TestRuntime runtime(leaves(registered));
    for (const char* asked : {"1", "1.0", "1.0.0", "01"}) {
      auto run = runtime.start(leaf, asked, 1, {.version = asked});
      runtime.advance(1h);
      EXPECT_EQ(run.result(), "one") << asked << " of " << registered;
    }
  }
}

TEST(VersionForms, OfChildrenAndDetachedRunsAreServedAlike) {
  for (const char* asked : {"1", "1.0.0", "01"}) {
    TestRuntime runtime(leaves("1.0"));
    auto run = runtime.start(caller, "caller", std::string(asked));
    runtime.advance(1h);
    EXPECT_EQ(run.result(), "one") << asked;
    EXPECT_EQ(runtime.history("detached").back().kind, "completed") << asked;
  }
}

TEST(VersionForms, OfTheNextExecutionAreServedAlike) {
  TestRuntime runtime(leaves("1"));
  auto run = runtime.start(leaf, "r", 0, {.version = "1.0"});
  runtime.run_until_idle();
  EXPECT_EQ(run.status().version, "1.0") << "as it was asked for";
  runtime.advance(2h);
  EXPECT_EQ(run.result(), "one");
  EXPECT_EQ(run.status().execution, 2);
  EXPECT_EQ(run.status().version, "1.0.0");
}

TEST(VersionForms, MayChangeWithADeployment) {
  TestRuntime runtime(leaves("1"));
  auto run = runtime.start(leaf, "r", 1, {.version = "1"});
  runtime.run_until_idle();
  runtime.deploy(leaves("1.0.0"));
  runtime.advance(1h);
  EXPECT_EQ(run.result(), "one");
}

TEST(VersionForms, OfZeroAskForTheCodeWithoutAVersion) {
  TestRuntime runtime(leaves(""));
  for (const char* asked : {"0", "0.0", "0.0.0"}) {
    auto run = runtime.start(leaf, asked, 1, {.version = asked});
    runtime.advance(1h);
    EXPECT_EQ(run.result(), "one") << asked;
  }
}

TEST(VersionForms, OfAHistoryAreReplayedAlike) {
  TestRuntime runtime(leaves("1"));
  runtime.start(leaf, "r", 1, {.version = "1.0"});
  runtime.advance(1h);
  const ReplayReport report = Replayer(leaves("1.0.0")).check(runtime.history_json("r"));
  EXPECT_TRUE(report.ok) << to_string(report);
  EXPECT_EQ(report.version, "1.0");
}

}  // namespace

}  // namespace perdure::test::versions_test
