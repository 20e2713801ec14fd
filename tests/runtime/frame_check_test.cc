#include <cmath>

#include "runtime/frame_cache.h"
#include "tests/runtime/frame_sample.h"
#include "tests/runtime/steps_fixture.h"

namespace perdure::test::frame_check_test {

namespace {

using namespace std::chrono_literals;

inline constexpr Activity<int(int)> add_two{"add_two"};
inline constexpr perdure::Event<int> door{"door"};
inline constexpr Orchestration<int(int)> shaky{"shaky"};
int shaky_begun = 0;

/// Begins otherwise when it is run again.
Task<int> run_shaky(OrchestrationContext& ctx, int value) {
  const bool first = ++shaky_begun == 1;
  if (first) {
    value = co_await ctx.call(add_one, value);
  } else {
    value = co_await ctx.call(add_two, value);
  }
  co_return co_await ctx.call(add_one, value);
}

/// Writes down the order of what it is asked.
class Witness final : public runtime::FrameKeeper {
 public:
  Witness(runtime::FrameKeeper& target, const TamperedProvider& store)
      : target_(target), store_(store) {}
  std::unique_ptr<replay::Execution> take(const runtime::FrameKey& key) override {
    return target_.take(key);
  }
  void keep(const runtime::FrameKey& key, std::unique_ptr<replay::Execution> frames) override {
    seen.push_back("keep " + std::to_string(key.instance.value));
    target_.keep(key, std::move(frames));
  }
  void note_check(runtime::ReplayCheckResult result) override {
    seen.push_back("check behind " + std::to_string(store_.abandoned.size()) + " given back");
    target_.note_check(result);
  }

  std::vector<std::string> seen;

 private:
  runtime::FrameKeeper& target_;
  const TamperedProvider& store_;
};

class FrameCheck : public Steps {
 protected:
  FrameCheck() {
    shaky_begun = 0;
    options_.replay_check_fraction = 1.0;
    registry_.add(shaky, run_shaky);
    registry_.add(add_two, [](int value) { return value + 2; });
  }
};

TEST_F(FrameCheck, ReplaysEveryCachedTurnAtOne) {
  start("a");
  finish();
  EXPECT_EQ(info("a").output, "3");
  EXPECT_EQ(frames_.counts().hits, 2U);
  EXPECT_EQ(frames_.counts().checks, 2U) << "the last turn too";
  EXPECT_EQ(frames_.counts().checks_differed, 0U);
  EXPECT_EQ(begun, 1 + 2);
  EXPECT_EQ(store_.history_reads, 1U + 2U);
  EXPECT_EQ(count_lines("first step"), 1) << "a check writes nothing to the log of the run";
  EXPECT_EQ(store_.commits.size(), 3U) << "nor to the store";
}

TEST_F(FrameCheck, ReadsTheHistoriesOfABatchTogether) {
  start("a");
  start("b");
  turn();
  work();
  const std::size_t before = store_.history_reads;
  turn();
  EXPECT_EQ(frames_.counts().checks, 2U);
  EXPECT_EQ(store_.history_reads, before + 1);
}

TEST_F(FrameCheck, IsOffAtZero) {
  options_.replay_check_fraction = 0.0;
  start("a");
  finish();
  EXPECT_EQ(frames_.counts().checks, 0U);
  EXPECT_EQ(begun, 1);
}

TEST_F(FrameCheck, TakesNothingButAPart) {
  for (const double fraction : {-0.1, 1.1, std::nan("")}) {
    options_.replay_check_fraction = fraction;
    EXPECT_THROW(runtime::check(options_), InvalidArgument) << fraction;
  }
  for (const double fraction : {0.0, 0.001, 1.0}) {
    options_.replay_check_fraction = fraction;
    EXPECT_NO_THROW(runtime::check(options_)) << fraction;
  }
}

TEST_F(FrameCheck, ChecksThePartThatItIsTold) {
  options_.replay_check_fraction = 0.25;
  constexpr int kRuns = 200;
  for (int i = 0; i < kRuns; ++i) start("r" + std::to_string(i));
  for (int i = 0; i < 100 && (turn() || work()); ++i) {
  }
  ASSERT_EQ(frames_.counts().hits, 2U * kRuns);
  EXPECT_GT(frames_.counts().checks, kRuns / 4U);
  EXPECT_LT(frames_.counts().checks, kRuns * 3U / 4U);
}

TEST_F(FrameCheck, ThrowsFramesAwayThatAReplayRefutes) {
  start("a", "shaky");
  turn();
  work();
  ASSERT_TRUE(turn());
  EXPECT_EQ(frames_.counts().checks_differed, 1U);
  EXPECT_EQ(frames_.counts().frames, 0U);
  EXPECT_EQ(count_lines("a replay differs"), 1);
  EXPECT_EQ(count_lines("instance=a orchestration=shaky position=2 "
                        "expected=\"a call of activity 'add_one'\" "
                        "actual=\"a call of activity 'add_two'\""),
            1);
  EXPECT_EQ(status("a"), ExecutionStatus::kRunning) << "the turn is in the store";
  EXPECT_EQ(info("a").last_event, EventId{4});
  EXPECT_EQ(info("a").blocked, BlockedReason::kNone);
  EXPECT_TRUE(store_.abandoned.empty());
  work();
  turn();
  EXPECT_EQ(info("a").blocked, BlockedReason::kNondeterminism) << "shown beside the run";
  shaky_begun = 0;
  finish();
  EXPECT_EQ(info("a").output, "3") << "and the run goes on when the code is right";
}

TEST_F(FrameCheck, KeepsFramesWhoseHistoryCannotBeRead) {
  start("a");
  turn();
  work();
  store_.history_call_error = unavailable("down");
  ASSERT_TRUE(turn());
  EXPECT_EQ(frames_.counts().checks, 0U);
  EXPECT_EQ(frames_.counts().checks_unread, 1U);
  EXPECT_EQ(frames_.counts().frames, 1U);
  EXPECT_EQ(count_lines("a replay differs"), 0);
  finish();
  EXPECT_EQ(info("a").output, "3");
}

TEST_F(FrameCheck, LetsTheOthersOfItsBatchGoFirst) {
  Witness witness(frames_, store_);
  runtime::OrchestrationDispatcher dispatcher(
      {store_, tokens_, *registry_.table(), witness, attempts_, random_}, options_);
  start("a");
  dispatcher.poll_once();
  work();
  start("b");
  start("c");
  store_.on_fetched = [](FetchedOrchestrationItems& fetched) {
    for (OrchestrationItem& item : fetched.items) {
      if (item.id == "c") item.problem = corrupt("table orchestrator_queue, key 3");
    }
  };
  witness.seen.clear();
  dispatcher.poll_once();
  EXPECT_EQ(witness.seen,
            (std::vector<std::string>{"keep 2", "check behind 1 given back", "keep 1"}));
}

TEST_F(FrameCheck, NeverTakesFramesForGoodWhoseCommitFailed) {
  start("a");
  turn();
  work();
  store_.ack_error = conflict("a cancel came");
  turn();
  EXPECT_EQ(frames_.counts().checks, 0U);
  EXPECT_EQ(frames_.counts().frames, 0U);
}

Task<int> call_and_wait(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(add_one, value);
}

Task<int> wait_at_the_door(OrchestrationContext& ctx, int) {
  co_return co_await ctx.wait_for(door);
}

template <class Main>
Registry only(Main main) {
  Registry registry;
  registry.add(shaky, main);
  return registry;
}

TEST(FrameDifference, IsNoneAfterAReplayOfTheSame) {
  FrameSample run(only(call_and_wait), "1");
  EXPECT_FALSE(run.frames().difference_to(*run.replayed()));
  run.complete(2, "5");
  ASSERT_TRUE(run.frames().has_ended());
  EXPECT_FALSE(run.frames().difference_to(*run.replayed()));
}

TEST(FrameDifference, IsWhatTheyWaitFor) {
  FrameSample calling(only(call_and_wait), "1");
  FrameSample waiting(only(wait_at_the_door), "1");
  const auto difference = calling.frames().difference_to(waiting.frames());
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->position, EventId{2});
  EXPECT_EQ(difference->expected, "a wait for activity 'add_one'");
  EXPECT_EQ(difference->actual, "a wait for event 'door'");
}

TEST(FrameDifference, IsTheEventTheyAreAt) {
  FrameSample run(only(wait_at_the_door), "1");
  const auto earlier = run.replayed();
  run.turn({FrameSample::raised("window", "1")});
  const auto difference = run.frames().difference_to(*earlier);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->position, EventId{2});
  EXPECT_EQ(difference->expected, "event 3 as the last");
  EXPECT_EQ(difference->actual, "event 2 as the last");
}

}  // namespace

}  // namespace perdure::test::frame_check_test
