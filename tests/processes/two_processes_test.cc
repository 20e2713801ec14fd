#include <algorithm>
#include <csignal>
#include <iostream>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "tests/processes/histories.h"
#include "tests/processes/world.h"

namespace perdure::test::two_processes_test {
namespace {

using namespace std::chrono_literals;

constexpr int kRuns = 10;
/// Far below the lock timeout of 30 s: tells a takeover from a lock that lapsed.
constexpr auto kFarTooLate = 20s;

class TwoProcesses : public ::testing::Test {
 protected:
  void start(const std::string& prefix) {
    for (int i = 0; i < kRuns; ++i) {
      (void)world_.client().start(waiting, prefix + std::to_string(i), i);
    }
  }

  /// Runs of which the first worker has the handlers in its hands, and another worker beside it.
  void let_the_first_hold(const std::string& prefix) {
    world_.marks(0).hold = 1;
    first_ = world_.spawn(0);
    start(prefix);
    ASSERT_TRUE(eventually([&] { return world_.marks(0).handlers == kRuns; }));
    second_ = world_.spawn(1);
  }

  void expect_done_by(const std::string& prefix, const Child& worker) {
    for (int i = 0; i < kRuns; ++i) {
      const Done done = world_.client().find<Done>(prefix + std::to_string(i)).wait(kFarTooLate);
      EXPECT_EQ(done.value, i);
      EXPECT_EQ(done.pid, worker.pid()) << prefix << i;
    }
  }

  void kill_the_first(std::chrono::milliseconds& moved);

  std::vector<Epoch> epochs_of(const Child& worker) {
    std::vector<Epoch> epochs;
    for (const ProcessInfo& each : world_.store().list_processes().value()) {
      if (each.pid == worker.pid()) epochs.push_back(each.epoch);
    }
    return epochs;
  }

  World world_;
  std::unique_ptr<Child> first_;
  std::unique_ptr<Child> second_;
};

/// Kills the first while it holds work; answers after what time the second had begun all of it.
void TwoProcesses::kill_the_first(std::chrono::milliseconds& moved) {
  ASSERT_NO_FATAL_FAILURE(let_the_first_hold("a"));
  first_->send(SIGKILL);
  const auto killed = steady_now();
  ASSERT_TRUE(eventually([&] { return world_.marks(1).begun >= kRuns; }, kFarTooLate));
  moved = std::chrono::duration_cast<std::chrono::milliseconds>(steady_now() - killed);
  expect_done_by("a", *second_);
  std::cout << "the work moved within " << moved.count() << " ms of SIGKILL" << std::endl;
  EXPECT_EQ(first_->end(), "was ended by SIGKILL");
  EXPECT_EQ(end_quietly(*second_), "returned 0");
  for (const StoredExecution& each : read_all(world_.store())) EXPECT_EQ(violation_in(each), "");
  EXPECT_EQ(left_in_queues(world_.store()), "");
}

TEST_F(TwoProcesses, TheSurvivorTakesTheWorkOfTheKilled) {
  std::chrono::milliseconds moved{};
  kill_the_first(moved);
}

/// A bound for a machine that does nothing else.
using TwoProcessesSoak = TwoProcesses;

TEST_F(TwoProcessesSoak, TheSurvivorTakesTheWorkOfTheKilledWithinTwoSeconds) {
  std::chrono::milliseconds moved{};
  ASSERT_NO_FATAL_FAILURE(kill_the_first(moved));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LE(moved, 2s);
#endif
}

TEST_F(TwoProcesses, AProcessThatWasStoppedTooLongCanWriteNothingAndBeginsAnew) {
  ASSERT_NO_FATAL_FAILURE(let_the_first_hold("a"));
  const std::vector<Epoch> before = epochs_of(*first_);
  ASSERT_EQ(before.size(), 1U);

  // It stops where it is about to write, outside a transaction; the other finishes all.
  world_.marks(0).order = Order::kStopBeforeWrite;
  first_->wait_for_stop();
  expect_done_by("a", *second_);
  const std::vector<StoredExecution> finished = read_all(world_.store());

  // What it held comes back late, is refused, and it registers anew.
  world_.marks(0).hold = 0;
  first_->send(SIGCONT);
  ASSERT_TRUE(eventually([&] {
    const std::vector<Epoch> now = epochs_of(*first_);
    return now.size() == 1 && now != before && world_.marks(0).handlers == 0;
  }));

  // Alone, it goes on.
  EXPECT_EQ(end_quietly(*second_), "returned 0");
  start("b");
  expect_done_by("b", *first_);
  EXPECT_EQ(end_quietly(*first_), "returned 0");

  std::vector<StoredExecution> all = read_all(world_.store());
  for (const StoredExecution& each : all) EXPECT_EQ(violation_in(each), "");
  std::erase_if(all, [](const StoredExecution& each) { return each.id.starts_with("b"); });
  EXPECT_TRUE(all == finished) << "something of the first was written after all";
  EXPECT_EQ(left_in_queues(world_.store()), "");
}

}  // namespace
}  // namespace perdure::test::two_processes_test
