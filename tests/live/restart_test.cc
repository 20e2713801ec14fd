#include <algorithm>
#include <map>
#include <set>

#include "tests/live/causes_fixture.h"
#include "tests/live/log_lines.h"

/// A run that was canceled is started again under the same id while a handler of the old one is
/// still inside: nothing of the old run reaches the new one.
namespace perdure::test::restart_test {

namespace {

using causes::kid;

constexpr Activity<std::string(std::string)> labor{"labor"};
constexpr Orchestration<std::string(std::string)> boss{"boss"};

Task<std::string> run_boss(OrchestrationContext& ctx, std::string name) {
  co_return co_await ctx.call(labor, name);
}

/// One handler that does not listen. Shared with it, since it may outlive its test.
struct Deaf {
  Gate begun;
  Gate leave;
};

class Restart : public causes::Causes {
 protected:
  Restart() {
    registry_.add(boss, run_boss);
    registry_.add(labor, [first = first_, second = second_](const std::string& name) {
      Deaf& mine = name == "first" ? *first : *second;
      mine.begun.open();
      EXPECT_TRUE(mine.leave.wait());
      return name + " result";
    });
  }
  ~Restart() override {
    first_->leave.open();
    second_->leave.open();
  }

  /// The first run is canceled, its handler is inside.
  void cancel_first() {
    run();
    client_.start(boss, "b", "first");
    ASSERT_TRUE(first_->begun.wait());
    EXPECT_TRUE(client_.cancel("b", "enough").changed);
    EXPECT_EQ(client_.wait("b", kHanging).status, ExecutionStatus::kCanceled);
  }
  /// The old handler brings its result, which nobody wants.
  void let_first_return() {
    first_->leave.open();
    wait_for([&] { return log_.count(log::Level::kWarning, kRefused) == 1; }, "the refusal");
  }
  void expect_untouched() {
    EXPECT_EQ(client_.status("b").execution, 2);
    EXPECT_EQ(client_.status("b").status, ExecutionStatus::kCompleted);
    EXPECT_EQ(client_.status("b").output, "second result");
    EXPECT_EQ(texts("b", "activity_completed", 2).size(), 1u);
    EXPECT_EQ(client_.status("b", 1).status, ExecutionStatus::kCanceled);
    EXPECT_EQ(client_.status("b", 1).output, Json());
    EXPECT_EQ(texts("b", "activity_completed", 1).size(), 0u);
    expect_nothing_left("b");
  }

  static constexpr const char* kRefused = "the outcome of an activity was refused";
  const std::shared_ptr<Deaf> first_ = std::make_shared<Deaf>();
  const std::shared_ptr<Deaf> second_ = std::make_shared<Deaf>();
  LogLines log_;
};

TEST_F(Restart, RightAfterACancelIsNotTouchedByTheOldHandler) {
  cancel_first();
  second_->leave.open();
  const auto again = client_.start(boss, "b", "second");
  EXPECT_EQ(again.wait(kHanging), "second result");
  let_first_return();
  expect_untouched();
}

TEST_F(Restart, IsNotEndedByAnOldHandlerThatReturnsFirst) {
  cancel_first();
  const auto again = client_.start(boss, "b", "second");
  ASSERT_TRUE(second_->begun.wait());
  let_first_return();
  EXPECT_EQ(status("b"), ExecutionStatus::kRunning);
  EXPECT_EQ(texts("b", "activity_completed").size(), 0u);
  EXPECT_EQ(stats("b").work_rows, 1) << "its own call";
  second_->leave.open();
  EXPECT_EQ(again.wait(kHanging), "second result");
  expect_untouched();
}

TEST_F(Restart, CancelExistingTellsTheOldHandler) {
  constexpr const char* kReplaced = "replaced by a new start of 'k'";
  run();
  client_.start(kid, "k", "old");
  wait_for_begun("old");
  book_->release("new");
  const auto next = client_.start(kid, "k", "new", {.on_conflict = OnConflict::kCancelExisting});
  EXPECT_EQ(told("old"), kReplaced);
  EXPECT_EQ(next.wait(kHanging), "new done");
  EXPECT_EQ(client_.status("k", 1).status, ExecutionStatus::kCanceled);
  EXPECT_EQ(client_.status("k", 1).cancel_reason, kReplaced);
  EXPECT_EQ(book_->told("new"), "");
  EXPECT_EQ(book_->begun("new"), 1);
}

constexpr Activity<int(int)> lag{"lag"};
constexpr Orchestration<int(int)> round_of{"round_of"};

/// Handlers that listen to nobody and return when the next round is about to begin, so that their
/// results meet its start. Shared with them. Threading: any thread.
class Rounds {
 public:
  int take_part(int round, std::int64_t execution) {
    std::unique_lock lock(mutex_);
    ++begun_[execution];
    newest_ = std::max(newest_, round);
    changed_.notify_all();
    changed_.wait_for(lock, kHanging, [&] { return current_ > round; });
    return round;
  }
  void begin(int round) {
    {
      const std::lock_guard lock(mutex_);
      current_ = round;
    }
    changed_.notify_all();
  }
  /// Until a handler of this round is inside. False: it hangs.
  bool wait_for_handler(int round) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kHanging, [&] { return newest_ >= round; });
  }
  /// Handlers that ran for that execution.
  int begun(std::int64_t execution) {
    const std::lock_guard lock(mutex_);
    return begun_[execution];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  int current_ = 0;
  int newest_ = -1;
  std::map<std::int64_t, int> begun_;
};

class RestartRounds : public causes::Causes {
 protected:
  static constexpr int kRounds = 200;

  RestartRounds() {
    registry_.add(round_of, [](OrchestrationContext& ctx, int round) -> Task<int> {
      co_return co_await ctx.call(lag, round);
    });
    registry_.add(lag, [rounds = rounds_](ActivityContext& ctx, int round) {
      return rounds->take_part(round, ctx.execution());
    });
  }
  ~RestartRounds() override { rounds_->begin(kRounds); }

  /// By turns: a start that cancels, or a cancel before it. Not every round comes to a handler.
  perdure::Run<int> begin(int round) {
    if (round > 0 && round % 2 == 0) {
      // A start that waits for the end of the one before is not what a cancel means.
      wait_for([&] { return !client_.status("r").cancel_requested_at; }, "the run of this round");
      client_.cancel("r", "the round is over");
      client_.wait("r", kHanging);
    }
    rounds_->begin(round);
    return client_.start(round_of, "r", round, {.on_conflict = OnConflict::kCancelExisting});
  }
  /// One end, and one answer at most to each call; a result is that of its own call.
  void check(std::int64_t execution) {
    SCOPED_TRACE("execution " + std::to_string(execution));
    const RunStatus end = client_.status("r", execution);
    EXPECT_TRUE(is_terminal(end.status));
    int ends = 0;
    Json input;
    std::set<std::int64_t> answered;
    for (const RunEvent& event : client_.history("r", {.execution = execution}).events) {
      if (event.kind == "started") input = Json::parse(event.payload);
      if (event.kind == "completed" || event.kind == "canceled") ++ends;
      if (event.kind != "activity_completed") continue;
      EXPECT_TRUE(answered.insert(event.source).second) << "twice for one call";
      EXPECT_EQ(Json::parse(event.payload), input) << "a result of another run";
    }
    EXPECT_EQ(ends, 1);
    EXPECT_LE(rounds_->begun(execution), 1);
    if (end.status == ExecutionStatus::kCompleted) {
      EXPECT_EQ(end.output, input);
    }
  }

  const std::shared_ptr<Rounds> rounds_ = std::make_shared<Rounds>();
};

TEST_F(RestartRounds, ManyRoundsWithoutAQuietWindow) {
  run();
  auto last = begin(0);
  for (int round = 1; round < kRounds; ++round) {
    if (round % 3 == 1) {
      ASSERT_TRUE(rounds_->wait_for_handler(round - 1));
    }
    last = begin(round);
  }
  rounds_->begin(kRounds);
  EXPECT_EQ(last.wait(kHanging), kRounds - 1);
  runtime_->stop();
  const std::int64_t executions = client_.status("r").execution;
  EXPECT_GE(executions, kRounds / 3);
  for (std::int64_t execution = 1; execution <= executions; ++execution) check(execution);
  expect_nothing_left("r");
}

}  // namespace

}  // namespace perdure::test::restart_test
