#include <csignal>
#include <iostream>
#include <thread>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/random.h"
#include "tests/processes/mixed_runs.h"
#include "tests/processes/world.h"

namespace perdure::test::kill_test {
namespace {

using namespace std::chrono_literals;

constexpr int kRuns = 200;
constexpr int kKills = 50;
constexpr int kInFlight = 40;
constexpr int kMostKills = 120;  // some processes may be killed before they have begun
/// Attempts that a life may end, at most. The runs need about a thousand: they last for all kills
/// however fast the machine is.
constexpr int kQuota = 20;

struct Hits {
  int kills = 0;
  int handlers = 0;  ///< kills that hit a handler
  int turns = 0;     ///< kills that hit a turn
  int any = 0;
};

bool is_in_flight(const WorkerMarks& marks) {
  return marks.handlers > 0 || marks.turns > 0;
}

/// Stops the worker in a moment in which it has something in its hands. False: there was none.
bool catch_in_flight(World& world, Child& worker) {
  const auto patience = steady_now() + 1s;
  while (steady_now() < patience) {
    if (!is_in_flight(world.marks())) continue;
    worker.send(SIGSTOP);
    worker.wait_for_stop();
    if (is_in_flight(world.marks())) return true;
    worker.send(SIGCONT);  // it was quicker than the signal
  }
  return false;
}

/// A worker, killed some time after it is ready; in most lives when it has something in its hands.
void kill_one(World& world, Random& random, Hits& hits) {
  auto worker = world.spawn_only();
  world.marks().quota = static_cast<std::int64_t>(random.next() % kQuota);
  ASSERT_EQ(worker->line(), "ready");
  const auto life = std::chrono::microseconds(5'000 + random.next() % 60'000);
  std::this_thread::sleep_for(life);
  if (random.next() % 20 != 0) catch_in_flight(world, *worker);
  worker->send(SIGKILL);
  ASSERT_EQ(worker->end(), "was ended by SIGKILL");
  const WorkerMarks& marks = world.marks();
  ++hits.kills;
  if (marks.handlers > 0) ++hits.handlers;
  if (marks.turns > 0) ++hits.turns;
  if (is_in_flight(marks)) ++hits.any;
}

TEST(Kill, MixedRunsEndRightHoweverOftenTheirWorkerIsKilled) {
  const std::uint64_t seed = SystemRandom().next();
  std::cout << "seed " << seed << std::endl;
  SeededRandom random(seed);
  World world(1'000);  // far more kills than a call may suffer: none of them is poison
  start_mixed_runs(world.client(), kRuns, 3s);
  Hits hits;
  while (hits.kills < kKills || (hits.any < kInFlight && hits.kills < kMostKills)) {
    ASSERT_NO_FATAL_FAILURE(kill_one(world, random, hits));
  }
  const std::int64_t attempts_of_the_killed = world.marks().begun;
  std::size_t ended_before = 0;
  for (const StoredExecution& each : read_all(world.store())) {
    if (is_terminal(each.status)) ++ended_before;
  }

  auto last = world.spawn();
  for (const std::string& wrong : wrong_results(world.client(), kRuns, 60s)) ADD_FAILURE() << wrong;
  EXPECT_EQ(end_quietly(*last), "returned 0");
  for (const std::string& wrong : wrong_histories(world.store(), kRuns)) ADD_FAILURE() << wrong;

  std::cout << "kills=" << hits.kills << " in_flight=" << hits.any << " handlers=" << hits.handlers
            << " turns=" << hits.turns << " attempts_of_the_killed=" << attempts_of_the_killed
            << " ended_before_the_last=" << ended_before << " attempts=" << world.marks().begun
            << std::endl;
  EXPECT_GE(hits.any, kInFlight);
}

}  // namespace
}  // namespace perdure::test::kill_test
