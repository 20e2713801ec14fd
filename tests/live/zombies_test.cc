#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <unistd.h>

#include "base/guarded.h"
#include "tests/live/live_fixture.h"
#include "tests/live/log_lines.h"

/// Handlers that do not stop, beyond their grace.
namespace perdure::test::zombies_test {

namespace {

constexpr Activity<int(int)> deaf{"deaf"};
constexpr Activity<int(int)> errand{"errand"};
constexpr Orchestration<int(int)> trying{"trying"};
constexpr Orchestration<int(int)> errands{"errands"};
constexpr const char* kZombie = "a zombie: it was told to stop, and its thread runs on";

Task<int> run_trying(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(deaf, value);
}
Task<int> run_errands(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(errand, value);
}

/// Shared with handlers, which outlive tests.
struct Doors {
  std::atomic<int> begun{0};
  std::atomic<int> returned{0};
  std::atomic<bool> leave{false};
  std::mutex mutex;
};

class Zombies : public Live {
 protected:
  Zombies() {
    registry_.add(trying, run_trying);
    registry_.add(errands, run_errands);
    registry_.add(errand, [](int value) { return value + 1; });
  }
  ~Zombies() override {
    doors_->leave = true;
    wait_for([&] { return doors_->returned == doors_->begun; }, "the last handler");
    wait_for_zombies(0);
    runtime_.reset();
  }

  static RuntimeOptions impatient() {
    RuntimeOptions options = Live::options();
    options.activity_cancellation_grace_period = 50ms;
    options.zombie_grace_period = 50ms;
    options.zombie_retry_interval = 20ms;
    options.shutdown_grace_period = 0ms;
    options.zombie_shutdown_timeout = 0ms;
    options.max_concurrent_activities = 1;
    return options;
  }
  /// A handler that does `wait` until the test is over.
  void ignore_in(std::function<void(Doors&)> wait, HandlerOptions options = {}) {
    registry_.add(
        deaf,
        [doors = doors_, wait = std::move(wait)](int value) {
          ++doors->begun;
          wait(*doors);
          ++doors->returned;
          return value;
        },
        options);
  }
  void cancel_running(const std::string& id = "z") {
    const int before = doors_->begun;
    start(trying, id, "1");
    wait_for([&] { return doors_->begun > before; }, "the handler");
    EXPECT_TRUE(cancel(id, "enough").changed);
  }
  void wait_for_zombies(int count) {
    wait_for([&] { return runtime_->health().zombies == count; }, "zombies");
  }
  void expect_a_zombie_that_holds_nobody_up() {
    run(impatient());
    cancel_running();
    wait_for_zombies(1);
    wait_for([&] { return log_.count(log::Level::kError, kZombie) == 1; }, "its line");
    EXPECT_EQ(log_.count(log::Level::kError, "activity 'deaf' of run 'z', attempt 1, told: enough"),
              1);
    EXPECT_EQ(runtime_->health().workers.at(0).zombies, 1);
    start(errands, "e", "1");
    EXPECT_EQ(end_of("e").output, "2") << "its slot is free";
    EXPECT_EQ(end_of("z").status, ExecutionStatus::kCanceled);
    doors_->leave = true;
    wait_for_zombies(0);
    wait_for([&] { return log_.count(log::Level::kInfo, "its outcome is dropped") == 1; }, "its end");
    EXPECT_EQ(info("z").output, "");
    EXPECT_TRUE(runtime_->health().ready);
  }

  const std::shared_ptr<Doors> doors_ = std::make_shared<Doors>();
  LogLines log_;
};

TEST_F(Zombies, InASleepAreCountedAndHoldNobodyUp) {
  ignore_in([](Doors& doors) {
    while (!doors.leave) std::this_thread::sleep_for(10ms);
  });
  expect_a_zombie_that_holds_nobody_up();
}

TEST_F(Zombies, InAMutexAreCountedAndHoldNobodyUp) {
  Gate taken;
  std::thread opener([&] {
    const std::lock_guard lock(doors_->mutex);
    taken.open();
    while (!doors_->leave) std::this_thread::sleep_for(1ms);
  });
  ASSERT_TRUE(taken.wait());
  ignore_in([](Doors& doors) { const std::lock_guard lock(doors.mutex); });
  expect_a_zombie_that_holds_nobody_up();
  opener.join();
}

TEST_F(Zombies, InABusyLoopAreCountedAndHoldNobodyUp) {
  ignore_in([](Doors& doors) {
    while (!doors.leave) {
    }
  });
  expect_a_zombie_that_holds_nobody_up();
}

/// Of a handler that reads from a pipe that nobody writes to.
void read_for_ever(const std::shared_ptr<std::array<int, 2>>& pipe, std::atomic<int>& interrupted) {
  char byte = 0;
  if (::read((*pipe)[0], &byte, 1) < 0) ++interrupted;
}

TEST_F(Zombies, AreNoneWhenABlockingCallIsEndedByTheFirstKick) {
  const auto pipe = std::make_shared<std::array<int, 2>>();
  ASSERT_EQ(::pipe(pipe->data()), 0);
  const auto interrupted = std::make_shared<std::atomic<int>>(0);
  ignore_in([pipe, interrupted](Doors&) { read_for_ever(pipe, *interrupted); },
            {.interruptible = true});
  RuntimeOptions options = impatient();
  options.zombie_grace_period = kHanging;
  run(options);
  cancel_running();
  wait_for([&] { return *interrupted == 1; }, "the kick");
  EXPECT_EQ(log_.count(log::Level::kError, kZombie), 0);
  for (const int end : *pipe) ::close(end);
}

TEST_F(Zombies, AreNotKickedWhenTheyDoNotSayThatTheyCanBe) {
  const auto pipe = std::make_shared<std::array<int, 2>>();
  ASSERT_EQ(::pipe(pipe->data()), 0);
  const auto interrupted = std::make_shared<std::atomic<int>>(0);
  ignore_in([pipe, interrupted](Doors&) { read_for_ever(pipe, *interrupted); });
  run(impatient());
  cancel_running();
  wait_for_zombies(1);
  EXPECT_EQ(*interrupted, 0);
  EXPECT_EQ(::write((*pipe)[1], "x", 1), 1);
  wait_for_zombies(0);
  EXPECT_EQ(*interrupted, 0);
  for (const int end : *pipe) ::close(end);
}

TEST_F(Zombies, TooManyStopTheRuntimeAndAskForANewProcess) {
  ignore_in([](Doors& doors) {
    while (!doors.leave) std::this_thread::sleep_for(10ms);
  });
  RuntimeOptions options = impatient();
  options.max_concurrent_activities = 3;
  options.max_zombie_count = 3;
  options.force_exit_timeout = 10ms;
  const auto why = std::make_shared<Guarded<std::string>>();
  RuntimeHooks hooks;
  hooks.on_fatal = [why](const std::string& text) {
    why->with([&](std::string& told) { told = text; });
  };
  runtime_ = std::make_unique<Runtime>(store(), registry_, options, hooks);
  wait_for([&] { return runtime_->health().ready; }, "readiness");
  for (const char* id : {"1", "2", "3"}) cancel_running(id);
  wait_for([&] { return why->with([](const std::string& told) { return !told.empty(); }); },
           "on_fatal");
  EXPECT_EQ(why->with([](const std::string& told) { return told; }),
            "3 threads of this process do not end: max_zombie_count is reached");
  EXPECT_FALSE(runtime_->health().live);
  EXPECT_FALSE(runtime_->health().ready);
  const ShutdownReport report = runtime_->stop();
  EXPECT_EQ(report.zombies, 3);
  EXPECT_TRUE(report.released);
  EXPECT_TRUE(real_->list_processes().value().empty());
}

TEST_F(Zombies, OfAnyNumberAreNoReasonToStopWhenThatIsOff) {
  ignore_in([](Doors& doors) {
    while (!doors.leave) std::this_thread::sleep_for(10ms);
  });
  RuntimeOptions options = impatient();
  options.max_concurrent_activities = 12;
  options.max_zombie_count = 0;
  run(options);
  for (int i = 0; i < 12; ++i) cancel_running("z" + std::to_string(i));
  wait_for_zombies(12);
  EXPECT_TRUE(runtime_->health().ready);
  start(errands, "e", "1");
  EXPECT_EQ(end_of("e").output, "2");
}

TEST_F(Zombies, TooManyDoNotEndTheProcessWhenThatIsOff) {
  ignore_in([](Doors& doors) {
    while (!doors.leave) std::this_thread::sleep_for(10ms);
  });
  RuntimeOptions options = impatient();
  options.max_zombie_count = 1;
  options.force_exit_timeout = 0ms;
  run(options);
  cancel_running();
  wait_for([&] { return !runtime_->health().live; }, "the end of its life");
  EXPECT_EQ(runtime_->stop().zombies, 1);
}

TEST_F(Zombies, AreWaitedForByAShutdownAsLongAsItMay) {
  ignore_in([](Doors& doors) {
    while (!doors.leave) std::this_thread::sleep_for(10ms);
  });
  RuntimeOptions options = impatient();
  options.zombie_shutdown_timeout = kHanging;
  run(options);
  cancel_running();
  wait_for_zombies(1);
  std::thread opener([&] {
    wait_for([&] { return real_->list_processes().value().empty(); }, "the release");
    doors_->leave = true;
  });
  EXPECT_EQ(runtime_->stop().zombies, 0);
  EXPECT_EQ(doors_->returned, 1);
  opener.join();
}

TEST_F(Zombies, AreReportedByAShutdownThatDoesNotWait) {
  ignore_in([](Doors& doors) {
    while (!doors.leave) std::this_thread::sleep_for(10ms);
  });
  run(impatient());
  cancel_running();
  wait_for_zombies(1);
  EXPECT_EQ(runtime_->stop().zombies, 1);
}

}  // namespace

}  // namespace perdure::test::zombies_test
