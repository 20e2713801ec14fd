#include <array>
#include <cerrno>
#include <unistd.h>

#include "tests/live/zombies_fixture.h"

/// Handlers that do not stop, beyond their grace.
namespace perdure::test::zombies_test {

namespace {

using namespace zombies;

TEST_F(Zombies, InASleepAreCountedAndHoldNobodyUp) {
  ignore_in([](Doors& doors) {
    while (!doors.leave) std::this_thread::sleep_for(10ms);
  });
  expect_a_zombie_that_holds_nobody_up();
  EXPECT_EQ(log_.count(log::Level::kError, "libc.so"), 1) << "its stack";
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

TEST_F(Zombies, AreAlsoHandlersThatCatchTheCancelAndGoOn) {
  registry_.add(deaf, [doors = doors_](ActivityContext& ctx, int value) {
    ++doors->begun;
    while (!doors->leave) {
      try {
        ctx.sleep_for(1ms);
      } catch (const Canceled&) {
      }
    }
    ++doors->returned;
    return value;
  });
  expect_a_zombie_that_holds_nobody_up();
}

TEST_F(Zombies, AreNeverHandlersThatStopWhenTheyAreTold) {
  const auto begun = std::make_shared<std::atomic<int>>(0);
  registry_.add(deaf, [begun](ActivityContext& ctx, int value) {
    ++*begun;
    ctx.wait_until_canceled();
    ctx.throw_if_canceled();
    return value;
  });
  run();
  for (int i = 0; i < 50; ++i) start(trying, "r" + std::to_string(i), "1");
  wait_for([&] { return *begun == 50; }, "all handlers");
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(cancel("r" + std::to_string(i), "enough").changed);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(end_of("r" + std::to_string(i)).status, ExecutionStatus::kCanceled);
  }
  EXPECT_EQ(runtime_->stop().zombies, 0);
  EXPECT_EQ(log_.count(log::Level::kError, ""), 0);
}

TEST_F(Zombies, AreAlsoHandlersWhoseTimeWasOver) {
  constexpr Orchestration<std::string(int)> limited{"limited"};
  registry_.add(limited, [](OrchestrationContext& ctx, int value) -> Task<std::string> {
    auto call = ctx.call(deaf, value, {.start_to_close = 1s});
    const auto outcome = co_await call.outcome();
    co_return outcome.ok() ? "completed" : outcome.failure().type;
  });
  ignore_in_a_sleep();
  run(impatient());
  start(limited, "l", "1");
  EXPECT_EQ(end_of("l").output, "\"timeout\"");
  wait_for_zombies(1);
}

TEST_F(Zombies, AreAlsoHandlersWhoseClaimWasLost) {
  ignore_in_a_sleep();
  run(impatient());
  start(trying, "z", "1");
  wait_for([&] { return doors_->begun == 1; }, "the handler");
  const auto processes = real_->list_processes().value();
  ASSERT_EQ(processes.size(), 1U);
  ASSERT_TRUE(real_->take_over({processes[0].epoch}).ok());
  wait_for_zombies(1);
  wait_for([&] { return doors_->begun == 2; }, "the next attempt");
  doors_->leave = true;
  EXPECT_EQ(end_of("z").output, "1");
}

TEST_F(Zombies, AreAlsoHandlersThatAShutdownHasLeft) {
  ignore_in_a_sleep();
  RuntimeOptions options = impatient();
  options.shutdown_force_timeout = 0ms;
  run(options);
  start(trying, "z", "1");
  wait_for([&] { return doors_->begun == 1; }, "the handler");
  EXPECT_EQ(runtime_->stop().left, 1);
  wait_for_zombies(1);
  const char* const line = "activity 'deaf' of run 'z', attempt 1, told: the worker shuts down";
  wait_for([&] { return log_.count(log::Level::kError, line) == 1; }, "its line");
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

class ZombiesSoak : public Zombies {};

TEST_F(ZombiesSoak, AreCountedAtTenSecondsByDefault) {
  ignore_in_a_sleep();
  RuntimeOptions options = Live::options();
  options.max_concurrent_activities = 1;
  run(options);
  const Time before = steady_now();
  cancel_running();
  const Time canceled = steady_now();
  start(errands, "e", "1");
  wait_for([&] { return log_.count(log::Level::kError, kZombie) == 1; }, "its line");
  const Time seen = steady_now();
  EXPECT_EQ(end_of("e").output, "2") << "its slot is free";
  const Time next = doors_->errand_at.with([](const std::optional<Time>& at) { return *at; });
  for (const Time at : {seen, next}) {
    EXPECT_GE(at - before, 10s);
    EXPECT_LT(at - canceled, 15s);
  }
  doors_->leave = true;
  wait_for_zombies(0);
  wait_for([&] { return log_.count(log::Level::kInfo, "its outcome is dropped") == 1; }, "its end");
  EXPECT_EQ(end_of("z").status, ExecutionStatus::kCanceled);
}

}  // namespace

}  // namespace perdure::test::zombies_test
