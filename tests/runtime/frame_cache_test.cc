#include "runtime/frame_cache.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "tests/runtime/frame_sample.h"

namespace perdure::test::frame_cache_test {

namespace {

using namespace std::chrono_literals;
using runtime::FrameCache;
using runtime::FrameCounts;
using runtime::FrameKey;
using runtime::ReplayCheckResult;

inline constexpr perdure::Event<int> door{"door"};
inline constexpr Orchestration<void(int)> sleeper{"sleeper"};

std::atomic<int> frames_alive = 0;
std::function<void()> on_destruction;  ///< set while one thread alone destroys frames

/// Lives in a frame.
class Guest {
 public:
  Guest() { ++frames_alive; }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  ~Guest() {
    --frames_alive;
    if (on_destruction) on_destruction();
  }
};

Task<void> run_sleeper(OrchestrationContext& ctx, int) {
  const Guest guest;
  co_await ctx.wait_for(door);
}

const Registry& registry() {
  static const Registry* const all = [] {
    auto* made = new Registry;
    made->add(sleeper, run_sleeper);
    return made;
  }();
  return *all;
}

/// Owns what frames refer to, for as long as the program runs.
SeededRandom& shared_random() {
  static SeededRandom random(1);
  return random;
}

std::unique_ptr<replay::Execution> frames() {
  const detail::OrchestrationHandler& main = *registry().table()->orchestrations().at(0);
  auto made = std::make_unique<replay::Execution>(
      replay::ExecutionSpec{"sleeper", ExecutionNo{1}, main.name, "", "default"},
      main,
      replay::ExecutionOptions{},
      shared_random());
  HistoryEvent started;
  started.id = EventId{1};
  started.name = main.name;
  started.payload = "1";
  made->replay({started}, false);
  made->turn({}, TimePoint{1h});
  return made;
}

std::unique_ptr<replay::Execution> ended_frames() {
  auto made = frames();
  made->turn({FrameSample::raised("door", "1")}, TimePoint{2h});
  return made;
}

FrameKey key(std::int64_t instance, std::int64_t event = 2, std::int64_t turn = 1) {
  return {InstanceKey{instance}, ExecutionNo{1}, EventId{event}, LockToken{Epoch{1}, turn}};
}

/// Every frame went somewhere.
void expect_balance(const FrameCache& cache) {
  const FrameCounts counts = cache.counts();
  EXPECT_EQ(counts.kept, counts.hits + counts.evicted() + counts.frames);
  EXPECT_EQ(static_cast<std::size_t>(frames_alive), counts.frames);
  if (counts.frames == 0) {
    EXPECT_EQ(counts.bytes, 0U);
  }
}

TEST(FrameCache, GivesFramesBackOnce) {
  FrameCache cache({});
  cache.keep(key(1), frames());
  EXPECT_GT(cache.counts().bytes, sizeof(replay::Execution));
  EXPECT_NE(cache.take(key(1)), nullptr);
  EXPECT_EQ(cache.take(key(1)), nullptr);
  EXPECT_EQ(cache.counts().hits, 1U);
  EXPECT_EQ(cache.counts().misses, 1U);
  expect_balance(cache);
}

TEST(FrameCache, GivesOutOnlyTheVeryStateThatIsAskedFor) {
  FrameKey other_execution = key(1);
  other_execution.execution = ExecutionNo{2};
  FrameKey other_epoch = key(1);
  other_epoch.last_turn.epoch = Epoch{2};
  for (const FrameKey& asked : {key(1, 3), key(1, 1), key(1, 2, 9), other_execution, other_epoch}) {
    FrameCache cache({});
    cache.keep(key(1), frames());
    cache.keep(key(2), frames());
    EXPECT_EQ(cache.take(asked), nullptr);
    EXPECT_EQ(cache.counts().evicted_stale, 1U) << "the store has moved on";
    EXPECT_EQ(cache.counts().misses, 1U);
    EXPECT_NE(cache.take(key(2)), nullptr) << "a neighbour";
    expect_balance(cache);
  }
}

TEST(FrameCache, LetsTheLeastRecentlyUsedGoFirst) {
  FrameCache cache({.count = 3});
  for (const int instance : {1, 2, 3}) cache.keep(key(instance), frames());
  cache.keep(key(1, 2, 2), cache.take(key(1)));
  cache.keep(key(4), frames());
  EXPECT_EQ(cache.counts().evicted_for_count, 1U);
  EXPECT_EQ(cache.take(key(2)), nullptr) << "used longest ago";
  EXPECT_NE(cache.take(key(1, 2, 2)), nullptr);
  EXPECT_NE(cache.take(key(3)), nullptr);
  EXPECT_NE(cache.take(key(4)), nullptr);
  expect_balance(cache);
}

TEST(FrameCache, KeepsNothingWithACountOfZero) {
  FrameCache cache({.count = 0});
  cache.keep(key(1), frames());
  EXPECT_EQ(frames_alive, 0);
  EXPECT_EQ(cache.take(key(1)), nullptr);
  EXPECT_EQ(cache.counts().evicted_for_count, 1U);
  expect_balance(cache);
}

TEST(FrameCache, StaysBelowItsBytes) {
  FrameCache measure({});
  measure.keep(key(1), frames());
  const std::size_t one = measure.counts().bytes;
  measure.clear();

  FrameCache cache({.bytes = 3 * one});
  for (const int instance : {1, 2, 3}) cache.keep(key(instance), frames());
  EXPECT_EQ(cache.counts().bytes, 3 * one);
  cache.keep(key(4), frames());
  EXPECT_EQ(cache.counts().bytes, 3 * one);
  EXPECT_EQ(cache.counts().evicted_for_bytes, 1U);
  EXPECT_EQ(cache.take(key(1)), nullptr);
  expect_balance(cache);
}

TEST(FrameCache, DoesNotEmptyItselfForAFrameThatNeverFits) {
  auto giant = frames();
  giant->turn({FrameSample::raised("other", std::string(1'000'000, 'x'))}, TimePoint{2h});
  FrameCache cache({.bytes = 500'000});
  cache.keep(key(1), frames());
  cache.keep(key(2), std::move(giant));
  EXPECT_EQ(cache.counts().evicted_for_bytes, 1U);
  EXPECT_NE(cache.take(key(1)), nullptr);
  EXPECT_EQ(cache.take(key(2)), nullptr);
  expect_balance(cache);
}

TEST(FrameCache, KeepsTheNewerOfTwoStatesWhicheverComesLast) {
  FrameCache cache({});
  cache.keep(key(1, 5, 2), frames());
  cache.keep(key(1, 3, 1), frames());
  EXPECT_EQ(cache.counts().evicted_stale, 1U);
  EXPECT_NE(cache.take(key(1, 5, 2)), nullptr);
  cache.keep(key(1, 3, 1), frames());
  cache.keep(key(1, 5, 2), frames());
  EXPECT_EQ(cache.counts().evicted_stale, 2U);
  EXPECT_NE(cache.take(key(1, 5, 2)), nullptr);
  expect_balance(cache);
}

TEST(FrameCache, HasNoUseForWhatHasEnded) {
  FrameCache cache({});
  cache.keep(key(1), ended_frames());
  EXPECT_EQ(cache.counts().frames, 0U);
  EXPECT_EQ(cache.counts().evicted_ended, 1U);
  expect_balance(cache);
}

TEST(FrameCache, GoesOnAfterItWasClearedButNotAfterItWasClosed) {
  FrameCache cache({});
  cache.keep(key(1), frames());
  cache.clear();
  EXPECT_EQ(frames_alive, 0);
  EXPECT_EQ(cache.counts().evicted_cleared, 1U);
  cache.keep(key(1), frames());
  EXPECT_EQ(cache.counts().frames, 1U);
  cache.close();
  EXPECT_EQ(frames_alive, 0);
  cache.keep(key(1), frames());
  EXPECT_EQ(frames_alive, 0) << "a turn that was under way when the registration ended";
  EXPECT_EQ(cache.counts().evicted_cleared, 3U);
  expect_balance(cache);
}

TEST(FrameCache, ShrinksToNewLimits) {
  FrameCache cache({});
  for (const int instance : {1, 2, 3}) cache.keep(key(instance), frames());
  cache.set_limits({.count = 1});
  EXPECT_EQ(cache.counts().evicted_for_count, 2U);
  EXPECT_NE(cache.take(key(3)), nullptr);
  expect_balance(cache);
}

TEST(FrameCache, CountsChecks) {
  FrameCache cache({});
  cache.note_check(ReplayCheckResult::kSame);
  cache.note_check(ReplayCheckResult::kDiffers);
  cache.note_check(ReplayCheckResult::kUnread);
  EXPECT_EQ(cache.counts().checks, 2U);
  EXPECT_EQ(cache.counts().checks_differed, 1U);
  EXPECT_EQ(cache.counts().checks_unread, 1U);
}

/// Two threads meet here: a destructor that waits, and whoever uses the cache meanwhile.
struct Meeting {
  std::mutex mutex;
  std::condition_variable changed;
  bool destroying = false;
  bool used = false;
  bool met = false;
};

/// Calls `evict` on another thread; true when the cache could be used while a destructor ran.
bool usable_during(FrameCache& cache, const std::function<void()>& evict) {
  Meeting meeting;
  on_destruction = [&meeting] {
    std::unique_lock lock(meeting.mutex);
    meeting.destroying = true;
    meeting.changed.notify_all();
    meeting.met = meeting.changed.wait_for(lock, 20s, [&] { return meeting.used; });
  };
  std::thread evicting(evict);
  {
    std::unique_lock lock(meeting.mutex);
    meeting.changed.wait_for(lock, 20s, [&] { return meeting.destroying; });
  }
  EXPECT_EQ(cache.take(key(99)), nullptr);
  {
    const std::lock_guard lock(meeting.mutex);
    meeting.used = true;
    meeting.changed.notify_all();
  }
  evicting.join();
  on_destruction = nullptr;
  return meeting.met;
}

TEST(FrameCache, DestroysFramesOutsideItsLock) {
  FrameCache cache({.count = 1});
  cache.keep(key(1), frames());
  auto second = frames();
  ASSERT_TRUE(usable_during(cache, [&] { cache.keep(key(2), std::move(second)); }));
  ASSERT_TRUE(usable_during(cache, [&] { cache.take(key(2, 7)); }));
  cache.keep(key(4), frames());
  ASSERT_TRUE(usable_during(cache, [&] { cache.clear(); }));
  cache.keep(key(5), frames());
  ASSERT_TRUE(usable_during(cache, [&] { cache.set_limits({.count = 0}); }));
  auto refused = frames();
  ASSERT_TRUE(usable_during(cache, [&] { cache.keep(key(6), std::move(refused)); }));
  expect_balance(cache);
}

TEST(FrameCache, ServesManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kInstances = 40;
  constexpr int kRounds = 400;
  FrameCache cache({.count = kInstances / 2});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&cache, thread] {
      for (int round = 0; round < kRounds; ++round) {
        // Threads share instances, as dispatchers do, with one state each.
        const int instance = (round * 7 + thread * 3) % kInstances;
        auto taken = cache.take(key(instance));
        if (!taken) taken = frames();
        cache.keep(key(instance), std::move(taken));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const FrameCounts counts = cache.counts();
  EXPECT_EQ(counts.hits + counts.misses, std::uint64_t{kThreads * kRounds});
  EXPECT_EQ(counts.kept, std::uint64_t{kThreads * kRounds});
  EXPECT_LE(counts.frames, std::size_t{kInstances / 2});
  expect_balance(cache);
  cache.clear();
  EXPECT_EQ(frames_alive, 0);
}

}  // namespace

}  // namespace perdure::test::frame_cache_test
