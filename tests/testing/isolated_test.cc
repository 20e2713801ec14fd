#include <unistd.h>

#include <gtest/gtest.h>

#include <perdure/testing.h>

namespace perdure::test::isolated_test {

namespace {

constexpr Activity<int()> own_pid{"own_pid"};
constexpr Orchestration<int()> asking{"asking"};

Task<int> run_asking(OrchestrationContext& ctx) {
  co_return co_await ctx.call(own_pid);
}

TEST(IsolatedActivities, RunInTheProcessOfTheTest) {
  Registry registry;
  registry.add(
      own_pid, [] { return static_cast<int>(::getpid()); }, {.isolation = Isolation::kProcess});
  registry.add(asking, run_asking);
  perdure::testing::TestRuntime runtime(registry);
  EXPECT_EQ(runtime.start(asking, "a").result(), ::getpid());
}

}  // namespace

}  // namespace perdure::test::isolated_test
