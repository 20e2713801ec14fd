#include <algorithm>
#include <string>
#include <utility>

#include "base/failpoint.h"
#include "tests/conformance/answers.h"
#include "tests/races/order.h"
#include "tests/races/race_steps.h"

/// Two requests that meet in one commit. The writer is held with its transaction open until both
/// have been submitted, so that they make one group.
namespace perdure::races::one_group_test {

namespace {

using conformance::Answers;

constexpr const char* kOpen = "sqlite.begin.after";
constexpr std::chrono::seconds kHangs{60};

class OneGroup : public RaceSteps {
 protected:
  void TearDown() override {
    failpoint::disarm_all();
    RaceSteps::TearDown();
  }

  AckWorkItems result_of_the_call() {
    SettledWork work = settled(claimed_call(), WorkOutcome::Kind::kCompleted);
    work.outcome.result = "1";
    AckWorkItems request;
    request.entries.push_back(std::move(work));
    return request;
  }
  AckOrchestrationItems end_of_the_run() {
    TurnCommit decisions = turn(held_turn());
    finish(decisions, held_turn(), ExecutionStatus::kCompleted);
    AckOrchestrationItems request;
    request.entries.push_back(std::move(decisions));
    return request;
  }

  /// Submits both, the second while the writer waits to take what there is.
  template <class First, class Second>
  void meet(First first, Second second) {
    Answers<typename First::Answer> firsts;
    Answers<typename Second::Answer> seconds;
    {
      const Recording recording;
      failpoint::arm(kOpen, {.kind = failpoint::Action::Kind::kPause});
      store().submit(std::move(first), firsts.next(), {});
      ASSERT_TRUE(failpoint::wait_until_paused(kOpen, kHangs));
      store().submit(std::move(second), seconds.next(), {});
      failpoint::release(kOpen);
      ASSERT_TRUE(firsts.wait_for_all(store()));
      ASSERT_TRUE(seconds.wait_for_all(store()));
    }
    const auto passed = failpoint::passed();
    EXPECT_EQ(std::ranges::count(passed, "sqlite.commit.before"), 1) << "they are one group";
    check_answers(firsts.at(0), seconds.at(0));
  }

  template <class First, class Second>
  void check_answers(const First& first, const Second& second) {
    first_ = answer_of(first);
    second_ = answer_of(second);
  }
  template <class T>
  static std::string answer_of(const Result<Batch<T>>& answer) {
    if (!answer.ok()) return std::string(to_string(answer.code()));
    return answer_of((*answer)[0]);
  }
  template <class T>
  static std::string answer_of(const Result<T>& answer) {
    return answer.ok() ? "ok" : std::string(to_string(answer.code()));
  }

  std::string first_;   ///< what the one that was submitted first was answered
  std::string second_;  ///< the other
};

}  // namespace

TEST_F(OneGroup, ACancelOvertakesAResultThatWaits) {
  set(kRunning);
  meet(result_of_the_call(), CancelOrchestration{.id = "a", .reason = "enough"});
  expect_order("store.cancel", "store.complete");
  EXPECT_EQ(first_, "LockLost");
  EXPECT_EQ(second_, "ok");
  EXPECT_EQ(rest(), "canceling, hears cancel");
}

TEST_F(OneGroup, ACancelOvertakesATurnThatWaits) {
  set(kTurn);
  meet(end_of_the_run(), CancelOrchestration{.id = "a", .reason = "enough"});
  expect_order("store.cancel", "store.ack");
  EXPECT_EQ(first_, "Conflict");
  EXPECT_EQ(second_, "ok");
  EXPECT_EQ(rest(), "canceling, hears event_raised+cancel");
  expect_whole_history();
}

TEST_F(OneGroup, ATerminateOvertakesATurnThatWaits) {
  set(kTurn);
  meet(end_of_the_run(), TerminateOrchestration{.id = "a", .reason = "enough"});
  expect_order("store.terminate", "store.ack");
  EXPECT_EQ(first_, "LockLost");
  EXPECT_EQ(second_, "ok");
  EXPECT_EQ(rest(), "terminated");
  expect_whole_history();
}

TEST_F(OneGroup, ADeleteWaitsForItsTurn) {
  set(kRunning);
  meet(result_of_the_call(), DeleteInstance{.id = "a", .force = true});
  expect_order("store.complete", "store.delete");
  EXPECT_EQ(first_, "ok");
  EXPECT_EQ(second_, "ok");
  EXPECT_EQ(rest(), "gone");
}

TEST_F(OneGroup, AResultIsRefusedBehindTheEndOfItsRun) {
  set(kTurn);
  meet(end_of_the_run(), result_of_the_call());
  expect_order("store.ack", "store.complete");
  EXPECT_EQ(first_, "ok");
  EXPECT_EQ(second_, "LockLost");
  EXPECT_EQ(rest(), "completed");
  expect_whole_history();
}

}  // namespace perdure::races::one_group_test
