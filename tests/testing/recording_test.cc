#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include <perdure/replayer.h>
#include <perdure/testing.h>

#include "tests/support/temp_dir.h"

/// Histories that a test records and a later test replays.
namespace perdure::test::recording_test {

namespace {

using namespace std::chrono_literals;
using perdure::testing::TestRuntime;

inline constexpr Orchestration<int(int)> climb{"climb"};
inline constexpr Activity<int(int)> step_up{"step_up"};
inline constexpr Activity<void(int)> step_down{"step_down"};
inline constexpr Activity<int(int)> jump{"jump"};

Task<int> run_climb(OrchestrationContext& ctx, int height) {
  height = co_await ctx.call(step_up, height).undo_with(step_down);
  co_await ctx.timer(1h);
  if (height < 3) co_await ctx.continue_as_new(climb, height);
  co_return height;
}

Task<int> run_jump(OrchestrationContext& ctx, int height) {
  co_return co_await ctx.call(jump, height);
}

Registry climbing(Task<int> (*main)(OrchestrationContext&, int), std::string_view version = {}) {
  Registry registry;
  registry.add(climb, main, version);
  registry.add(step_up, [](int height) { return height + 1; });
  registry.add(step_down, [](int) {});
  registry.add(jump, [](int height) { return height + 2; });
  return registry;
}

TEST(Recording, IsWhatTheReplayerReads) {
  TestRuntime runtime(climbing(run_climb));
  runtime.start(climb, "c", 1);
  EXPECT_TRUE(Replayer(climbing(run_climb)).check(runtime.history_json("c")).ok) << "no turn yet";
  runtime.advance(1min);
  const std::string under_way = runtime.history_json("c");
  runtime.advance(3h);
  ASSERT_EQ(runtime.status("c").execution, 2);
  for (const std::string& json : {under_way,
                                  runtime.history_json("c"),
                                  runtime.history_json("c", 1),
                                  runtime.history_json("c", 2)}) {
    const ReplayReport same = Replayer(climbing(run_climb), {.strict = true}).check(json);
    EXPECT_TRUE(same.ok) << to_string(same);
    EXPECT_TRUE(same.warnings.empty()) << to_string(same);
    EXPECT_EQ(same.instance_id, "c");
    const ReplayReport other = Replayer(climbing(run_jump)).check(json);
    EXPECT_FALSE(other.ok);
    EXPECT_EQ(other.mismatch->position, 2) << to_string(other);
  }
  EXPECT_EQ(runtime.history_json("c"), runtime.history_json("c", 2));
  EXPECT_NE(runtime.history_json("c"), runtime.history_json("c", 1));
  EXPECT_EQ(Replayer(climbing(run_climb)).check(runtime.history_json("c")).events,
            runtime.history("c").size());
  EXPECT_THROW(runtime.history_json("nobody"), NotFound);
  EXPECT_THROW(runtime.history_json("c", 3), NotFound);
}

TEST(Recording, OfAFileIsReadBack) {
  TestRuntime runtime(climbing(run_climb, "1.0"));
  runtime.start(climb, "c", 2);
  runtime.advance(2h);
  const support::TempDir folder;
  const std::string file = folder.file("climbed.json");
  std::ofstream(file, std::ios::binary) << runtime.history_json("c");
  const ReplayReport report = Replayer(climbing(run_climb, "1.0")).check_file(file);
  EXPECT_TRUE(report.ok) << to_string(report);
  EXPECT_EQ(report.version, "1.0") << "the version that its first turn settled";
  EXPECT_THROW(Replayer(climbing(run_climb)).check_file(file), InvalidArgument)
      << "the code without a version is not what it ran";
}

TEST(Recording, OfARunWithoutAVersionWantsTheCodeWithoutOne) {
  TestRuntime runtime(climbing(run_climb));
  runtime.start(climb, "c", 2);
  const std::string unseen = runtime.history_json("c");
  runtime.run_until_idle();
  const Replayer newer(climbing(run_climb, "2.0"));
  EXPECT_TRUE(newer.check(unseen).ok) << "it would take the newest";
  EXPECT_THROW(newer.check(runtime.history_json("c")), InvalidArgument);
}

TEST(Recording, OfARunThatWasWoundDownIsCheckedAsFarAsItsCodeRan) {
  TestRuntime runtime(climbing(run_climb));
  runtime.start(climb, "c", 1);
  runtime.run_until_idle();
  Registry gone;
  gone.add(step_down, [](int) {});
  runtime.deploy(gone);
  runtime.cancel("c", "storm");
  runtime.advance(2min);
  ASSERT_EQ(runtime.status("c").status, ExecutionStatus::kCanceled);
  const ReplayReport same = Replayer(climbing(run_climb)).check(runtime.history_json("c"));
  EXPECT_TRUE(same.ok) << to_string(same);
  EXPECT_EQ(same.events, runtime.history("c").size());
  EXPECT_FALSE(Replayer(climbing(run_jump)).check(runtime.history_json("c")).ok);
}

}  // namespace

}  // namespace perdure::test::recording_test
