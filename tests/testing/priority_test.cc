#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <perdure/testing.h>

namespace perdure::test::priority_test {

namespace {

using namespace std::chrono_literals;
using perdure::testing::TestRuntime;

using Order = std::vector<std::string>;

inline constexpr Orchestration<void(std::string)> worker{"worker"};
inline constexpr Orchestration<void(std::string)> boss{"boss"};
inline constexpr Activity<void(std::string)> note{"note"};

Task<void> run_worker(OrchestrationContext& ctx, std::string name) {
  const std::string urgent = name + " urgent";
  auto plain = ctx.call(note, name);
  auto first = ctx.call(note, urgent, {.priority = 3});
  co_await plain;
  co_await first;
}

Task<void> run_boss(OrchestrationContext& ctx, std::string name) {
  co_await ctx.call(worker, name);
}

class PriorityOfARun : public ::testing::Test {
 protected:
  PriorityOfARun() {
    registry_.add(worker, run_worker);
    registry_.add(boss, run_boss);
    registry_.add(note,
                  [this](ActivityContext&, const std::string& text) { notes_.push_back(text); });
  }

  Order notes_;
  Registry registry_;
};

TEST_F(PriorityOfARun, IsAddedToThatOfItsCalls) {
  TestRuntime runtime(registry_);
  runtime.start(worker, "low", "low", {.priority = -2});
  runtime.start(worker, "high", "high", {.priority = 2});
  runtime.start(worker, "plain", "plain");
  runtime.run_until_idle();
  EXPECT_EQ(notes_, (Order{"high urgent", "plain urgent", "high", "low urgent", "plain", "low"}));
}

TEST_F(PriorityOfARun, IsInheritedByItsChildren) {
  TestRuntime runtime(registry_);
  runtime.start(worker, "plain", "plain", {.priority = 1});
  runtime.start(boss, "high", "of the child", {.priority = 9, .delay = 1h});
  runtime.start(worker, "other", "other", {.delay = 1h});
  runtime.run_until_idle();
  EXPECT_EQ(notes_, (Order{"plain urgent", "plain"}));
  notes_.clear();
  runtime.advance(1h);
  // All four calls wait before the first one runs: the child's go before.
  EXPECT_EQ(notes_, (Order{"of the child urgent", "of the child", "other urgent", "other"}));
}

TEST_F(PriorityOfARun, OutOfRangeIsRefusedAtTheCall) {
  TestRuntime runtime(registry_);
  EXPECT_THROW(runtime.start(worker, "a", "a", {.priority = 101}), InvalidArgument);
  EXPECT_THROW(runtime.start(worker, "a", "a", {.priority = -101}), InvalidArgument);
}

}  // namespace

}  // namespace perdure::test::priority_test
