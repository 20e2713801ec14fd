#include <map>

#include <gtest/gtest.h>

#include "tests/processes/histories.h"
#include "tests/processes/world.h"

namespace perdure::test::cascade_test {
namespace {

using namespace std::chrono_literals;

constexpr int kDescendants = kCrowd + kCrowd * kCrowd;
/// What one commit of a cancel reaches, and one that carries it on.
constexpr int kPortion = 1'000;
static_assert(kDescendants > 2 * kPortion);
/// Only what hangs lasts so long.
constexpr auto kPatience = 300s;

/// A run with thousands of descendants in two generations, all waiting.
class CascadeOfMany : public ::testing::Test {
 protected:
  void grow() {
    auto worker = world_.spawn();
    (void)world_.client().start(crowd, "crowd", 2);
    ASSERT_TRUE(eventually([this] { return is_grown(); }, kPatience));
    ASSERT_EQ(end_quietly(*worker), "returned 0");
    ASSERT_EQ(statuses(), (Statuses{{ExecutionStatus::kRunning, 1 + kDescendants}}));
  }

  /// All are there, and then none wants a turn: each has had its first one.
  bool is_grown() {
    return nobody_wants_a_turn() && statuses()[ExecutionStatus::kRunning] == 1 + kDescendants &&
           nobody_wants_a_turn();
  }

  bool nobody_wants_a_turn() {
    std::int64_t turns = 0;
    for (const QueueDepth& queue : world_.store().queue_depths().value().queues) {
      turns += queue.instances_ready + queue.instances_delayed + queue.instances_locked;
    }
    return turns == 0;
  }

  using Statuses = std::map<ExecutionStatus, int>;
  Statuses statuses() {
    Statuses counts;
    for (const RunSummary& run : world_.client().list({}, {.limit = 10'000}).runs) {
      ++counts[run.status];
    }
    return counts;
  }

  bool nobody_is_live() {
    const RunFilter live{.statuses = {ExecutionStatus::kRunning,
                                      ExecutionStatus::kCompleting,
                                      ExecutionStatus::kFailing,
                                      ExecutionStatus::kCanceling}};
    return world_.client().list(live, {.limit = 1}).runs.empty();
  }

  /// Of a worker that dies at the cascade, as the order says.
  std::string end_of_worker(std::size_t number, Order order) {
    return world_.spawn_only(number, order)->end();
  }

  World world_;
};

TEST_F(CascadeOfMany, IsCarriedOnByOthersWhenItsProcessesAreKilled) {
  ASSERT_NO_FATAL_FAILURE(grow());
  const auto told = [](int runs) {
    return Statuses{{ExecutionStatus::kRunning, kDescendants - runs},
                    {ExecutionStatus::kCanceling, 1 + runs}};
  };

  ASSERT_TRUE(world_.client().cancel("crowd", "too many").changed);
  EXPECT_EQ(statuses(), told(kPortion));
  ASSERT_EQ(end_of_worker(0, Order::kDieInCascade), "was ended by SIGKILL");
  EXPECT_EQ(statuses(), told(kPortion)) << "its commit did not take place";
  ASSERT_EQ(end_of_worker(1, Order::kDieBehindCascade), "was ended by SIGKILL");
  EXPECT_EQ(statuses(), told(2 * kPortion)) << "it died in the middle";

  auto survivor = world_.spawn(2);
  EXPECT_EQ(world_.client().wait("crowd", kPatience).cancel_reason, "too many");
  EXPECT_TRUE(eventually([this] { return nobody_is_live(); }, kPatience));
  EXPECT_EQ(end_quietly(*survivor), "returned 0");

  EXPECT_EQ(statuses(), (Statuses{{ExecutionStatus::kCanceled, 1 + kDescendants}}));
  for (const StoredExecution& each : read_all(world_.store())) {
    EXPECT_EQ(each.count(EventKind::kCancelRequested), 1) << each.id << " is told once";
    EXPECT_EQ(each.events.back().kind, EventKind::kCanceled) << each.id;
  }
  EXPECT_EQ(left_in_queues(world_.store()), "");
  const auto rest = world_.store().carry_on_cascades().value();
  EXPECT_EQ(rest.reached, 0);
  EXPECT_EQ(rest.remaining, 0);
}

}  // namespace
}  // namespace perdure::test::cascade_test
