#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "tests/live/live_fixture.h"
#include "tests/live/log_lines.h"

namespace perdure::test::deadlock_test {

namespace {

constexpr Activity<int(int)> add_one{"add_one"};
constexpr Orchestration<int(int)> climb{"climb"};

Task<int> run_climb(OrchestrationContext& ctx, int steps) {
  int height = 0;
  for (int i = 0; i < steps; ++i) height = co_await ctx.call(add_one, height);
  co_return height;
}

/// What a blocking turn waits for. Shared, since it may outlive a runtime and a test.
struct Doors {
  Gate entered;
  Gate door;
  std::atomic<int> to_block{1};  ///< so many more begins
  std::atomic<int> alive{0};     ///< frames
};

std::shared_ptr<Doors> doors;

struct Counted {
  explicit Counted(std::shared_ptr<Doors> of) : doors(std::move(of)) { ++doors->alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --doors->alive; }
  const std::shared_ptr<Doors> doors;
};

constexpr Orchestration<int(int)> blocker{"blocker"};
constexpr Orchestration<int(int)> patient{"patient"};  // the same with another limit

/// Blocks as it begins, the first time.
Task<int> run_blocker(OrchestrationContext& ctx, int value) {
  const Counted counted(doors);
  if (counted.doors->to_block-- > 0) {
    counted.doors->entered.open();
    EXPECT_TRUE(counted.doors->door.wait());
  }
  co_return co_await ctx.call(add_one, value);
}

constexpr const char* kGivenUp = "a turn does not return";

class LiveDeadlock : public Live {
 protected:
  LiveDeadlock() {
    doors = doors_;
    registry_.add(climb, run_climb);
    registry_.add(add_one, [count = handled_](int value) {
      ++*count;
      return value + 1;
    });
  }
  ~LiveDeadlock() override {
    doors_->door.open();
    runtime_.reset();
    // The frames of turns that were stuck go with their threads.
    wait_for([&] { return doors_->alive == 0; }, "the end of all frames");
  }

  /// With a limit of its own, if it is set.
  void add(const Orchestration<int(int)>& orchestration, std::optional<Duration> limit = {}) {
    registry_.add(orchestration, run_blocker, "", {.deadlock_timeout = limit});
  }
  static RuntimeOptions limited(Duration limit) {
    RuntimeOptions options = Live::options();
    options.orchestration_deadlock_timeout = limit;
    options.replay_check_fraction = 0.0;  // so that it is known how often code begins
    options.zombie_shutdown_timeout = 0ms;
    return options;
  }
  void start_in(const std::string& queue,
                const Orchestration<int(int)>& orchestration,
                const std::string& id) {
    StartOrchestration request;
    request.id = id;
    request.name = std::string(orchestration.name());
    request.queue = queue;
    request.input = "1";
    ASSERT_TRUE(real_->start_orchestration(std::move(request)).ok());
  }
  void wait_until_blocked(const std::string& id) {
    wait_for([&] { return info(id).blocked == BlockedReason::kDeadlock; }, "a deadlock of " + id);
  }
  void start_climbs(int count) {
    for (int i = 0; i < count; ++i) start(climb, "c" + std::to_string(i), "5");
  }
  void expect_climbs(int count) {
    for (int i = 0; i < count; ++i) EXPECT_EQ(end_of("c" + std::to_string(i)).output, "5");
  }
  void wait_for_zombies(int count) {
    wait_for([&] { return runtime_->health().zombies == count; }, "zombies");
  }
  int given_up() const { return log_.count(log::Level::kError, kGivenUp); }

  const std::shared_ptr<Doors> doors_ = std::make_shared<Doors>();
  const std::shared_ptr<std::atomic<int>> handled_ = std::make_shared<std::atomic<int>>(0);
  LogLines log_;
};

TEST_F(LiveDeadlock, IsSeenAfterTwoSecondsAndTheOthersGoOn) {
  add(blocker);
  start(blocker, "stuck", "1");
  start_climbs(20);
  run(limited(RuntimeOptions().orchestration_deadlock_timeout));
  ASSERT_TRUE(doors_->entered.wait());
  const auto begin = steady_now();
  wait_until_blocked("stuck");
  const auto seen_after = steady_now() - begin;
  EXPECT_GE(seen_after, 1900ms);
  EXPECT_LT(seen_after, 10s);
  expect_climbs(20);
  start(climb, "late", "2");
  EXPECT_EQ(end_of("late").output, "2") << "turns that begin now run as well";

  const RunStatus shown = Client(store()).status("stuck");
  EXPECT_EQ(shown.blocked, "deadlock");
  EXPECT_NE(shown.blocked_detail.find("stack is in the log"), std::string::npos)
      << shown.blocked_detail;
  EXPECT_EQ(given_up(), 1);
  EXPECT_EQ(log_.count(log::Level::kError, "instance=stuck orchestration=blocker timeout=\"2 s\""),
            1);
  EXPECT_EQ(log_.count(log::Level::kError, "state=blocked stack="), 1);
  EXPECT_EQ(log_.count(log::Level::kError, "libc.so"), 1) << "where it is";
  EXPECT_EQ(doors_->to_block, 0) << "it is not begun again while it is stuck";

  const int before = *handled_;
  doors_->door.open();
  EXPECT_EQ(end_of("stuck").output, "2");
  EXPECT_EQ(*handled_, before + 1) << "of the turn that was given up nothing is left";
  EXPECT_EQ(doors_->to_block, -1) << "it was begun once more";
  EXPECT_EQ(log_.count(log::Level::kWarning, "a turn that was given up has returned"), 1);
  EXPECT_EQ(info("stuck").blocked, BlockedReason::kNone);
}

TEST_F(LiveDeadlock, HasALimitOfItsQueue) {
  add(blocker);
  doors_->to_block = 2;
  RuntimeOptions two = limited(0s);
  two.workers = {{.queue = "default"},
                 {.queue = "quick", .orchestration_deadlock_timeout = 50ms}};
  run(two);
  start_in("default", blocker, "free");
  ASSERT_TRUE(doors_->entered.wait());
  start_in("quick", blocker, "limited");
  wait_until_blocked("limited");
  EXPECT_EQ(info("free").blocked, BlockedReason::kNone) << "off is off";
  EXPECT_EQ(given_up(), 1);
  doors_->door.open();
  EXPECT_EQ(end_of("free").output, "2");
  EXPECT_EQ(end_of("limited").output, "2");
}

TEST_F(LiveDeadlock, HasALimitOfItsOrchestration) {
  add(blocker, 50ms);
  run(limited(0s));
  start(blocker, "stuck", "1");
  wait_until_blocked("stuck");
  doors_->door.open();
  EXPECT_EQ(end_of("stuck").output, "2");
}

TEST_F(LiveDeadlock, IsOffForAnOrchestrationThatSaysSo) {
  add(blocker);
  add(patient, 0s);
  doors_->to_block = 2;
  RuntimeOptions two = limited(50ms);
  two.workers = {{.queue = "default"}, {.queue = "slow"}};
  run(two);
  start_in("slow", patient, "free");
  ASSERT_TRUE(doors_->entered.wait());
  start_in("default", blocker, "stuck");
  wait_until_blocked("stuck");
  EXPECT_EQ(info("free").blocked, BlockedReason::kNone) << "it has blocked for longer";
  EXPECT_EQ(given_up(), 1);
  doors_->door.open();
  EXPECT_EQ(end_of("free").output, "2");
  EXPECT_EQ(end_of("stuck").output, "2");
}

TEST_F(LiveDeadlock, DoesNotHoldUpTheStop) {
  add(blocker);
  run(limited(200ms));
  start(blocker, "stuck", "1");
  ASSERT_TRUE(doors_->entered.wait());
  runtime_->stop();
  EXPECT_TRUE(real_->list_processes().value().empty());
  EXPECT_EQ(given_up(), 1);
  EXPECT_EQ(log_.count(log::Level::kWarning, "turns that do not return are left to themselves"), 1);
  runtime_.reset();
  EXPECT_EQ(doors_->alive, 1) << "of the turn alone that is stuck";
  doors_->door.open();
  wait_for([&] { return doors_->alive == 0; }, "the end of its frames");
  run();
  EXPECT_EQ(end_of("stuck").output, "2");
}

TEST_F(LiveDeadlock, DoesNotHoldUpTheStopWithTheWatchOff) {
  add(blocker);
  RuntimeOptions hasty = limited(0s);
  hasty.shutdown_grace_period = 100ms;
  hasty.shutdown_force_timeout = 100ms;
  run(hasty);
  start(blocker, "stuck", "1");
  ASSERT_TRUE(doors_->entered.wait());
  const auto begin = steady_now();
  const ShutdownReport report = runtime_->stop();
  EXPECT_GE(steady_now() - begin, 200ms) << "it has this time";
  EXPECT_TRUE(report.released);
  EXPECT_EQ(report.zombies, 1);
  EXPECT_FALSE(doors_->door.is_open());
  EXPECT_EQ(doors_->alive, 1);
  EXPECT_EQ(log_.count(log::Level::kError, "a turn has not returned when its worker stopped"), 1);
  EXPECT_EQ(info("stuck").blocked, BlockedReason::kNone);
  run();
  EXPECT_EQ(end_of("stuck").output, "2") << "another runtime runs it at once";
  EXPECT_EQ(doors_->to_block, -1);
}

TEST_F(LiveDeadlock, DoesNotHoldUpTheStopOfARuntimeThatWasTakenForDead) {
  add(blocker);
  RuntimeOptions hasty = limited(0s);
  hasty.shutdown_grace_period = 100ms;
  hasty.shutdown_force_timeout = 100ms;
  run(hasty);
  start(blocker, "stuck", "1");
  ASSERT_TRUE(doors_->entered.wait());
  const auto processes = real_->list_processes().value();
  ASSERT_EQ(processes.size(), 1U);
  ASSERT_TRUE(real_->take_over({processes[0].epoch}).ok());
  wait_for([&] { return runtime_->health().workers.at(0).status == WorkerStatus::kStopping; },
           "the end of the registration");
  runtime_->stop();
  EXPECT_FALSE(doors_->door.is_open());
  EXPECT_EQ(doors_->alive, 1);
}

TEST_F(LiveDeadlock, IsRunByAnotherRuntimeWhileItsThreadIsStuck) {
  add(blocker);
  run(limited(50ms));
  start(blocker, "stuck", "1");
  wait_until_blocked("stuck");
  runtime_->stop();
  run(limited(50ms));
  EXPECT_EQ(end_of("stuck").output, "2") << "the quarantine is that of one runtime";
  EXPECT_FALSE(doors_->door.is_open());
}

TEST_F(LiveDeadlock, IsRunByAnotherRuntimeBesideTheOneThatIsStuck) {
  add(blocker);
  run(limited(50ms));
  start(blocker, "stuck", "1");
  wait_until_blocked("stuck");
  Runtime second(store(), registry_, limited(50ms));
  EXPECT_EQ(end_of("stuck").output, "2");
  EXPECT_FALSE(doors_->door.is_open());
  EXPECT_EQ(doors_->to_block, -1);
  second.stop();
}

TEST_F(LiveDeadlock, IsAZombieUntilItReturns) {
  add(blocker);
  RuntimeOptions one = limited(50ms);
  one.zombie_grace_period = 10min;  // it had its time
  run(one);
  start(blocker, "stuck", "1");
  wait_until_blocked("stuck");
  wait_for_zombies(1);
  const char* const line = "a turn of 'blocker', run 'stuck'";
  wait_for([&] { return log_.count(log::Level::kError, line) == 1; }, "its line");
  EXPECT_EQ(runtime_->health().workers.at(0).zombies, 1) << "of its queue";
  EXPECT_TRUE(runtime_->health().ready);
  EXPECT_EQ(runtime_->stop().zombies, 1) << "once";
  doors_->door.open();
  wait_for_zombies(0);
}

TEST_F(LiveDeadlock, OfTooManyTurnsStopsTheRuntime) {
  add(blocker);
  doors_->to_block = 2;
  RuntimeOptions two = limited(50ms);
  two.max_zombie_count = 2;
  two.force_exit_timeout = 0ms;
  run(two);
  wait_for_zombies(0);  // of other tests
  start(blocker, "a", "1");
  wait_until_blocked("a");
  wait_for_zombies(1);
  EXPECT_TRUE(runtime_->health().live);
  start(blocker, "b", "1");
  wait_for([&] { return !runtime_->health().live; }, "the end of its life");
  EXPECT_EQ(runtime_->stop().zombies, 2);
  doors_->door.open();
  wait_for_zombies(0);
}

TEST_F(LiveDeadlock, TakesNoPlaceFromOthers) {
  add(blocker);
  doors_->to_block = 3;
  RuntimeOptions one = limited(50ms);
  one.max_concurrent_orchestrations = 1;
  run(one);
  for (const char* id : {"a", "b", "c"}) {
    start(blocker, id, "1");
    wait_until_blocked(id);
  }
  start_climbs(3);
  expect_climbs(3);
  EXPECT_FALSE(doors_->door.is_open());
  doors_->door.open();
  for (const char* id : {"a", "b", "c"}) EXPECT_EQ(end_of(id).output, "2");
  wait_for_zombies(0);
}

/// Of frames, beside turns that take long.
class LiveEviction : public LiveDeadlock {};

TEST_F(LiveEviction, WaitsForTheTurnThatRunsWhenTheRegistrationEnds) {
  add(blocker);
  run(limited(0s));
  start(blocker, "long", "1");
  ASSERT_TRUE(doors_->entered.wait());
  const auto processes = real_->list_processes().value();
  ASSERT_EQ(processes.size(), 1U);
  ASSERT_TRUE(real_->take_over({processes[0].epoch}).ok());
  wait_for([&] { return runtime_->health().workers.at(0).status == WorkerStatus::kStopping; },
           "the end of the registration");
  EXPECT_EQ(doors_->alive, 1) << "its frames are evicted when the turn has returned";
  doors_->door.open();
  EXPECT_EQ(end_of("long").output, "2");
  EXPECT_EQ(doors_->to_block, -1) << "what the turn decided was refused: it was run once more";
}

/// Threads that want a processor all the time.
class Hogs {
 public:
  explicit Hogs(int count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this] {
        while (!stop_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  Hogs(const Hogs&) = delete;
  Hogs& operator=(const Hogs&) = delete;
  ~Hogs() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

class LiveDeadlockAmongHogs : public LiveDeadlock {
 protected:
  /// The turn that blocks is seen, and no other is taken for one that does.
  void try_it() {
    constexpr int kClimbs = 40;
    add(blocker);
    start_climbs(kClimbs);
    const Hogs hogs(8);
    run(limited(100ms));
    expect_climbs(kClimbs);
    EXPECT_EQ(given_up(), 0);
    start(blocker, "stuck", "1");
    wait_until_blocked("stuck");
    start(climb, "beside", "5");
    EXPECT_EQ(end_of("beside").output, "5");
    EXPECT_EQ(given_up(), 1);
    EXPECT_EQ(log_.count(log::Level::kError, "instance=stuck"), 1);
    doors_->door.open();
    EXPECT_EQ(end_of("stuck").output, "2");
  }
};

TEST_F(LiveDeadlockAmongHogs, IsSeenAndNothingElseIs) {
  try_it();
}

class LiveDeadlockSoak : public LiveDeadlockAmongHogs,
                         public ::testing::WithParamInterface<int> {};

TEST_P(LiveDeadlockSoak, IsSeenAmongHogsAndNothingElseIs) {
  try_it();
}

INSTANTIATE_TEST_SUITE_P(Tries, LiveDeadlockSoak, ::testing::Range(0, 50));

}  // namespace

}  // namespace perdure::test::deadlock_test
