#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

namespace perdure::test::side_effect_test {
namespace {

inline constexpr Activity<int(int)> twice{"twice"};
inline constexpr Orchestration<std::string()> probe{"probe"};

int made = 0;  // NOLINT: how often a side effect ran; one test at a time

/// Tries a side effect that does not give a value, and makes a call behind it.
template <class F>
std::string caught(F&& make) {
  static std::function<std::string()> effect;
  effect = std::forward<F>(make);
  made = 0;
  Registry registry;
  registry.add(probe, [](OrchestrationContext& ctx) -> Task<std::string> {
    std::string message = "nothing";
    try {
      ctx.side_effect(effect);
    } catch (const InvalidArgument& refused) {
      message = std::string("refused: ") + refused.what();
    } catch (const Failed& failed) {
      message = "failed: " + failed.failure().type + ": " + failed.failure().message;
    }
    co_await ctx.call(twice, 1);
    co_return message;
  });
  ScriptedRun run(registry, "probe");
  run.start();
  EXPECT_EQ(run.kinds().at(1), EventKind::kSideEffectRecorded);
  run.complete("twice", "2");
  EXPECT_EQ(made, 1) << "a replay does not run it again";
  EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
  return Json::parse(run.output()).get<std::string>();
}

TEST(SideEffect, ThatThrowsGoesTheSameWayInAReplay) {
  EXPECT_EQ(caught([]() -> std::string {
              ++made;
              throw Failed("no_dice", "they fell off the table");
            }),
            "failed: no_dice: they fell off the table");
  EXPECT_EQ(caught([]() -> std::string {
              ++made;
              throw std::runtime_error("broken");
            }),
            "failed: std::runtime_error: broken");
}

TEST(SideEffect, ThatIsTooLargeGoesTheSameWayInAReplay) {
  EXPECT_EQ(caught([] {
              ++made;
              return std::string(std::size_t{3} << 20, 'x');
            }),
            "refused: a side effect: 3145730 bytes of JSON, the limit is 2097152: store large data "
            "elsewhere and pass a reference");
}

}  // namespace
}  // namespace perdure::test::side_effect_test
