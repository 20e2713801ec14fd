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

void note_most(std::atomic<int>& most_yet, int now) {
  int most = most_yet;
  while (most < now && !most_yet.compare_exchange_weak(most, now)) {
  }
}

Task<void> run_crowded(OrchestrationContext&, int) {
  note_most(turns_most, ++turns_now);
  std::this_thread::sleep_for(2ms);  // another one that may run now does
  --turns_now;
  co_return;
}

TEST_F(LiveRuns, RunNoMoreTurnsAtATimeThanTheyMay) {
  turns_most = 0;
  registry_.add(crowded, run_crowded);
  for (int i = 0; i < 40; ++i) start(crowded, "c" + std::to_string(i), "1");
  RuntimeOptions one = options();
  one.max_concurrent_orchestrations = 1;
  run(one);
  for (int i = 0; i < 40; ++i) end_of("c" + std::to_string(i));
  EXPECT_EQ(turns_most, 1);
}

TEST_F(LiveRuns, RunNoMoreTurnsAtATimeThanTheirQueueMay) {
  turns_most = 0;
  registry_.add(crowded, run_crowded);
  add_plain();
  for (int i = 0; i < 40; ++i) {
    StartOrchestration request;
    request.id = "n" + std::to_string(i);
    request.name = "crowded";
    request.queue = "narrow";
    request.input = "1";
    ASSERT_TRUE(real_->start_orchestration(std::move(request)).ok());
  }
  RuntimeOptions two = options();
  two.workers = {{.queue = "narrow", .max_concurrent_orchestrations = 1}, {.queue = "default"}};
  run(two);
  for (int i = 0; i < 5; ++i) start(climb, "w" + std::to_string(i), "3");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(end_of("w" + std::to_string(i)).output, "3");
  for (int i = 0; i < 40; ++i) end_of("n" + std::to_string(i));
  EXPECT_EQ(turns_most, 1);
}

/// Counts the instances that are locked by who uses it.
class CountingLocks final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  using ForwardingProvider::submit;

  void submit(FetchOrchestrationItems request,
              Completion<FetchedOrchestrationItems> done,
              CallOptions options) override {
    target().submit(
        std::move(request),
        [this, done = std::move(done)](Result<FetchedOrchestrationItems> answer) {
          if (answer.ok()) note_most(most, locked += static_cast<int>(answer->items.size()));
          done(std::move(answer));
        },
        options);
  }
  void submit(AckOrchestrationItems request,
              Completion<Batch<TurnCommitted>> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }
  void submit(AbandonOrchestrationItems request,
              Completion<Batch<void>> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }

  std::atomic<int> locked{0};
  std::atomic<int> most{0};

 private:
  /// They are unlocked before anybody knows.
  template <class Request, class Answer>
  void pass(Request request, Completion<Answer> done, CallOptions options) {
    const auto count = static_cast<int>(request.entries.size());
    target().submit(
        std::move(request),
        [this, count, done = std::move(done)](Result<Answer> answer) {
          locked -= count;
          done(std::move(answer));
        },
        options);
  }
};

TEST_F(LiveRuns, LockNoMoreInstancesThanTheyMayWithAllThreadsTogether) {
  add_plain();
  CountingLocks counting(store_);
  for (int i = 0; i < 60; ++i) start(climb, "c" + std::to_string(i), "2");
  RuntimeOptions three = options();
  three.max_concurrent_orchestrations = 3;
  runtime_ = std::make_unique<Runtime>(
      std::shared_ptr<Provider>(std::shared_ptr<void>(), &counting), registry_, three);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(end_of("c" + std::to_string(i)).output, "2");
  runtime_.reset();
  EXPECT_GE(counting.most, 1);
  EXPECT_LE(counting.most, 3);
  EXPECT_EQ(counting.locked, 0);
}

TEST_F(LiveRuns, RunNoMoreHandlersThanThereAreSlots) {
  struct Counts {
    std::atomic<int> now{0};
    std::atomic<int> most{0};
  };
  const auto counts = std::make_shared<Counts>();
  registry_.add(add_one, [counts](int value) {
    note_most(counts->most, ++counts->now);
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

TEST_F(LiveRuns, HaveSlotsOfTheirOwnInEachQueue) {
  constexpr Orchestration<int(int)> commuter{"commuter"};
  registry_.add(commuter, [](OrchestrationContext& ctx, int value) -> Task<int> {
    co_return co_await ctx.call(add_one, value, {.queue = value == 0 ? "default" : "far"});
  });
  const auto begun = std::make_shared<Gate>();
  const auto leave = std::make_shared<Gate>();
  registry_.add(add_one, [begun, leave](int value) {
    if (value == 0) {
      begun->open();
      EXPECT_TRUE(leave->wait());
    }
    return value + 1;
  });
  RuntimeOptions two = options();
  two.workers = {{.queue = "default", .max_concurrent_activities = 1},
                 {.queue = "far", .max_concurrent_activities = 1}};
  run(two);
  start(commuter, "full", "0");
  ASSERT_TRUE(begun->wait());
  start(commuter, "beside", "1");
  EXPECT_EQ(end_of("beside").output, "2") << "all slots of the other queue are taken";
  EXPECT_EQ(runtime_->health().workers.at(0).running, 1);
  leave->open();
  EXPECT_EQ(end_of("full").output, "1");
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
