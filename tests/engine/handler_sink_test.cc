#include "tests/engine/handler_sink.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "replay/execution.h"
#include "tests/engine/model_store.h"

/// Handlers that wait in every way there is: evicted at any of these points they decide the same.
namespace perdure::test::handler_sink_test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kNever = static_cast<std::size_t>(-1);

/// What happens besides that everything is told and answered.
struct Plan {
  std::set<std::size_t> evictions = {};
  bool evict_always = false;
  std::size_t cancel_at = kNever;
  std::size_t drain_at = kNever;  ///< from this turn on deadlines come in every turn
  std::size_t fail_at = kNever;   ///< the turn whose answer, of an activity, is a failure
};

struct Played {
  std::vector<HistoryEvent> history;
  std::vector<Reply> replies;
  std::vector<replay::TurnDecisions> turns;
};

class Dinner {
 public:
  Dinner() {
    add_handler_sink(registry_);
    make_execution();
    execution_->replay(store_.history(), false);
  }

  void turn(const std::vector<Message>& messages) {
    now_ += 1s;
    const auto result = execution_->turn(messages, now_);
    ASSERT_FALSE(result.mismatch) << to_string(*result.mismatch);
    ASSERT_TRUE(result.warnings.empty()) << result.warnings.front();
    const auto broken = store_.commit(result.decisions);
    ASSERT_FALSE(broken) << *broken;
    played_.turns.push_back(result.decisions);
    played_.replies.insert(
        played_.replies.end(), result.decisions.replies.begin(), result.decisions.replies.end());
  }

  void evict() {
    make_execution();
    execution_->replay(store_.history(), true);
    ASSERT_FALSE(execution_->mismatch()) << to_string(*execution_->mismatch());
  }

  Message cancel() {
    store_.cancel();
    return message(MessageKind::kCancel, "", "", "enough");
  }

  static Message message(MessageKind kind,
                         std::string name,
                         std::string payload,
                         std::string text) {
    Message made;
    made.kind = kind;
    made.name = std::move(name);
    made.payload = std::move(payload);
    made.text = std::move(text);
    if (belongs_to_execution(kind)) made.execution = ExecutionNo{1};
    return made;
  }

  /// What is told in a turn, whatever has become of the run.
  static std::vector<Message> told_in(std::size_t turn) {
    using enum MessageKind;
    std::vector<Message> told{message(kQuery, "size", "null", "q" + std::to_string(turn))};
    switch (turn) {
      case 0:
        told.push_back(message(kSignal, "deliver", "1", ""));
        told.push_back(message(kUpdate, "cook", "2", "cook"));
        break;
      case 2:
        told.push_back(message(kUpdate, "taste", "1", "taste"));
        told.push_back(message(kSignal, "season", "\"salt\"", ""));
        break;
      case 4:
        told.push_back(message(kUpdate, "guess", "5", "guess"));
        told.push_back(message(kSignal, "season", "\"poison\"", ""));
        break;
      case 6:
        told.push_back(message(kSignal, "deliver", "3", ""));
        told.push_back(message(kUpdate, "eat", "3", "eat"));
        break;
      default:
        break;
    }
    return told;
  }

  /// Answers one of the things that are open, if any is.
  void answer(std::size_t turn, bool fail, std::vector<Message>& batch) const {
    using enum MessageKind;
    std::vector<Message> open;
    const auto add_answer = [&](MessageKind kind, std::int64_t event) {
      Message made = message(kind, "", std::to_string(event * 10), "");
      made.source = EventId{event};
      if (fail) made.failure = {"broken", "as the plan has it", false, {}};
      open.push_back(std::move(made));
    };
    for (const auto& [event, work] : store_.work()) {
      add_answer(work.marked ? kActivityCanceled
                 : fail      ? kActivityFailed
                             : kActivityCompleted,
                 event);
    }
    for (const auto& [event, timer] : store_.timers()) add_answer(kTimerFired, event);
    for (const auto& [event, child] : store_.children()) {
      add_answer(child.canceled ? kChildCanceled : kChildCompleted, event);
    }
    for (const std::string& name : store_.open_waits()) {
      open.push_back(message(kEventRaised, name, std::to_string(turn), ""));
    }
    if (!open.empty()) batch.push_back(open[turn * 7 % open.size()]);
  }

  const ModelStore& store() const { return store_; }
  Played take() {
    played_.history = store_.history();
    return std::move(played_);
  }

 private:
  static std::vector<HistoryEvent> start() {
    std::vector<HistoryEvent> history(1);
    history[0].id = EventId{1};
    history[0].name = std::string(handler_sink.name());
    history[0].payload = "2";
    return history;
  }
  void make_execution() {
    execution_ = std::make_unique<replay::Execution>(
        replay::ExecutionSpec{
            "run-1", ExecutionNo{1}, std::string(handler_sink.name()), "", "default"},
        *registry_.table()->find_orchestration(handler_sink.name(), ""),
        replay::ExecutionOptions{replay::ArgumentCheck::kStrict},
        random_);
  }

  Registry registry_;
  SeededRandom random_{3};
  TimePoint now_{std::chrono::hours(500'000)};
  ModelStore store_{start()};
  std::unique_ptr<replay::Execution> execution_;
  Played played_;
};

Played play(const Plan& plan) {
  Dinner run;
  for (std::size_t turn = 0; !run.store().has_ended(); ++turn) {
    std::vector<Message> messages = Dinner::told_in(turn);
    if (turn == plan.cancel_at) messages.push_back(run.cancel());
    if (turn >= plan.drain_at) {
      messages.push_back(Dinner::message(MessageKind::kDrainDeadline, "", "", ""));
    }
    if (turn > 0) run.answer(turn, turn == plan.fail_at, messages);
    run.turn(messages);
    if (testing::Test::HasFatalFailure() || turn > 300) break;
    const bool evicts = plan.evict_always || plan.evictions.contains(turn);
    if (evicts && !run.store().has_ended()) run.evict();
    if (testing::Test::HasFatalFailure()) break;
  }
  EXPECT_TRUE(run.store().has_ended());
  return run.take();
}

void expect_same(const Played& a, const Played& b) {
  ASSERT_EQ(a.turns.size(), b.turns.size());
  for (std::size_t i = 0; i < a.turns.size(); ++i) {
    ASSERT_EQ(difference(a.turns[i], b.turns[i]).value_or("same"), "same") << "turn " << i;
  }
  ASSERT_EQ(a.history.size(), b.history.size());
}

TEST(HandlerSink, WaitsAtManyPointsOfManyKinds) {
  take_handler_await_counts();
  const Played kept = play({});
  int points = 0;
  const auto counts = take_handler_await_counts();
  for (const auto& [kind, count] : counts) points += count;
  RecordProperty("points", points);
  EXPECT_GE(points, 20);
  EXPECT_GE(counts.size(), 14u);
  EXPECT_GE(kept.turns.size(), 20u);
  EXPECT_EQ(kept.turns.back().status, ExecutionStatus::kCompleted);
  const bool drained = std::any_of(
      kept.turns.begin(), kept.turns.end(), [](const auto& turn) { return turn.drain_at; });
  EXPECT_TRUE(drained) << "main returned before the handlers";
  std::map<std::string, RequestStage> ends;
  for (const Reply& reply : kept.replies) ends[reply.request] = reply.stage;
  for (const char* update : {"cook", "taste", "guess"}) {
    EXPECT_EQ(ends[update], RequestStage::kAnswered) << update;
  }
  EXPECT_EQ(ends["eat"], RequestStage::kRefused);
}

TEST(HandlerSink, EvictedAtEveryPointAloneItDecidesTheSame) {
  const Played kept = play({});
  for (std::size_t turn = 0; turn < kept.turns.size(); ++turn) {
    SCOPED_TRACE(turn);
    ASSERT_NO_FATAL_FAILURE(expect_same(kept, play({.evictions = {turn}})));
  }
}

TEST(HandlerSink, EvictedAtAllPointsItDecidesTheSame) {
  expect_same(play({}), play({.evict_always = true}));
}

TEST(HandlerSink, CutShortAtEveryPointItDecidesTheSame) {
  const std::size_t turns = play({}).turns.size();
  std::set<ExecutionStatus> ends;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    SCOPED_TRACE(turn);
    for (Plan plan : {Plan{.cancel_at = turn}, Plan{.drain_at = turn}, Plan{.fail_at = turn}}) {
      const Played kept = play(plan);
      ends.insert(kept.turns.back().status);
      plan.evict_always = true;
      ASSERT_NO_FATAL_FAILURE(expect_same(kept, play(plan)));
    }
  }
  EXPECT_EQ(
      ends,
      (std::set<ExecutionStatus>{
          ExecutionStatus::kCompleted, ExecutionStatus::kFailed, ExecutionStatus::kCanceled}));
}

}  // namespace
}  // namespace perdure::test::handler_sink_test
