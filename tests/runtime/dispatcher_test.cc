#include <algorithm>

#include "tests/runtime/steps_fixture.h"

namespace perdure::test::dispatcher_test {

namespace {

using namespace std::chrono_literals;

using Dispatcher = Steps;

TEST_F(Dispatcher, CommitsOneTurnAndKeepsItsFrames) {
  start("a");
  EXPECT_TRUE(turn());
  ASSERT_EQ(store_.commits.size(), 1U);
  EXPECT_EQ(store_.commits[0].engine_version, kVersionString);
  EXPECT_EQ(store_.commits[0].events[0].at, clock_.now());
  EXPECT_EQ(frames_.counts().frames, 1U);
  EXPECT_FALSE(turn());
  finish();
  EXPECT_EQ(info("a").output, "3");
  EXPECT_EQ(begun, 1) << "the frames were kept";
  EXPECT_EQ(store_.history_reads, 1U);
  EXPECT_EQ(frames_.counts().frames, 0U) << "it has ended";
  EXPECT_TRUE(store_.abandoned.empty());
}

TEST_F(Dispatcher, ReplaysWhenFramesAreNotKept) {
  frames_.set_limits({.count = 0});
  start("a");
  finish();
  EXPECT_EQ(info("a").output, "3");
  EXPECT_EQ(begun, 3);
  EXPECT_EQ(count_lines("first step"), 1) << "never again in a replay";
}

TEST_F(Dispatcher, ReplaysWhenTheStoreHasMovedOnWithoutTheFrames) {
  start("a");
  turn();
  auto stale = frames_.take({InstanceKey{1}, ExecutionNo{1}, EventId{2}, LockToken{Epoch{1}, 1}});
  ASSERT_NE(stale, nullptr);
  frames_.keep({InstanceKey{1}, ExecutionNo{1}, EventId{2}, LockToken{Epoch{1}, 9}},
               std::move(stale));
  finish();
  EXPECT_EQ(info("a").output, "3");
  EXPECT_EQ(begun, 2);
}

TEST_F(Dispatcher, ReadsLongHistoriesInPages) {
  options_.history_page = 1;
  frames_.set_limits({.count = 0});
  start("a");
  finish();
  EXPECT_EQ(info("a").output, "3");
  EXPECT_GT(store_.history_reads, 3U + 2U);
}

TEST_F(Dispatcher, ComputesARefusedTurnAgainAtOnce) {
  start("a");
  store_.ack_error = conflict("a cancel came");
  EXPECT_TRUE(turn());
  EXPECT_EQ(frames_.counts().frames, 0U) << "no frame survives a commit that did not happen";
  ASSERT_EQ(store_.abandoned.size(), 1U);
  EXPECT_EQ(store_.abandoned[0].delay, Duration::zero());
  EXPECT_EQ(store_.abandoned[0].charge, Charge::kNothing);
  EXPECT_EQ(count_lines("first step"), 0);
  EXPECT_TRUE(turn()) << "no time has passed";
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(count_lines("first step"), 1);
  EXPECT_EQ(store_.commits[1].events, store_.commits[0].events);
}

TEST_F(Dispatcher, DropsATurnWhoseLockIsLost) {
  start("a");
  store_.ack_error = lock_lost("taken");
  turn();
  EXPECT_EQ(frames_.counts().frames, 0U);
  EXPECT_TRUE(store_.abandoned.empty());
  EXPECT_EQ(count_lines("first step"), 0);
  clock_.advance(30s);
  finish();
  EXPECT_EQ(info("a").output, "3");
}

TEST_F(Dispatcher, WaitsLongerAndLongerForAStoreThatIsDown) {
  start("a");
  for (const Duration delay : {500ms, 1000ms, 2000ms}) {
    store_.ack_error = unavailable("disk gone");
    EXPECT_TRUE(turn());
    EXPECT_EQ(store_.abandoned.back().delay, delay);
    EXPECT_EQ(store_.abandoned.back().charge, Charge::kDeferral);
    EXPECT_EQ(info("a").blocked, BlockedReason::kStoreError);
    EXPECT_NE(info("a").blocked_detail.find("disk gone"), std::string::npos);
    const runtime::Step held_back = turn();
    EXPECT_FALSE(held_back);
    EXPECT_EQ(held_back.next_at, clock_.now() + delay);
    clock_.advance(delay);
  }
  finish();
  EXPECT_EQ(info("a").output, "3");
  EXPECT_EQ(info("a").blocked, BlockedReason::kNone);
  EXPECT_EQ(count_lines("first step"), 1);
}

TEST_F(Dispatcher, TakesAnErrorOfTheWholeCallForEachOfItsTurns) {
  start("a");
  start("b");
  store_.ack_call_error = busy("locked");
  turn();
  EXPECT_EQ(store_.abandoned.size(), 2U);
  EXPECT_EQ(frames_.counts().frames, 0U);
  finish();
  EXPECT_EQ(info("a").output, "3");
  EXPECT_EQ(info("b").output, "3");
}

TEST_F(Dispatcher, HarmsNoNeighbourOfATurnThatFailed) {
  start("a");
  start("b");
  store_.ack_error = unavailable("one row");
  turn();
  EXPECT_EQ(store_.abandoned.size(), 1U);
  EXPECT_EQ(frames_.counts().frames, 1U);
  EXPECT_EQ(count_lines("first step instance=b"), 1);
  EXPECT_EQ(count_lines("first step instance=a"), 0);
}

TEST_F(Dispatcher, NeverFailsARunForACommitThatTheStoreDoesNotTake) {
  start("a");
  store_.ack_error = invalid_argument("turn commit: event id 9 where 2 must follow");
  turn();
  EXPECT_EQ(status("a"), ExecutionStatus::kRunning);
  EXPECT_NE(info("a").blocked_detail.find("event id 9"), std::string::npos);
}

TEST_F(Dispatcher, LooksWhetherAnUnknownCommitTookPlace) {
  start("a");
  store_.ack_error = commit_unknown("no answer");
  store_.commit_all_the_same = true;
  turn();
  EXPECT_TRUE(store_.abandoned.empty()) << "it is in the store";
  EXPECT_EQ(count_lines("first step"), 1);
  EXPECT_EQ(frames_.counts().frames, 0U) << "frames come back after a plain success only";
  finish();
  EXPECT_EQ(info("a").output, "3");
  EXPECT_EQ(begun, 2);
}

TEST_F(Dispatcher, ComputesAnUnknownCommitAgainThatDidNotTakePlace) {
  start("a");
  store_.ack_error = commit_unknown("no answer");
  turn();
  EXPECT_EQ(store_.abandoned.size(), 1U);
  EXPECT_EQ(count_lines("first step"), 0);
  finish();
  EXPECT_EQ(info("a").output, "3");
  EXPECT_EQ(count_lines("first step"), 1);
}

TEST_F(Dispatcher, SetsAnItemAsideThatCannotBeRead) {
  start("a");
  start("b");
  store_.on_fetched = [](FetchedOrchestrationItems& fetched) {
    ASSERT_EQ(fetched.items.size(), 2U);
    fetched.items[0].problem = corrupt("table orchestrator_queue, key 1");
  };
  turn();
  EXPECT_EQ(info("a").blocked, BlockedReason::kCorrupt);
  EXPECT_EQ(info("a").blocked_detail, "table orchestrator_queue, key 1");
  EXPECT_EQ(info("b").blocked, BlockedReason::kNone);
  EXPECT_NE(info("b").last_turn.serial, 0);
  EXPECT_GT(store_.abandoned.at(0).delay, Duration::zero());
}

TEST_F(Dispatcher, SetsAHistoryAsideThatCannotBeRead) {
  start("a");
  start("b");
  store_.history_error = corrupt("table history, key 1");
  turn();
  EXPECT_EQ(info("a").blocked, BlockedReason::kCorrupt);
  EXPECT_NE(info("b").last_turn.serial, 0);
  store_.history_call_error = unavailable("gone");
  clock_.advance(1min);
  turn();
  EXPECT_EQ(info("a").blocked, BlockedReason::kStoreError);
  finish();
  EXPECT_EQ(info("a").output, "3");
}

TEST_F(Dispatcher, TakesAHistoryThatEndsTooEarlyForCorrupt) {
  start("a");
  store_.on_fetched = [](FetchedOrchestrationItems& fetched) {
    fetched.items.at(0).last_event = EventId{5};
  };
  turn();
  EXPECT_EQ(info("a").blocked, BlockedReason::kCorrupt);
  EXPECT_NE(info("a").blocked_detail.find("ends at event 1"), std::string::npos)
      << info("a").blocked_detail;
}

/// Asks runs that have ended.
class DispatcherOfEnded : public Steps {
 protected:
  void ask(const std::string& id) {
    MakeRequest query;
    query.kind = RequestKind::kQuery;
    query.id = id;
    query.request = "q";
    query.name = "height";
    ASSERT_TRUE(store_.make_request(std::move(query)).ok());
  }
  RequestState asked(const std::string& id) {
    const InstanceKey key = store_.get_instance(id).value().key;
    return store_.get_request({key, RequestKind::kQuery, "q"}).value();
  }
  void expect_told(const std::string& id, const std::string& type) {
    const RequestState state = asked(id);
    EXPECT_TRUE(is_final(state.stage)) << id << " waits in vain";
    EXPECT_EQ(state.failure.type, type) << state.failure.message;
  }
};

TEST_F(DispatcherOfEnded, TellsWhoAskedThatTheRunCannotBeRead) {
  start("a");
  start("b");
  finish();
  ask("a");
  ask("b");
  store_.on_fetched = [](FetchedOrchestrationItems& fetched) {
    ASSERT_EQ(fetched.items.size(), 2U);
    fetched.items[0].problem = corrupt("table executions, key 1/1");
  };
  turn();
  expect_told("a", "corrupt");
  EXPECT_EQ(asked("a").failure.message, "table executions, key 1/1");
  expect_told("b", "unknown_handler");
  EXPECT_TRUE(store_.abandoned.empty());
}

TEST_F(DispatcherOfEnded, TellsWhoAskedThatTheHistoryCannotBeRead) {
  start("a");
  start("b");
  finish();
  ask("a");
  ask("b");
  store_.history_error = corrupt("table history, key 1");
  turn();
  expect_told("a", "corrupt");
  expect_told("b", "unknown_handler");
}

TEST_F(DispatcherOfEnded, TriesAgainWhenTheStoreIsDown) {
  start("a");
  finish();
  ask("a");
  store_.history_call_error = unavailable("gone");
  turn();
  EXPECT_EQ(asked("a").stage, RequestStage::kWaiting);
  ASSERT_EQ(store_.abandoned.size(), 1U);
  EXPECT_GT(store_.abandoned[0].delay, Duration::zero());
  clock_.advance(store_.abandoned[0].delay);
  turn();
  expect_told("a", "unknown_handler");
}

TEST_F(Dispatcher, TellsOfTroubleWithTheFetch) {
  start("a");
  store_.fetch_error = unavailable("down");
  const runtime::Step step = turn();
  EXPECT_FALSE(step);
  ASSERT_TRUE(step.trouble);
  EXPECT_EQ(step.trouble->code, ErrorCode::kUnavailable);
  EXPECT_TRUE(turn());
}

TEST_F(Dispatcher, TellsWhenItsRegistrationHasEnded) {
  start("a");
  ASSERT_TRUE(store_.take_over({tokens_.epoch()}).ok());
  const runtime::Step step = turn();
  ASSERT_TRUE(step.trouble);
  EXPECT_EQ(step.trouble->code, ErrorCode::kLockLost);
}

TEST_F(Dispatcher, CancelsARunAtItsDeadlineAlsoWhenTheFirstTryFails) {
  run_timeout_ = 1h;
  start("a");
  turn();
  clock_.advance(1h);
  store_.cancel_error = unavailable("down");
  turn();
  EXPECT_EQ(status("a"), ExecutionStatus::kRunning);
  EXPECT_NE(info("a").blocked_detail.find("past its deadline"), std::string::npos);
  clock_.advance(1min);
  settle();
  EXPECT_EQ(status("a"), ExecutionStatus::kCanceled);
  EXPECT_EQ(info("a").cancel_reason, "deadline");
}

TEST_F(Dispatcher, RefusesATurnUnderWhichACancelCame) {
  start("a");
  turn();
  work();
  store_.on_fetched = [this](FetchedOrchestrationItems&) {
    CancelOrchestration cancel;
    cancel.id = "a";
    cancel.reason = "now";
    ASSERT_TRUE(real_->cancel_orchestration(std::move(cancel)).ok());
  };
  settle();
  EXPECT_EQ(status("a"), ExecutionStatus::kCanceled);
  EXPECT_EQ(count_lines("second step"), 0) << "the cancel was applied first";
}

TEST_F(Dispatcher, WarnsOnceOfAHistoryThatGetsLong) {
  constexpr const char* kLong = "the history of a run gets long";
  options_.history_warning_events = 4;
  start("a");
  turn();
  EXPECT_LT(info("a").last_event, EventId{4});
  EXPECT_EQ(count_lines(kLong), 0);
  work();
  turn();
  EXPECT_GE(info("a").last_event, EventId{4});
  EXPECT_EQ(count_lines(kLong), 1);
  const std::string events = "events=" + std::to_string(info("a").last_event.value);
  EXPECT_EQ(count_lines("instance=a orchestration=climber " + events), 1);
  finish();
  EXPECT_EQ(count_lines(kLong), 1);
}

}  // namespace

}  // namespace perdure::test::dispatcher_test
