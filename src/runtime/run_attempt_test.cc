#include "runtime/run_attempt.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include <perdure/errors.h>

#include "runtime/attempts.h"

namespace perdure::runtime {

namespace {

using namespace std::chrono_literals;
using Kind = WorkOutcome::Kind;

WorkItem item_of(int max_attempts = 1, int failures = 0) {
  WorkItem item;
  item.lock = {Epoch{1}, 7};
  item.instance_id = "order";
  item.owner.execution = ExecutionNo{2};
  item.owner.event = EventId{5};
  item.work.name = "charge";
  item.work.input = "41";
  item.work.retry.max_attempts = max_attempts;
  item.work.retry.first_delay = 3s;
  item.failures = failures;
  return item;
}

class RunAttempt : public ::testing::Test {
 protected:
  WorkOutcome run(const detail::ActivityHandler& handler, WorkItem item = item_of()) {
    attempt_ = std::make_shared<Attempt>(std::move(item), surroundings());
    return run_attempt(handler, *attempt_, random_);
  }

  Attempt::Surroundings surroundings() {
    return {sleeper_, std::make_shared<DirectFirer>(), 100, {}, "here:1#1", nullptr};
  }

  SeededRandom random_{1};
  RealSleeper sleeper_;
  std::shared_ptr<Attempt> attempt_;
};

TEST_F(RunAttempt, GivesTheResultOfTheHandler) {
  const WorkOutcome outcome = run([](detail::AttemptApi& api, const std::string& input) {
    return input + " of " + api.info().instance_id + " " + api.info().idempotency_key;
  });
  EXPECT_EQ(outcome.kind, Kind::kCompleted);
  EXPECT_EQ(outcome.result, "41 of order order/2/5");
}

TEST_F(RunAttempt, IsTriedAgainAsThePolicySays) {
  const auto fails = [](detail::AttemptApi&, const std::string&) -> std::string {
    throw Failed("gateway", "no answer");
  };
  const WorkOutcome first = run(fails, item_of(3));
  EXPECT_EQ(first.kind, Kind::kRetryAt);
  EXPECT_EQ(first.delay, 3s);
  EXPECT_EQ(first.failure.type, "gateway");
  EXPECT_EQ(run(fails, item_of(3, 1)).delay, 6s);
  EXPECT_EQ(run(fails, item_of(3, 2)).kind, Kind::kFailed);
}

TEST_F(RunAttempt, IsFinalWhenTheFailureSaysSo) {
  const WorkOutcome outcome =
      run([](detail::AttemptApi&,
             const std::string&) -> std::string { throw Failed("card", "stolen", false); },
          item_of(3));
  EXPECT_EQ(outcome.kind, Kind::kFailed);
}

TEST_F(RunAttempt, MakesAFailureOfAnyException) {
  const WorkOutcome standard = run([](detail::AttemptApi&, const std::string&) -> std::string {
    throw std::out_of_range("index 9");
  });
  EXPECT_EQ(standard.kind, Kind::kFailed);
  EXPECT_EQ(standard.failure.type, "std::out_of_range");
  EXPECT_EQ(standard.failure.message, "index 9");
  const WorkOutcome odd =
      run([](detail::AttemptApi&, const std::string&) -> std::string { throw 42; });
  EXPECT_EQ(odd.kind, Kind::kFailed);
  EXPECT_EQ(odd.failure.type, "unknown");
}

TEST_F(RunAttempt, IsCanceledWhenTheTokenHasFired) {
  Attempts attempts;
  const WorkOutcome outcome = run([&](detail::AttemptApi& api, const std::string&) -> std::string {
    attempts.add(attempt_);
    attempts.fire({{WorkId{1}, {Epoch{1}, 8}, false}}, "another claim");
    EXPECT_FALSE(api.stop_token().stop_requested());
    attempts.fire({{WorkId{1}, {Epoch{1}, 7}, false}}, "enough");
    attempts.fire({{WorkId{1}, {Epoch{1}, 7}, false}}, "too much");
    EXPECT_EQ(api.cancel_reason(), "enough");
    throw Canceled(api.cancel_reason());
  });
  EXPECT_EQ(outcome.kind, Kind::kCanceled);
}

TEST_F(RunAttempt, HearsOfACancelThatFellBetweenTheClaimAndItsAnswer) {
  Attempts attempts;
  attempts.expect({{Epoch{1}, 7}, {Epoch{1}, 8}});
  attempts.fire({{WorkId{1}, {Epoch{1}, 7}, false}}, "early");
  const auto attempt = std::make_shared<Attempt>(item_of(), surroundings());
  attempts.add(attempt);
  EXPECT_TRUE(attempt->stop_token().stop_requested());
  EXPECT_EQ(attempt->cancel_reason(), "early");
  attempts.remove({{Epoch{1}, 7}, {Epoch{1}, 8}});
  const auto again = std::make_shared<Attempt>(item_of(), surroundings());
  attempts.add(again);
  EXPECT_FALSE(again->stop_token().stop_requested()) << "a removed token is forgotten";
}

TEST_F(RunAttempt, IsAFailureWhenCanceledIsThrownAtWill) {
  const WorkOutcome outcome =
      run([](detail::AttemptApi&, const std::string&) -> std::string { throw Canceled("mood"); },
          item_of(3));
  EXPECT_EQ(outcome.kind, Kind::kFailed) << "or the orchestration would wait for ever";
  EXPECT_EQ(outcome.failure.type, kCanceledFailure);
}

TEST_F(RunAttempt, IsGivenBackWhenItFailsWhileItsWorkerShutsDown) {
  const WorkOutcome outcome = run([&](detail::AttemptApi& api, const std::string&) -> std::string {
    attempt_->stop(StopCause::kShutdown, "the worker shuts down");
    EXPECT_TRUE(api.stop_token().stop_requested());
    throw std::runtime_error("the connection was closed");
  });
  EXPECT_EQ(outcome.kind, Kind::kGivenBack) << "a call without retries does not fail by it";
}

TEST_F(RunAttempt, IsAFailureWhenItFailsAfterACancel) {
  const WorkOutcome outcome = run([&](detail::AttemptApi&, const std::string&) -> std::string {
    attempt_->stop(StopCause::kCanceled, "enough");
    throw std::runtime_error("the connection was closed");
  });
  EXPECT_EQ(outcome.kind, Kind::kFailed) << "who waits for the real outcome learns it";
}

TEST_F(RunAttempt, DoesNotBeginWhenTheTokenHasFiredBefore) {
  Attempt attempt(item_of(), surroundings());
  attempt.stop(StopCause::kCanceled, "gone");
  bool began = false;
  const WorkOutcome outcome = run_attempt(
      [&](detail::AttemptApi&, const std::string&) {
        began = true;
        return std::string();
      },
      attempt,
      random_);
  EXPECT_EQ(outcome.kind, Kind::kCanceled);
  EXPECT_FALSE(began);
}

TEST_F(RunAttempt, KeepsTheNewestHeartbeat) {
  run([](detail::AttemptApi& api, const std::string&) -> std::string {
    api.heartbeat("1");
    api.heartbeat("2");
    throw std::runtime_error("lost");
  });
  EXPECT_EQ(attempt_->reported(), "2");
}

TEST_F(RunAttempt, ExecutesNoProgramThatDoesNotCallIsolatedMain) {
  const ProcessLimits processes;
  detail::HandlerTable handlers;
  const auto here = [](detail::AttemptApi&, const std::string&) { return std::string("here"); };
  handlers.add_activity("charge", here, {.isolation = Isolation::kProcess});
  Attempt attempt(item_of(3), surroundings());
  const WorkOutcome outcome = run_registered(handlers, attempt, random_, 10s, &processes);
  EXPECT_EQ(outcome.kind, Kind::kFailed) << "the same program would fail again";
  EXPECT_EQ(outcome.failure.type, kIsolationFailure);
  EXPECT_NE(outcome.failure.message.find("call pd::isolated_main"), std::string::npos);
  EXPECT_EQ(run_registered(handlers, attempt, random_, 10s).result, "here");
}

TEST_F(RunAttempt, WakesASleeperWhenTheTokenFires) {
  Attempt attempt(item_of(), surroundings());
  attempt.stop(StopCause::kCanceled, "now");
  attempt.sleep_for(24h);
  SUCCEED() << "it came back";
}

}  // namespace

}  // namespace perdure::runtime
