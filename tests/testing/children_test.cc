#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <perdure/testing.h>

namespace perdure::test::children_test {

namespace {

using namespace std::chrono_literals;
using perdure::testing::TestRuntime;

inline constexpr Orchestration<int(int)> parent{"parent"};
inline constexpr Orchestration<int(int)> child{"child"};
inline constexpr Orchestration<std::string()> patient{"patient"};
inline constexpr Orchestration<void(bool)> leaver{"leaver"};
inline constexpr Orchestration<std::string()> namesake{"namesake"};
inline constexpr Orchestration<std::string()> limited{"limited"};
inline constexpr Activity<int(int)> twice{"twice"};
inline constexpr perdure::Event<bool> go{"go"};

Task<int> run_child(OrchestrationContext& ctx, int value) {
  if (value < 0) throw Failed("negative", "no child of " + std::to_string(value));
  co_return co_await ctx.call(twice, value, {.queue = "gpu"});
}

Task<int> run_parent(OrchestrationContext& ctx, int value) {
  auto first = ctx.call(child, value);
  auto second = ctx.call(child, value + 1, {.id = "named", .queue = "elsewhere"});
  co_return co_await first + co_await second;
}

Task<std::string> run_patient(OrchestrationContext& ctx) {
  co_await ctx.wait_for(go);
  co_return "went";
}

/// Ends while its child still waits.
Task<void> run_leaver(OrchestrationContext& ctx, bool abandons) {
  auto waits = ctx.call(
      patient,
      {.id = "kid", .close_policy = abandons ? ClosePolicy::kAbandon : ClosePolicy::kCancel});
  co_await ctx.timer(1h);
  waits.detach();
}

Task<std::string> run_namesake(OrchestrationContext& ctx) {
  auto call = ctx.call(patient, {.id = "taken"});
  auto outcome = co_await call.outcome();
  co_return outcome.failure().type;
}

Task<std::string> run_limited(OrchestrationContext& ctx) {
  auto call = ctx.call(patient, {.id = "slow", .timeout = 5min});
  auto outcome = co_await call.outcome();
  co_return outcome.failure().type;
}

Registry family() {
  Registry registry;
  registry.add(parent, run_parent);
  registry.add(child, run_child);
  registry.add(patient, run_patient);
  registry.add(leaver, run_leaver);
  registry.add(namesake, run_namesake);
  registry.add(limited, run_limited);
  registry.add(twice, [](int value) { return 2 * value; });
  return registry;
}

TEST(Children, AreCalledOnAnyQueueAndAnswer) {
  TestRuntime runtime(family());
  auto run = runtime.start(parent, "p", 5);
  EXPECT_EQ(run.result(), 22);
  EXPECT_EQ(runtime.status("named").queue, "elsewhere");
}

TEST(Children, HaveTheirParentsIdAndTheEventAsDefaultId) {
  TestRuntime runtime(family());
  auto run = runtime.start(parent, "p", 5);
  EXPECT_EQ(run.result(), 22);
  EXPECT_EQ(runtime.find<int>("p/1.2").result(), 10);
  EXPECT_THROW(runtime.status("p/1.3"), NotFound);
}

TEST(Children, FailTheCallWithTheirOwnFailure) {
  TestRuntime runtime(family());
  auto run = runtime.start(parent, "p", -7);
  EXPECT_EQ(run.outcome().failure().type, "negative");
  EXPECT_EQ(run.outcome().failure().message, "no child of -7");
}

TEST(Children, AreCanceledWhenTheirParentEnds) {
  TestRuntime runtime(family());
  auto run = runtime.start(leaver, "p", false);
  runtime.advance(59min);
  EXPECT_EQ(runtime.status("kid").status, ExecutionStatus::kRunning);
  runtime.advance(1min);
  run.result();
  EXPECT_EQ(runtime.status("kid").status, ExecutionStatus::kCanceled);
}

TEST(Children, GoOnByThemselvesWhenTheyAreAbandoned) {
  TestRuntime runtime(family());
  auto run = runtime.start(leaver, "p", true);
  runtime.advance(1h);
  run.result();
  EXPECT_EQ(runtime.status("kid").status, ExecutionStatus::kRunning);
  runtime.raise_event("kid", go, true);
  EXPECT_EQ(runtime.find<std::string>("kid").result(), "went");
}

TEST(Children, CannotTakeAnIdThatLives) {
  TestRuntime runtime(family());
  auto other = runtime.start(patient, "taken");
  auto run = runtime.start(namesake, "p");
  EXPECT_EQ(run.result(), kIdTakenFailure);
  EXPECT_EQ(other.status().status, ExecutionStatus::kRunning);
}

TEST(Children, AreCanceledInTheCommitThatCancelsTheParent) {
  TestRuntime runtime(family());
  auto run = runtime.start(leaver, "p", false);
  runtime.run_until_idle();
  const CancelResult answer = runtime.cancel("p", "enough");
  EXPECT_TRUE(answer.changed);
  EXPECT_EQ(answer.status, ExecutionStatus::kCanceling);
  EXPECT_EQ(runtime.status("kid").status, ExecutionStatus::kCanceling);
  EXPECT_EQ(runtime.status("kid").cancel_reason, "enough");
  EXPECT_EQ(run.outcome().reason(), "enough");
  EXPECT_EQ(runtime.status("kid").status, ExecutionStatus::kCanceled);
  EXPECT_FALSE(runtime.cancel("p", "again").changed);
}

TEST(Children, AreTerminatedWithTheirParent) {
  TestRuntime runtime(family());
  auto run = runtime.start(leaver, "p", false);
  runtime.run_until_idle();
  EXPECT_TRUE(runtime.terminate("p", "now").changed);
  EXPECT_EQ(run.outcome().reason(), "now");
  EXPECT_EQ(run.status().status, ExecutionStatus::kTerminated);
  EXPECT_EQ(run.status().cancel_reason, "now");
  EXPECT_EQ(runtime.status("kid").status, ExecutionStatus::kTerminated);
}

TEST(Children, AreCanceledWhenTheTimeOfTheCallIsOver) {
  TestRuntime runtime(family());
  auto run = runtime.start(limited, "p");
  runtime.advance(5min);
  EXPECT_EQ(run.result(), kTimeoutFailure);
  EXPECT_EQ(runtime.status("slow").status, ExecutionStatus::kCanceled);
}

TEST(Children, ThatHadNoTurnAreCanceledAtOnce) {
  TestRuntime runtime(family());
  auto run = runtime.start(patient, "p");
  EXPECT_EQ(runtime.cancel("p", "too late").status, ExecutionStatus::kCanceled);
  EXPECT_EQ(run.outcome().reason(), "too late");
  EXPECT_EQ(runtime.history("p").size(), 3U) << "started, cancel requested, canceled";
}

}  // namespace

}  // namespace perdure::test::children_test
