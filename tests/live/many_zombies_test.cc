#include "tests/live/zombies_fixture.h"

/// What zombies do to their runtime and its shutdown.
namespace perdure::test::many_zombies_test {

namespace {

using namespace zombies;

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

TEST_F(Zombies, AreWaitedForByAShutdownAlsoBeforeTheyAreCounted) {
  ignore_in_a_sleep();
  RuntimeOptions options = impatient();
  options.zombie_grace_period = kHanging;
  options.shutdown_force_timeout = 0ms;
  options.zombie_shutdown_timeout = kHanging;
  run(options);
  start(trying, "z", "1");
  wait_for([&] { return doors_->begun == 1; }, "the handler");
  std::thread opener([&] {
    wait_for([&] { return real_->list_processes().value().empty(); }, "the release");
    doors_->leave = true;
  });
  const ShutdownReport report = runtime_->stop();
  EXPECT_EQ(doors_->returned, 1);
  EXPECT_EQ(report.left, 1);
  EXPECT_EQ(report.zombies, 0);
  opener.join();
  EXPECT_EQ(log_.count(log::Level::kError, kZombie), 0);
}

TEST_F(Zombies, AreReportedByAShutdownAlsoBeforeTheyAreCounted) {
  ignore_in_a_sleep();
  RuntimeOptions options = impatient();
  options.zombie_grace_period = kHanging;
  options.shutdown_force_timeout = 0ms;
  run(options);
  start(trying, "z", "1");
  wait_for([&] { return doors_->begun == 1; }, "the handler");
  const ShutdownReport report = runtime_->stop();
  EXPECT_EQ(report.left, 1);
  EXPECT_EQ(report.zombies, 1) << "its thread lives on";
}

TEST_F(Zombies, AreWaitedForByAShutdownNoLongerThanItMay) {
  ignore_in_a_sleep();
  RuntimeOptions options = impatient();
  options.zombie_shutdown_timeout = 300ms;
  run(options);
  cancel_running();
  wait_for_zombies(1);
  const auto begin = steady_now();
  EXPECT_EQ(runtime_->stop().zombies, 1);
  EXPECT_GE(steady_now() - begin, 300ms);
}

TEST_F(Zombies, TooManyEndTheProcessWhenTheTimeForThatIsOverAndNotBefore) {
  ignore_in_a_sleep();
  RuntimeOptions options = impatient();
  options.max_zombie_count = 1;
  options.force_exit_timeout = 500ms;
  const auto fatal = std::make_shared<Guarded<std::optional<Time>>>();
  RuntimeHooks hooks;
  hooks.on_fatal = [fatal](const std::string&) {
    fatal->with([](std::optional<Time>& at) { at = steady_now(); });
  };
  const auto seen = [&] { return fatal->with([](const std::optional<Time>& at) { return at; }); };
  runtime_ = std::make_unique<Runtime>(store(), registry_, options, hooks);
  const auto begin = steady_now();
  cancel_running();
  wait_for([&] { return seen().has_value(); }, "on_fatal");
  EXPECT_GE(*seen() - begin, 500ms);
}

TEST_F(Zombies, TooManyLetTheOthersEndInGoodOrder) {
  constexpr Activity<int(int)> polite{"polite"};
  constexpr Orchestration<int(int)> politely{"politely"};
  const auto begun = std::make_shared<Gate>();
  const auto told = std::make_shared<Gate>();
  const auto may_end = std::make_shared<Gate>();
  registry_.add(polite, [begun, told, may_end](ActivityContext& ctx, int value) {
    if (ctx.attempt() > 1) return value + ctx.attempt();
    begun->open();
    EXPECT_EQ(ctx.wait_until_canceled(), "the worker shuts down");
    told->open();
    EXPECT_TRUE(may_end->wait());
    ctx.throw_if_canceled();
    return -1;
  });
  registry_.add(politely, [](OrchestrationContext& ctx, int value) -> Task<int> {
    constexpr Activity<int(int)> same{"polite"};
    co_return co_await ctx.call(same, value);
  });
  ignore_in_a_sleep();
  RuntimeOptions options = impatient();
  options.max_concurrent_activities = 2;
  options.max_zombie_count = 1;
  options.force_exit_timeout = 0ms;
  options.shutdown_force_timeout = kHanging;
  run(options);
  start(politely, "p", "10");
  ASSERT_TRUE(begun->wait());
  cancel_running();
  ASSERT_TRUE(told->wait());
  EXPECT_FALSE(runtime_->health().ready);
  EXPECT_FALSE(runtime_->health().live);
  start(errands, "late", "1");
  may_end->open();
  const ShutdownReport report = runtime_->stop();
  EXPECT_EQ(report.left, 0);
  EXPECT_EQ(report.zombies, 1);
  EXPECT_EQ(info("p").status, ExecutionStatus::kRunning);
  EXPECT_EQ(info("late").status, ExecutionStatus::kRunning) << "nothing more is claimed";
  options.max_zombie_count = 0;
  run(options);
  EXPECT_EQ(end_of("p").output, "12") << "the second attempt, of a call without retries";
  EXPECT_EQ(end_of("late").output, "2");
}

TEST_F(Zombies, OfAllQueuesAndTurnsAreOneCount) {
  doors_of_turns = doors_;
  registry_.add(blocking, run_blocking);
  ignore_in_a_sleep();
  RuntimeOptions options = impatient();
  options.workers = {{.queue = "default"}, {.queue = "far"}};
  options.orchestration_deadlock_timeout = 50ms;
  options.replay_check_fraction = 0.0;
  options.max_zombie_count = 3;
  options.force_exit_timeout = 0ms;
  run(options);
  wait_for([&] { return runtime_->health().ready; }, "readiness");
  cancel_running("near");
  cancel_running("far", "far");
  wait_for_zombies(2);
  EXPECT_TRUE(runtime_->health().live);
  start_in("far", blocking, "turn");
  wait_for([&] { return !runtime_->health().live; }, "the end of its life");
  const RuntimeHealth health = runtime_->health();
  EXPECT_EQ(health.zombies, 3);
  EXPECT_EQ(health.workers.at(0).zombies, 1);
  EXPECT_EQ(health.workers.at(1).zombies, 2) << "a handler and a turn";
  EXPECT_EQ(runtime_->stop().zombies, 3);
}

TEST_F(Zombies, OfOtherRuntimesOfTheProcessCountToo) {
  ignore_in_a_sleep();
  RuntimeOptions options = impatient();
  options.max_zombie_count = 0;
  run(options);
  cancel_running();
  wait_for_zombies(1);
  options.max_zombie_count = 1;
  options.force_exit_timeout = 0ms;
  Runtime other(store(), registry_, options);
  EXPECT_FALSE(other.health().live);
  EXPECT_EQ(other.stop().zombies, 0) << "it has none itself";
  EXPECT_TRUE(runtime_->health().live);
}

}  // namespace

}  // namespace perdure::test::many_zombies_test
