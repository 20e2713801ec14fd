#include <functional>
#include <thread>
#include <utility>

#include "tests/runtime/steps_fixture.h"

/// Frames that are to go while the code in them runs.
namespace perdure::test::eviction_test {

namespace {

using namespace std::chrono_literals;

std::function<void()> in_turn;  ///< called once, by the code of the next turn
int alive = 0;                  ///< objects in frames
int caught = 0;                 ///< exceptions that came into user code

struct Counted {
  Counted() { ++alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive; }
};

/// For as long as main does not end.
Task<void> stay_beside(OrchestrationContext& ctx) {
  const Counted counted;
  try {
    co_await ctx.timer(24h);
  } catch (...) {
    ++caught;
    throw;
  }
}

constexpr Orchestration<int(int)> host{"host"};

Task<int> run_host(OrchestrationContext& ctx, int value) {
  const Counted counted;
  auto beside = ctx.spawn(stay_beside(ctx));
  try {
    value = co_await ctx.call(add_one, value);
    if (in_turn) std::exchange(in_turn, nullptr)();
    value = co_await ctx.call(add_one, value);
  } catch (...) {
    ++caught;
    throw;
  }
  co_return value;
}

class Eviction : public Steps {
 protected:
  Eviction() {
    alive = 0;
    caught = 0;
    registry_.add(host, run_host);
  }
  ~Eviction() override { in_turn = nullptr; }

  /// Has `evict` called by another thread while a turn of the run is in its code, and takes the run
  /// through that turn.
  void evict_in_a_turn(const std::function<void()>& evict) {
    start("a", "host");
    ASSERT_TRUE(turn());
    ASSERT_TRUE(work());
    ASSERT_EQ(alive, 2);
    bool called = false;
    in_turn = [&] {
      std::thread(evict).join();
      called = true;
      EXPECT_EQ(alive, 2) << "the frames are in use";
    };
    ASSERT_TRUE(turn());
    EXPECT_TRUE(called);
    EXPECT_EQ(store_.commits.size(), 2U) << "the turn counts";
    EXPECT_TRUE(store_.abandoned.empty());
  }
  void expect_frames(std::size_t count) {
    EXPECT_EQ(frames_.counts().frames, count);
    EXPECT_EQ(alive, static_cast<int>(2 * count)) << "main and the task beside it, together";
  }
  /// As if nothing had happened, and no exception has come into the code but that of its end.
  void expect_good_end() {
    EXPECT_EQ(caught, 0);
    finish();
    EXPECT_EQ(info("a").output, "3");
    EXPECT_EQ(alive, 0);
  }
};

TEST_F(Eviction, BetweenTurnsDestroysMainAndWhatRunsBesideItAtOnce) {
  start("a", "host");
  turn();
  expect_frames(1);
  frames_.clear();
  expect_frames(0);
  expect_good_end();
}

TEST_F(Eviction, ForWantOfRoomIsDeferredWhileTheTurnRuns) {
  evict_in_a_turn([this] { frames_.set_limits({.count = 0}); });
  expect_frames(0);
  EXPECT_EQ(frames_.counts().evicted_for_count, 1U) << "when the turn was committed";
  expect_good_end();
}

TEST_F(Eviction, AtTheEndOfTheRegistrationIsDeferredWhileTheTurnRuns) {
  evict_in_a_turn([this] { frames_.close(); });
  expect_frames(0);
  EXPECT_EQ(frames_.counts().evicted_cleared, 1U) << "when the turn was committed";
  expect_good_end();
}

TEST_F(Eviction, OfAllFramesThatAreKeptLeavesThoseInUse) {
  evict_in_a_turn([this] { frames_.clear(); });
  expect_frames(1);
  expect_good_end();
  EXPECT_EQ(store_.history_reads, 1U) << "it was never replayed";
}

TEST_F(Eviction, OfATurnThatIsRefusedComesAfterTheTurn) {
  start("a", "host");
  turn();
  work();
  in_turn = [&] {
    store_.ack_error = lock_lost("others have it");
    EXPECT_EQ(alive, 2);
  };
  ASSERT_TRUE(turn());
  expect_frames(0);
  clock_.advance(30s);  // the lock ends
  expect_good_end();
}

}  // namespace

}  // namespace perdure::test::eviction_test
