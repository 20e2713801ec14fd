#include <atomic>
#include <barrier>
#include <thread>

#include "tests/live/live_fixture.h"

namespace perdure::test::runs_test {

namespace {

constexpr Activity<int(int)> add_one{"add_one"};
constexpr Orchestration<int(int)> climb{"climb"};

Task<int> run_climb(OrchestrationContext& ctx, int steps) {
  int height = 0;
  for (int i = 0; i < steps; ++i) height = co_await ctx.call(add_one, height);
  co_await ctx.timer(1ms);
  co_return height;
}

constexpr Orchestration<int(int)> fan{"fan"};

Task<int> run_fan(OrchestrationContext& ctx, int width) {
  std::vector<Future<int>> calls;
  for (int i = 0; i < width; ++i) calls.push_back(ctx.call(add_one, i));
  int sum = 0;
  for (const int each : co_await when_all(std::move(calls))) sum += each;
  co_return sum;
}

class LiveRuns : public Live {
 protected:
  LiveRuns() {
    registry_.add(climb, run_climb);
    registry_.add(fan, run_fan);
  }
  void add_plain() {
    registry_.add(add_one, [](int value) { return value + 1; });
  }
};

TEST_F(LiveRuns, ReachTheirEnd) {
  add_plain();
  run();
  for (int i = 0; i < 50; ++i) start(climb, "c" + std::to_string(i), "5");
  for (int i = 0; i < 50; ++i) EXPECT_EQ(end_of("c" + std::to_string(i)).output, "5");
}

TEST_F(LiveRuns, BeginWhenTheyWereStartedBeforeTheRuntime) {
  add_plain();
  start(climb, "early", "2");
  run();
  EXPECT_EQ(end_of("early").output, "2");
}

TEST_F(LiveRuns, GiveEachHandlerAThread) {
  const auto all_there = std::make_shared<std::barrier<>>(20);
  registry_.add(add_one, [all_there](int value) {
    all_there->arrive_and_wait();
    return value + 1;
  });
  run();
  start(fan, "wide", "20");
  EXPECT_EQ(end_of("wide").output, "210");
}

constexpr Orchestration<void(int)> crowded{"crowded"};

std::atomic<int> turns_now{0};
std::atomic<int> turns_most{0};

TEST_F(LiveRuns, RunNoMoreTurnsAtATimeThanTheyMay) {
  registry_.add(crowded, [](OrchestrationContext&, int) -> Task<void> {
    const int now = ++turns_now;
    int most = turns_most;
    while (most < now && !turns_most.compare_exchange_weak(most, now)) {
    }
    std::this_thread::sleep_for(2ms);  // another one that may run now does
    --turns_now;
    co_return;
  });
  for (int i = 0; i < 40; ++i) start(crowded, "c" + std::to_string(i), "1");
  RuntimeOptions one = options();
  one.max_concurrent_orchestrations = 1;
  run(one);
  for (int i = 0; i < 40; ++i) end_of("c" + std::to_string(i));
  EXPECT_EQ(turns_most, 1);
}

TEST_F(LiveRuns, RunNoMoreHandlersThanThereAreSlots) {
  struct Counts {
    std::atomic<int> now{0};
    std::atomic<int> most{0};
  };
  const auto counts = std::make_shared<Counts>();
  registry_.add(add_one, [counts](int value) {
    const int now = ++counts->now;
    int most = counts->most;
    while (most < now && !counts->most.compare_exchange_weak(most, now)) {
    }
    std::this_thread::yield();
    --counts->now;
    return value + 1;
  });
  RuntimeOptions three = options();
  three.max_concurrent_activities = 3;
  run(three);
  start(fan, "wide", "200");
  EXPECT_EQ(end_of("wide").output, "20100");
  EXPECT_LE(counts->most, 3);
}

TEST_F(LiveRuns, AreServedByQueue) {
  constexpr Activity<std::string()> where{"where"};
  constexpr Orchestration<std::string()> traveler{"traveler"};
  registry_.add(where, [] { return std::string("here"); });
  registry_.add(traveler, [](OrchestrationContext& ctx) -> Task<std::string> {
    constexpr Activity<std::string()> there{"where"};
    co_return co_await ctx.call(there, {.queue = "far"});
  });
  RuntimeOptions two = options();
  two.workers = {{.queue = "default"}, {.queue = "far", .max_concurrent_activities = 1}};
  run(two);
  start(traveler, "t");
  EXPECT_EQ(end_of("t").output, "\"here\"");
}

TEST_F(LiveRuns, AskNoTableWhileNothingHappens) {
  add_plain();
  run();
  start(climb, "c", "3");
  EXPECT_EQ(end_of("c").output, "3");
  // The loops come to rest: their waits end and begin again, and nobody asks anything.
  wait_for(
      [&] {
        const int asked = store_.asked;
        const int waits = store_.waits;
        wait_for([&] { return store_.waits > waits + 130; }, "waits that begin anew");
        return asked == store_.asked;
      },
      "loops that rest");
}

TEST_F(LiveRuns, OutlastAStoreThatIsDown) {
  add_plain();
  run();
  store_.down = true;
  for (int i = 0; i < 20; ++i) start(climb, "c" + std::to_string(i), "3");
  const int asked = store_.asked;
  wait_for([&] { return store_.asked > asked + 10; }, "several tries");
  store_.down = false;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(end_of("c" + std::to_string(i)).output, "3");
}

TEST_F(LiveRuns, OutlastAnswersThatAreLost) {
  add_plain();
  store_.acks_to_lose = 10;
  run();
  for (int i = 0; i < 20; ++i) start(climb, "c" + std::to_string(i), "5");
  for (int i = 0; i < 20; ++i) {
    const std::string id = "c" + std::to_string(i);
    EXPECT_EQ(end_of(id).output, "5");
  }
}

TEST_F(LiveRuns, GoOnWhenTheProcessWasTakenForDead) {
  const auto taken_over = std::make_shared<Gate>();
  const auto begun = std::make_shared<std::atomic<int>>(0);
  registry_.add(add_one, [taken_over, begun](ActivityContext& ctx, int value) {
    if (++*begun == 1) {
      taken_over->open();
      EXPECT_FALSE(ctx.wait_until_canceled().empty());
      ctx.throw_if_canceled();
    }
    return value + 1;
  });
  run();
  start(climb, "c", "3");
  ASSERT_TRUE(taken_over->wait());
  const auto processes = real_->list_processes().value();
  ASSERT_EQ(processes.size(), 1U);
  ASSERT_TRUE(real_->take_over({processes[0].epoch}).ok());
  EXPECT_EQ(end_of("c").output, "3");
  const auto anew = real_->list_processes().value();
  ASSERT_EQ(anew.size(), 1U);
  EXPECT_GT(anew[0].epoch, processes[0].epoch);
}

}  // namespace

}  // namespace perdure::test::runs_test
