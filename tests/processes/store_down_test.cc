#include <iostream>
#include <thread>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "provider/sqlite/connection.h"
#include "tests/processes/mixed_runs.h"
#include "tests/processes/world.h"

namespace perdure::test::store_down_test {
namespace {

using namespace std::chrono_literals;

constexpr int kRuns = 120;

std::size_t events_in(Provider& store) {
  std::size_t events = 0;
  for (const StoredExecution& each : read_all(store)) events += each.events.size();
  return events;
}

/// A worker in the middle of many runs.
class StoreDown : public ::testing::Test {
 protected:
  void SetUp() override {
    start_mixed_runs(world_.client(), kRuns, 1s);
    worker_ = world_.spawn();
    ASSERT_TRUE(eventually([&] { return world_.marks().begun > kRuns / 4; }));
  }

  /// No commit of anybody: what is stored stays as it is for the time.
  void expect_nothing_moves(std::chrono::milliseconds time) {
    const std::size_t before = events_in(world_.store());
    std::this_thread::sleep_for(time);
    EXPECT_EQ(events_in(world_.store()), before) << "the store was not down";
  }

  void lock_the_file(std::chrono::milliseconds time) {
    auto other = sqlite::Connection::open(world_.file(), sqlite::Access::kReadWrite);
    other->set_busy_timeout(30s);
    other->exec("BEGIN EXCLUSIVE");
    expect_nothing_moves(time);
    other->exec("ROLLBACK");
  }

  void fail_writes(Order how, std::chrono::milliseconds time) {
    world_.order(0, how);
    // A store writes one group after the other: behind the first that fails nothing is under way.
    EXPECT_TRUE(eventually([&] { return world_.marks().refused > 0; })) << "no write has failed";
    if (how == Order::kLoseAnswers) {
      std::this_thread::sleep_for(time);  // what is not answered is stored
    } else {
      expect_nothing_moves(time);
    }
    world_.order(0, Order::kNothing);
  }

  void expect_all_goes_on() {
    EXPECT_FALSE(worker_->has_ended());
    for (const std::string& wrong : wrong_results(world_.client(), kRuns, 60s)) {
      ADD_FAILURE() << wrong;
    }
    EXPECT_EQ(end_quietly(*worker_), "returned 0");
    for (const std::string& wrong : wrong_histories(world_.store(), kRuns)) {
      ADD_FAILURE() << wrong;
    }
  }

  World world_;
  std::unique_ptr<Child> worker_;
};

using StoreDownSoak = StoreDown;

TEST_F(StoreDown, AFileLockedByAnotherProcessDelaysAndFailsNothing) {
  lock_the_file(3s);
  expect_all_goes_on();
}

TEST_F(StoreDown, WritesThatFailDelayAndFailNothing) {
  for (const Order how : {Order::kFailBegins, Order::kFailCommits, Order::kLoseAnswers}) {
    fail_writes(how, 1s);
  }
  expect_all_goes_on();
}

TEST_F(StoreDownSoak, AFileLockedForThirtySeconds) {
  lock_the_file(30s);
  expect_all_goes_on();
}

TEST_F(StoreDownSoak, WritesThatFailForThirtySeconds) {
  for (const Order how : {Order::kFailBegins, Order::kFailCommits, Order::kLoseAnswers}) {
    fail_writes(how, 10s);
  }
  expect_all_goes_on();
}

}  // namespace
}  // namespace perdure::test::store_down_test
