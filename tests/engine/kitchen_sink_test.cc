#include "tests/engine/kitchen_sink.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "replay/execution.h"
#include "tests/engine/model_store.h"

namespace perdure::test::kitchen_sink_test {
namespace {

constexpr std::size_t kNever = static_cast<std::size_t>(-1);

/// What happens to a run besides that everything it waits for is answered.
struct Plan {
  std::set<std::size_t> evictions = {};  ///< turns after which the frames are destroyed
  bool evict_always = false;
  std::size_t cancel_at = kNever;     ///< the turn that brings a cancel
  std::size_t fail_at = kNever;       ///< the turn whose answer, of an activity, is a failure
  std::size_t lose_code_at = kNever;  ///< the turn from which on the run is wound down
};

struct Played {
  std::vector<HistoryEvent> history;
  std::vector<Message> messages;  ///< in their order, one for each turn behind the first
  replay::TurnDecisions last;
};

/// A run that a script answers: which of the open things is next depends on the turn alone.
class Kitchen {
 public:
  explicit Kitchen(bool time_stands = false) : time_stands_(time_stands) {
    add_kitchen_sink(registry_);
    make_execution();
    execution_->replay(store_.history(), false);
  }

  void turn(std::vector<Message> messages) {
    if (!time_stands_) now_ += std::chrono::seconds(1);
    const auto result = execution_->turn(messages, now_);
    ASSERT_FALSE(result.mismatch) << to_string(*result.mismatch);
    ASSERT_TRUE(result.warnings.empty()) << result.warnings.front();
    const auto broken = store_.commit(result.decisions);
    ASSERT_FALSE(broken) << *broken;
    last_ = result.decisions;
  }

  void evict() {
    make_execution();
    execution_->replay(store_.history(), true);
    ASSERT_FALSE(execution_->mismatch()) << to_string(*execution_->mismatch());
  }

  void lose_code() {
    has_code_ = false;
    evict();
  }

  Message cancel() {
    store_.cancel();
    Message message;
    message.kind = MessageKind::kCancel;
    message.text = "enough";
    return message;
  }

  /// Answers one of the things that are open.
  Message answer(std::size_t turn, bool fail) const {
    const std::vector<std::string> waits = store_.open_waits();
    std::vector<Message> open;
    for (const auto& [event, work] : store_.work()) {
      Message message = of(MessageKind::kActivityCompleted, event);
      message.payload = std::to_string(event * 10);
      if (work.marked) message.kind = MessageKind::kActivityCanceled;
      if (fail) {
        message.kind = MessageKind::kActivityFailed;
        message.failure = {"broken", "as the script has it", false, {}};
      }
      open.push_back(std::move(message));
    }
    const bool only_work = fail && !open.empty();
    for (const auto& [event, timer] : store_.timers()) {
      if (!only_work) open.push_back(of(MessageKind::kTimerFired, event));
    }
    for (const auto& [event, child] : store_.children()) {
      Message message = of(MessageKind::kChildCompleted, event);
      message.payload = std::to_string(event * 10 + 1);
      if (child.canceled) message.kind = MessageKind::kChildCanceled;
      if (!only_work) open.push_back(std::move(message));
    }
    for (const std::string& name : waits) {
      Message message;
      message.kind = MessageKind::kEventRaised;
      message.name = name;
      message.payload = std::to_string(turn);
      if (!only_work) open.push_back(std::move(message));
    }
    return open.at(turn * 7 % open.size());
  }

  const ModelStore& store() const { return store_; }
  const replay::TurnDecisions& last() const { return last_; }

 private:
  static std::vector<HistoryEvent> start() {
    std::vector<HistoryEvent> history(1);
    history[0].id = EventId{1};
    history[0].name = std::string(kitchen_sink.name());
    history[0].payload = "0";
    return history;
  }
  static Message of(MessageKind kind, std::int64_t event) {
    Message message;
    message.kind = kind;
    message.execution = ExecutionNo{1};
    message.source = EventId{event};
    return message;
  }
  void make_execution() {
    const replay::ExecutionSpec spec{
        "run-1", ExecutionNo{1}, std::string(kitchen_sink.name()), "", "default"};
    const replay::ExecutionOptions options{replay::ArgumentCheck::kStrict};
    if (!has_code_) {
      execution_ = std::make_unique<replay::Execution>(spec, options, random_);
      return;
    }
    execution_ = std::make_unique<replay::Execution>(
        spec, *registry_.table()->find_orchestration(kitchen_sink.name(), ""), options, random_);
  }

  const bool time_stands_;
  bool has_code_ = true;
  Registry registry_;
  SeededRandom random_{3};
  TimePoint now_{std::chrono::hours(500'000)};
  ModelStore store_{start()};
  std::unique_ptr<replay::Execution> execution_;
  replay::TurnDecisions last_;
};

Played play(const Plan& plan, bool time_stands = false) {
  Kitchen kitchen(time_stands);
  Played played;
  for (std::size_t turn = 0; !kitchen.store().has_ended(); ++turn) {
    std::vector<Message> messages;
    if (turn == plan.lose_code_at) kitchen.lose_code();
    if (turn == plan.cancel_at) {
      messages = {kitchen.cancel()};
    } else if (turn > 0) {
      messages = {kitchen.answer(turn, turn == plan.fail_at)};
    }
    played.messages.insert(played.messages.end(), messages.begin(), messages.end());
    kitchen.turn(messages);
    if (testing::Test::HasFatalFailure() || turn > 500) break;
    const bool evicts = plan.evict_always || plan.evictions.contains(turn);
    if (evicts && !kitchen.store().has_ended()) kitchen.evict();
    if (testing::Test::HasFatalFailure()) break;
  }
  EXPECT_TRUE(kitchen.store().has_ended());
  played.history = kitchen.store().history();
  played.last = kitchen.last();
  return played;
}

std::size_t turns_of(const Played& played) {
  return played.messages.size() + 1;
}

void expect_same(const Played& a, const Played& b) {
  ASSERT_EQ(a.history.size(), b.history.size());
  for (std::size_t i = 0; i < a.history.size(); ++i) {
    ASSERT_EQ(to_line(a.history[i]), to_line(b.history[i]));
  }
  EXPECT_EQ(difference(a.last, b.last).value_or("same"), "same");
}

TEST(KitchenSink, WaitsAtManyPointsOfManyKinds) {
  take_await_counts();
  const Played kept = play({});
  int points = 0;
  const auto counts = take_await_counts();
  for (const auto& [kind, count] : counts) points += count;
  RecordProperty("points", points);
  RecordProperty("kinds", static_cast<int>(counts.size()));
  RecordProperty("turns", static_cast<int>(turns_of(kept)));
  EXPECT_GE(points, 25);
  EXPECT_GE(counts.size(), 12u);
  EXPECT_EQ(kept.last.status, ExecutionStatus::kCompleted);
  EXPECT_GE(turns_of(kept), 25u);
}

TEST(KitchenSink, EvictedAtEveryPointAloneItDecidesTheSame) {
  const Played kept = play({});
  for (std::size_t turn = 0; turn < turns_of(kept); ++turn) {
    SCOPED_TRACE(turn);
    ASSERT_NO_FATAL_FAILURE(expect_same(kept, play({.evictions = {turn}})));
  }
}

TEST(KitchenSink, EvictedAtAllPointsItDecidesTheSame) {
  expect_same(play({}), play({.evict_always = true}));
}

TEST(KitchenSink, MessagesTogetherOrOneByOneGiveTheSameEvents) {
  const Played single = play({}, true);
  for (const std::size_t size : {std::size_t{2}, std::size_t{3}, std::size_t{5}, kNever}) {
    SCOPED_TRACE(size);
    Kitchen kitchen(true);
    kitchen.turn({});
    const auto& messages = single.messages;
    for (std::size_t from = 0; from < messages.size();) {
      const std::size_t to = from + std::min(size, messages.size() - from);
      ASSERT_NO_FATAL_FAILURE(kitchen.turn({messages.begin() + static_cast<std::ptrdiff_t>(from),
                                            messages.begin() + static_cast<std::ptrdiff_t>(to)}));
      from = to;
    }
    ASSERT_EQ(kitchen.store().history().size(), single.history.size());
    EXPECT_EQ(kitchen.store().history(), single.history);
  }
}

TEST(KitchenSink, CanceledAtEveryPointItIsWoundDownFromEveryPointOnWithoutItsCode) {
  const std::size_t turns = turns_of(play({}));
  std::size_t wound_down = 0;
  for (std::size_t cancel = 1; cancel < turns; ++cancel) {
    const std::size_t canceled_turns = turns_of(play({.cancel_at = cancel}));
    for (std::size_t lose = cancel; lose < canceled_turns; ++lose) {
      SCOPED_TRACE(std::to_string(cancel) + ", " + std::to_string(lose));
      const Played kept = play({.cancel_at = cancel, .lose_code_at = lose});
      EXPECT_EQ(kept.last.status, ExecutionStatus::kCanceled);
      ASSERT_NO_FATAL_FAILURE(expect_same(
          kept, play({.evict_always = true, .cancel_at = cancel, .lose_code_at = lose})));
      ++wound_down;
    }
  }
  EXPECT_GE(wound_down, turns);
}

TEST(KitchenSink, CanceledAtEveryPointItUndoesAndDecidesTheSame) {
  const std::size_t turns = turns_of(play({}));
  std::set<std::size_t> undos;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    SCOPED_TRACE(turn);
    const Played kept = play({.cancel_at = turn});
    EXPECT_EQ(kept.last.status, ExecutionStatus::kCanceled);
    ASSERT_NO_FATAL_FAILURE(expect_same(kept, play({.evict_always = true, .cancel_at = turn})));
    undos.insert(static_cast<std::size_t>(
        std::count_if(kept.history.begin(), kept.history.end(), [](const HistoryEvent& event) {
          return event.kind == EventKind::kUndoCompleted;
        })));
  }
  EXPECT_EQ(undos, (std::set<std::size_t>{0, 1, 2})) << "before, between and behind the payments";
}

TEST(KitchenSink, WithAFailureAtEveryPointItDecidesTheSame) {
  const std::size_t turns = turns_of(play({}));
  std::set<ExecutionStatus> ends;
  for (std::size_t turn = 1; turn < turns; ++turn) {
    SCOPED_TRACE(turn);
    const Played kept = play({.fail_at = turn});
    ends.insert(kept.last.status);
    ASSERT_NO_FATAL_FAILURE(expect_same(kept, play({.evict_always = true, .fail_at = turn})));
  }
  EXPECT_TRUE(ends.contains(ExecutionStatus::kFailed));
  EXPECT_TRUE(ends.contains(ExecutionStatus::kCompleted)) << "a failure that is caught as a value";
}

}  // namespace
}  // namespace perdure::test::kitchen_sink_test
