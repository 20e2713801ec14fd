#include <iostream>

#include <gtest/gtest.h>

#include "tests/processes/histories.h"
#include "tests/processes/world.h"

namespace perdure::test::poison_test {
namespace {

using namespace std::chrono_literals;

constexpr int kNeighbours = 20;
const int kMaxAttempts = RuntimeOptions().max_attempts;

bool has_ended(const World& world, const std::string& id) {
  return is_terminal(world.client().status(id).status);
}

TEST(Poison, TheHandlerThatKillsItsProcessIsFailedAndNoOther) {
  World world;
  for (int i = 0; i < kNeighbours / 2; ++i) {
    (void)world.client().start(chain, "good-" + std::to_string(i), i);
  }
  const auto guilty = world.client().start(doomed, "guilty", 1);
  for (int i = kNeighbours / 2; i < kNeighbours; ++i) {
    (void)world.client().start(chain, "good-" + std::to_string(i), i);
  }

  int crashes = 0;
  while (crashes < 3 * kMaxAttempts) {
    auto worker = world.spawn_only();
    ASSERT_TRUE(eventually([&] { return worker->has_ended() || has_ended(world, "guilty"); }));
    if (!worker->has_ended()) {
      const Outcome<int> end = guilty.outcome(60s);
      EXPECT_EQ(end.failure().type, kPoisonFailure) << end.failure().message;
      for (int i = 0; i < kNeighbours; ++i) {
        EXPECT_EQ(world.client().find<int>("good-" + std::to_string(i)).wait(60s), i + 4);
      }
      EXPECT_EQ(end_quietly(*worker), "returned 0");
      break;
    }
    ASSERT_EQ(worker->end(), "was ended by SIGKILL");
    ++crashes;
  }
  std::cout << "crashes=" << crashes << " max_attempts=" << kMaxAttempts << std::endl;
  EXPECT_GE(crashes, kMaxAttempts);
  EXPECT_LE(crashes, kMaxAttempts + 5) << "a crash beside a turn of a neighbour proves nothing";
  for (const StoredExecution& each : read_all(world.store())) {
    EXPECT_EQ(violation_in(each), "");
    EXPECT_EQ(each.count(EventKind::kActivityCompleted), each.name == "chain" ? 4 : 0);
  }
}

}  // namespace
}  // namespace perdure::test::poison_test
