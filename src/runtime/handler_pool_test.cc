#include "runtime/handler_pool.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/guarded.h"

namespace perdure::runtime {

namespace {

using namespace std::chrono_literals;
constexpr std::chrono::seconds kHanging{60};

/// Shared with tasks, which may outlive a test.
struct Door {
  void open() {
    {
      const std::lock_guard lock(mutex);
      is_open = true;
    }
    changed.notify_all();
  }
  bool wait(std::chrono::milliseconds bound = kHanging) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, bound, [this] { return is_open; });
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool is_open = false;
};

TEST(HandlerPool, HasAThreadForEachTask) {
  HandlerPool pool;
  const auto all = std::make_shared<std::barrier<>>(11);
  for (int i = 0; i < 10; ++i) pool.run([all] { all->arrive_and_wait(); });
  all->arrive_and_wait();
  EXPECT_EQ(pool.close(steady_now() + kHanging), 0U);
}

TEST(HandlerPool, UsesAThreadAgain) {
  HandlerPool pool;
  const auto ids = std::make_shared<Guarded<std::set<std::thread::id>>>();
  for (int i = 0; i < 100; ++i) {
    const auto done = std::make_shared<Door>();
    pool.run([ids, done] {
      ids->with([](std::set<std::thread::id>& set) { set.insert(std::this_thread::get_id()); });
      done->open();
    });
    ASSERT_TRUE(done->wait());
  }
  // A task may come before the thread of the last one waits again.
  EXPECT_LT(ids->with([](const std::set<std::thread::id>& set) { return set.size(); }), 100U);
}

TEST(HandlerPool, HasNoMoreThreadsThanTasksAtATime) {
  constexpr int kAtATime = 4;
  std::counting_semaphore<kAtATime> places(kAtATime);
  std::size_t most = 0;
  for (int round = 0; round < 100; ++round) {
    HandlerPool pool;  // so that threads begin in each round
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(places.try_acquire_for(kHanging));
      pool.run([] {}, [&places] { places.release(); });
      most = std::max(most, pool.threads());
    }
    ASSERT_EQ(pool.close(steady_now() + kHanging), 0U);
  }
  EXPECT_LE(most, static_cast<std::size_t>(kAtATime));
}

TEST(HandlerPool, EndsThreadsThatHaveNothingToDo) {
  HandlerPool pool(1ms);
  const auto done = std::make_shared<Door>();
  pool.run([done] { done->open(); });
  ASSERT_TRUE(done->wait());
  const auto until = steady_now() + kHanging;
  while (pool.threads() > 0 && steady_now() < until) std::this_thread::yield();
  EXPECT_EQ(pool.threads(), 0U);
}

TEST(HandlerPool, RunsWhatWasHandedInBeforeItCloses) {
  std::atomic<int> ran{0};
  HandlerPool pool;
  for (int i = 0; i < 50; ++i) pool.run([&ran] { ++ran; });
  EXPECT_EQ(pool.close(steady_now() + kHanging), 0U);
  EXPECT_EQ(ran, 50);
}

TEST(HandlerPool, LeavesATaskThatDoesNotEndToItself) {
  const auto begun = std::make_shared<Door>();
  const auto may_end = std::make_shared<Door>();
  const auto ended = std::make_shared<Door>();
  {
    HandlerPool pool;
    pool.run([begun, may_end, ended] {
      begun->open();
      may_end->wait();
      ended->open();
    });
    ASSERT_TRUE(begun->wait());
    EXPECT_EQ(pool.close(steady_now()), 1U);
  }
  may_end->open();
  EXPECT_TRUE(ended->wait()) << "after the pool is gone";
}

TEST(HandlerPool, WaitsForWhatComesAfterATask) {
  const auto both = std::make_shared<std::barrier<>>(2);
  Door begun;
  Door closed;
  std::atomic<bool> done{false};
  HandlerPool pool;
  pool.run([both] { both->arrive_and_wait(); });  // its thread has nothing to do afterwards
  pool.run([both] { both->arrive_and_wait(); },
           [&] {
             begun.open();
             while (pool.threads() > 1) std::this_thread::yield();  // until the pool closes
             EXPECT_FALSE(closed.wait(50ms));
             done = true;
           });
  ASSERT_TRUE(begun.wait());
  EXPECT_EQ(pool.close(steady_now()), 0U);
  EXPECT_TRUE(done);
  closed.open();
}

}  // namespace

}  // namespace perdure::runtime
