#include "runtime/housekeeper.h"
#include "tests/runtime/steps_fixture.h"

namespace perdure::test::worker_test {

namespace {

using namespace std::chrono_literals;
using Kind = WorkOutcome::Kind;

using Worker = Steps;

TEST_F(Worker, SettlesWhatItRan) {
  start("a");
  turn();
  EXPECT_TRUE(work());
  ASSERT_EQ(store_.settled.size(), 1U);
  EXPECT_EQ(store_.settled[0].outcome.kind, Kind::kCompleted);
  EXPECT_EQ(store_.settled[0].outcome.result, "2");
  EXPECT_FALSE(work());
}

TEST_F(Worker, SaysWhenARetryIsDue) {
  Registry failing;
  failing.add(add_one, [](int) -> int { throw Failed("shaky", "not now"); });
  runtime::ActivityWorker worker({store_, tokens_, *failing.table(), attempts_, sleeper_, random_},
                                 {});
  start("a");
  turn();
  EXPECT_TRUE(worker.poll_once());
  const runtime::Step idle = worker.poll_once();
  EXPECT_FALSE(idle);
  EXPECT_EQ(idle.next_at, clock_.now() + 1s);
  clock_.advance(1s);
  EXPECT_TRUE(work());
  finish();
  EXPECT_EQ(info("a").output, "3");
}

TEST_F(Worker, GivesBackWhatItHasNoHandlerFor) {
  Registry nothing;
  runtime::ActivityWorker worker({store_, tokens_, *nothing.table(), attempts_, sleeper_, random_},
                                 {});
  store_.further_names = {"add_one"};
  start("a");
  turn();
  EXPECT_TRUE(worker.poll_once());
  EXPECT_EQ(store_.settled.at(0).outcome.kind, Kind::kGivenBack);
  EXPECT_FALSE(work());
  clock_.advance(10s);
  EXPECT_TRUE(work());
  finish();
  EXPECT_EQ(info("a").output, "3");
}

TEST_F(Worker, DropsTheOutcomeOfACallThatIsGone) {
  Registry canceling;
  canceling.add(add_one, [this](ActivityContext& ctx, int value) {
    CancelOrchestration cancel;
    cancel.id = "a";
    cancel.reason = "over";
    const CancelAnswer answer = real_->cancel_orchestration(std::move(cancel)).value();
    EXPECT_EQ(answer.touched.size(), 1U);
    attempts_.fire(answer.touched, "over");
    EXPECT_EQ(ctx.cancel_reason(), "over");
    return value;
  });
  runtime::ActivityWorker worker(
      {store_, tokens_, *canceling.table(), attempts_, sleeper_, random_}, {});
  start("a");
  turn();
  EXPECT_TRUE(worker.poll_once());
  EXPECT_EQ(count_lines("could not be stored"), 0);
  settle();
  EXPECT_EQ(status("a"), ExecutionStatus::kCanceled);
}

TEST_F(Worker, SendsAnOutcomeAgainThatCouldNotBeStored) {
  start("a");
  turn();
  store_.work_ack_error = unavailable("down");
  EXPECT_TRUE(work());
  EXPECT_EQ(count_lines("could not be stored yet"), 1);
  const std::size_t sent = store_.settled.size();
  EXPECT_TRUE(work()) << "the outcome, not the handler";
  ASSERT_EQ(store_.settled.size(), sent + 1);
  EXPECT_EQ(store_.settled.back().outcome.result, "2");
  finish();
  EXPECT_EQ(info("a").output, "3");
}

TEST_F(Worker, LeavesCascadesToTheHousekeeper) {
  start("a", "guide");
  settle();
  CancelOrchestration cancel;
  cancel.id = "a";
  cancel.reason = "storm";
  cancel.max_descendants = 1;
  const CancelAnswer answer = store_.cancel_orchestration(std::move(cancel)).value();
  EXPECT_TRUE(answer.cascading);
  runtime::Housekeeper housekeeper(store_, attempts_);
  for (int i = 0; i < 10 && housekeeper.poll_once(); ++i) {
  }
  EXPECT_FALSE(housekeeper.poll_once()) << "nothing is left";
  for (const char* child : {"a/1.2", "a/1.3", "a/1.4"}) {
    EXPECT_EQ(status(child), ExecutionStatus::kCanceling) << child << ", and not by a turn";
    EXPECT_EQ(info(child).cancel_reason, "storm") << child;
  }
  settle();
  EXPECT_EQ(status("a"), ExecutionStatus::kCanceled);
}

TEST_F(Worker, LeavesLargeDeletionsToTheHousekeeper) {
  start("a", "guide");
  settle();
  DeleteInstance removal;
  removal.id = "a";
  removal.force = true;
  removal.limit = 1;
  EXPECT_TRUE(store_.delete_instance(std::move(removal)).value().removing);
  runtime::Housekeeper housekeeper(store_, attempts_);
  for (int i = 0; i < 10 && housekeeper.poll_once(); ++i) {
  }
  EXPECT_FALSE(housekeeper.poll_once()) << "nothing is left";
  EXPECT_EQ(store_.get_instance("a/1.2").code(), ErrorCode::kNotFound);
}

TEST_F(Worker, TellsWhenItsRegistrationHasEnded) {
  ASSERT_TRUE(store_.take_over({tokens_.epoch()}).ok());
  const runtime::Step step = work();
  ASSERT_TRUE(step.trouble);
  EXPECT_EQ(step.trouble->code, ErrorCode::kLockLost);
}

}  // namespace

}  // namespace perdure::test::worker_test
