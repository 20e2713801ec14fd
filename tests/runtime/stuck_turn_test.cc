#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "tests/runtime/steps_fixture.h"

namespace perdure::test::stuck_turn_test {

namespace {

using namespace std::chrono_literals;

/// What the test and the code that is stuck share.
struct Hold {
  void open() {
    {
      const std::lock_guard lock(mutex);
      is_open = true;
    }
    changed.notify_all();
  }
  void wait_open() {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, 60s, [this] { return is_open; }));
  }
  void wait_returned() {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, 60s, [this] { return returned == stuck; }));
  }

  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by mutex.
  bool is_open = false;
  int stuck = 0;
  int returned = 0;
};

Hold* hold = nullptr;       // of the test that runs
int to_block = 0;           // so many more begins of a dawdler block
std::atomic<int> alive{0};  // objects in frames
std::function<void()> at_begin;  // of a dawdler

struct Counted {
  Counted() { ++alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive; }
};

constexpr Orchestration<int(int)> dawdler{"dawdler"};
constexpr Orchestration<int(int)> limited{"limited"};  // the same with a limit of its own

/// Blocks while it begins, also in a replay, when it is told to.
Task<int> run_dawdler(OrchestrationContext& ctx, int value) {
  const Counted counted;
  ++begun;
  if (at_begin) at_begin();
  if (to_block > 0) {
    --to_block;
    hold->wait_open();
  }
  value = co_await ctx.call(add_one, value);
  co_return co_await ctx.call(add_one, value);
}

class StuckTurn : public Steps {
 protected:
  StuckTurn() {
    hold = &hold_;
    to_block = 1;
    alive = 0;
    at_begin = nullptr;
    registry_.add(dawdler, run_dawdler);
    registry_.add(limited, run_dawdler, "", {.deadlock_timeout = 30ms});
    options_.deadlock_timeout = 30ms;
  }
  ~StuckTurn() override {
    let_return();
    dispatcher_.reset();
  }

  /// Before the first turn.
  void watch() {
    runtime::TurnRunner::Parts runner;
    runner.used = registry_.table();
    runner.quarantine = quarantine_;
    runner.queue = "default";
    runner.deadline = deadline_;
    runner.on_stuck = [this](const runtime::StuckTurn& turn) {
      EXPECT_NE(turn.thread.kernel_id, 0) << turn.instance_id;
      EXPECT_EQ(turn.queue, "default");
      const std::lock_guard lock(hold_.mutex);
      ++hold_.stuck;
      return [this] {
        const std::lock_guard returning(hold_.mutex);
        ++hold_.returned;
        hold_.changed.notify_all();
      };
    };
    dispatcher_ = std::make_unique<runtime::OrchestrationDispatcher>(
        runtime::OrchestrationDispatcher::Parts{
            store_, tokens_, *registry_.table(), frames_, attempts_, random_, std::move(runner)},
        options_);
  }
  void let_return() {
    hold_.open();
    hold_.wait_returned();
  }

  /// Of a stop that is told while code of a dawdler runs.
  void hurry_at_the_begin() {
    at_begin = [this] { dispatcher_->hurry(); };
  }
  void expect_given_back(std::size_t from, std::size_t to) {
    ASSERT_EQ(store_.abandoned.size(), to);
    for (std::size_t i = from; i < to; ++i) {
      EXPECT_EQ(store_.abandoned[i].blocked, BlockedReason::kNone);
      EXPECT_EQ(store_.abandoned[i].charge, Charge::kNothing);
      EXPECT_EQ(store_.abandoned[i].delay, 0s);
    }
  }

  Hold hold_;
  std::shared_ptr<runtime::StopDeadline> deadline_;  // empty: none
  std::shared_ptr<runtime::Quarantine> quarantine_ = std::make_shared<runtime::Quarantine>();
};

TEST_F(StuckTurn, IsGivenBackWhileItsNeighboursGoOn) {
  watch();
  start("before");
  start("a", "dawdler");
  start("behind");
  ASSERT_TRUE(turn());
  ASSERT_EQ(store_.abandoned.size(), 1U);
  EXPECT_EQ(store_.abandoned[0].blocked, BlockedReason::kDeadlock);
  EXPECT_EQ(store_.abandoned[0].delay, options_.backoff.after(1));
  EXPECT_EQ(store_.abandoned[0].charge, Charge::kDeferral);
  EXPECT_EQ(info("a").blocked, BlockedReason::kDeadlock);
  EXPECT_NE(info("a").blocked_detail.find("30 ms"), std::string::npos);
  EXPECT_EQ(store_.commits.size(), 2U);
  EXPECT_NE(info("before").last_event, EventId{1});
  EXPECT_NE(info("behind").last_event, EventId{1});
  EXPECT_TRUE(dispatcher_->locks().held().items.empty());
  EXPECT_EQ(frames_.counts().frames, 2U);
  EXPECT_EQ(count_lines("a turn does not return"), 1);
}

TEST_F(StuckTurn, IsNotRunAgainHereUntilItHasReturned) {
  watch();
  start("a", "dawdler");
  ASSERT_TRUE(turn());
  for (int i = 2; i < 5; ++i) {
    clock_.advance(1min);
    ASSERT_TRUE(turn());
    ASSERT_EQ(store_.abandoned.size(), static_cast<std::size_t>(i));
    EXPECT_EQ(store_.abandoned.back().blocked, BlockedReason::kDeadlock);
    EXPECT_EQ(store_.abandoned.back().delay, 1s) << "it does not grow: others may run it";
    EXPECT_EQ(store_.abandoned.back().charge, Charge::kNothing);
    EXPECT_EQ(info("a").blocked, BlockedReason::kDeadlock);
  }
  EXPECT_EQ(begun, 1);
  let_return();
  EXPECT_EQ(alive, 0) << "its thread has destroyed the frames";
  EXPECT_EQ(quarantine_->size(), 0U);
  EXPECT_TRUE(store_.commits.empty()) << "what it decided is dropped";
  finish();
  EXPECT_EQ(info("a").output, "3");
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(alive, 0);
}

TEST_F(StuckTurn, MayBeOneOfSeveral) {
  to_block = 3;
  watch();
  start("a", "dawdler");
  start("b");
  start("c", "dawdler");
  start("d", "dawdler");
  ASSERT_TRUE(turn());
  EXPECT_EQ(store_.abandoned.size(), 3U);
  EXPECT_EQ(store_.commits.size(), 1U);
  EXPECT_EQ(quarantine_->size(), 3U);
}

TEST_F(StuckTurn, HoldsUpNobodyInAHurry) {
  to_block = 2;
  watch();
  start("a", "dawdler");
  start("b", "dawdler");
  start("c");
  hurry_at_the_begin();
  ASSERT_TRUE(turn());
  expect_given_back(1, 3);
  EXPECT_EQ(store_.abandoned[0].blocked, BlockedReason::kDeadlock);
  EXPECT_EQ(begun, 1);
  to_block = 0;
}

// Turns that take their time and return: not each of them is waited for.
TEST_F(StuckTurn, IsNotNeededForAHurryToEndTheBatch) {
  for (const Duration limit : {Duration(0s), Duration(1h)}) {
    to_block = 0;
    begun = 0;
    options_.deadlock_timeout = limit;
    store_.abandoned.clear();
    store_.commits.clear();
    watch();
    for (int i = 0; i < 5; ++i) {
      start(std::to_string(limit.count()) + "-" + std::to_string(i), "dawdler");
    }
    hurry_at_the_begin();
    ASSERT_TRUE(turn());
    EXPECT_EQ(begun, 1);
    EXPECT_EQ(store_.commits.size(), 1U) << "the one that had begun";
    expect_given_back(0, 4);
    ASSERT_TRUE(turn());
    EXPECT_EQ(begun, 1) << "nor is any begun later";
    at_begin = nullptr;
    watch();
    settle();
    EXPECT_EQ(begun, 5);
  }
}

TEST_F(StuckTurn, IsLeftAtTheDeadlineOfAStopWithoutALimit) {
  options_.deadlock_timeout = 0s;
  deadline_ = std::make_shared<runtime::StopDeadline>();
  watch();
  start("a", "dawdler");
  start("b", "dawdler");
  at_begin = [this] { deadline_->set(steady_now()); };
  ASSERT_TRUE(turn());
  expect_given_back(0, 2);
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(count_lines("a turn has not returned when its worker stopped"), 1);
  EXPECT_EQ(hold_.stuck, 1);
  let_return();
  EXPECT_EQ(alive, 0) << "its thread has destroyed the frames";
  EXPECT_TRUE(store_.commits.empty()) << "what it decided is dropped";
}

TEST_F(StuckTurn, EndsWithoutItsCodeWhenTheTimeForCleanupIsOver) {
  frames_.set_limits({.count = 0});
  to_block = 0;
  watch();
  start("a", "dawdler");
  turn();
  work();
  to_block = 1;  // the replay
  ASSERT_TRUE(turn());
  ASSERT_EQ(info("a").blocked, BlockedReason::kDeadlock);
  CancelOrchestration cancel;
  cancel.id = "a";
  cancel.reason = "enough";
  cancel.cleanup_timeout = 10s;
  ASSERT_TRUE(store_.cancel_orchestration(std::move(cancel)).ok());
  turn();
  EXPECT_FALSE(is_terminal(status("a"))) << "its code still has its time";
  clock_.advance(10s);
  settle();
  EXPECT_EQ(status("a"), ExecutionStatus::kCanceled);
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(count_lines("a canceled run is ended without its code"), 1);
}

TEST_F(StuckTurn, HasTheLimitOfItsOrchestration) {
  options_.deadlock_timeout = 0s;
  watch();
  start("a", "limited");
  ASSERT_TRUE(turn());
  EXPECT_EQ(info("a").blocked, BlockedReason::kDeadlock);
}

TEST_F(StuckTurn, IsNotNeededForAHurryToEndAllChecks) {
  to_block = 0;
  options_.replay_check_fraction = 1.0;
  watch();
  for (const char* id : {"a", "b", "c"}) start(id, "dawdler");
  turn();
  work();
  begun = 0;
  hurry_at_the_begin();  // the first replay
  ASSERT_TRUE(turn());
  EXPECT_EQ(store_.commits.size(), 6U);
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(frames_.counts().frames, 3U) << "of those that were not checked, too";
}

TEST_F(StuckTurn, OfACheckLeavesTheCommitAlone) {
  to_block = 0;
  options_.replay_check_fraction = 1.0;
  watch();
  start("a", "dawdler");
  turn();
  work();
  to_block = 1;  // the replay
  ASSERT_TRUE(turn());
  EXPECT_EQ(store_.commits.size(), 2U);
  EXPECT_TRUE(store_.abandoned.empty());
  EXPECT_EQ(frames_.counts().checks_unread, 1U);
  EXPECT_EQ(frames_.counts().frames, 0U) << "they are with the code that is stuck";
  EXPECT_EQ(quarantine_->size(), 1U);
  work();
  ASSERT_TRUE(turn());
  EXPECT_EQ(info("a").blocked, BlockedReason::kDeadlock);
  let_return();
  EXPECT_EQ(alive, 0);
  finish();
  EXPECT_EQ(info("a").output, "3");
}

}  // namespace

}  // namespace perdure::test::stuck_turn_test
