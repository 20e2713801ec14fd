#include <atomic>
#include <future>
#include <thread>

#include "tests/conformance/conformance.h"

namespace perdure::conformance {

using Reason = Wake::Reason;

/// wait_for_change: loses no wake-up, and wakes nobody for nothing.
class Waiting : public Conformance {
 protected:
  /// Only a wait that hangs lasts so long.
  static constexpr std::chrono::milliseconds kPatience = 60s;
  /// How long a wait that must not end is watched.
  static constexpr std::chrono::milliseconds kGlance = 50ms;
  static constexpr int kRounds = 20;

  Interest from_now() {
    Interest interest;
    interest.after = store().change_mark();
    interest.bound = kPatience;
    return interest;
  }

  Interest instances_of(const std::string& queue) {
    Interest interest = from_now();
    interest.orchestration_queues = {queue};
    return interest;
  }

  Interest work_of(const std::string& queue) {
    Interest interest = from_now();
    interest.work_queues = {queue};
    return interest;
  }

  Interest claims_of(Epoch whose) {
    Interest interest = from_now();
    interest.claims_of = whose;
    return interest;
  }

  Interest run_of(const std::string& id) {
    const InstanceKey key = info(id).key;
    Interest interest = from_now();
    interest.run = key;
    return interest;
  }

  Interest left_over() {
    Interest interest = from_now();
    interest.carry_on = true;
    return interest;
  }

  Reason wait(const Interest& interest) { return store().wait_for_change(interest).reason; }

  Reason glance(Interest interest) {
    interest.bound = kGlance;
    return wait(interest);
  }

  /// A wait on another thread, which has begun to run when this returns.
  std::future<Reason> wait_aside(Interest interest) {
    auto begun = std::make_shared<std::promise<void>>();
    auto waiting = std::async(std::launch::async, [this, begun, interest = std::move(interest)] {
      begun->set_value();
      return wait(interest);
    });
    begun->get_future().wait();
    return waiting;
  }
};

TEST_P(Waiting, EndsForAnInstanceThatBecameReady) {
  const Interest interest = instances_of(kQueue);
  start("a");
  EXPECT_EQ(wait(interest), Reason::kChanged);
}

TEST_P(Waiting, EndsForAnEventToAnIdleInstance) {
  start_and_run("a");
  const Interest interest = instances_of(kQueue);
  poke("a");
  EXPECT_EQ(wait(interest), Reason::kChanged);
}

TEST_P(Waiting, EndsForTheOutcomeOfWork) {
  start_with_work("a", 1);
  const WorkItem work = claim();
  const Interest interest = instances_of(kQueue);
  complete(work);
  EXPECT_EQ(wait(interest), Reason::kChanged);
}

TEST_P(Waiting, EndsForWorkThatATurnMade) {
  const Interest interest = work_of(kQueue);
  start_with_work("a", 1);
  EXPECT_EQ(wait(interest), Reason::kChanged);
}

TEST_P(Waiting, EndsForWorkThatWasGivenBack) {
  start_with_work("a", 1);
  const WorkItem work = claim();
  const Interest interest = work_of(kQueue);
  ASSERT_TRUE(try_settle(settled(work, WorkOutcome::Kind::kGivenBack)).ok());
  EXPECT_EQ(wait(interest), Reason::kChanged);
}

TEST_P(Waiting, EndsForAClaimThatACancelDeleted) {
  start_with_work("a", 1);
  claim();
  const Interest interest = claims_of(epoch());
  cancel("a");
  EXPECT_EQ(wait(interest), Reason::kChanged);
}

TEST_P(Waiting, EndsForAClaimThatACancelMarked) {
  NewWork waits;
  waits.on_cancel = OnCancel::kWait;
  start_with_work("a", 1, waits);
  const WorkItem work = claim();
  const Interest interest = claims_of(epoch());
  cancel("a");
  EXPECT_EQ(wait(interest), Reason::kChanged);
  EXPECT_EQ(check(work), ClaimState::kCanceled);
}

TEST_P(Waiting, EndsForAClaimThatTheEndOfItsRunDeleted) {
  start_with_work("a", 1);
  const WorkItem work = claim();
  poke("a");
  const Interest interest = claims_of(epoch());
  end("a", ExecutionStatus::kCompleted);
  EXPECT_EQ(wait(interest), Reason::kChanged);
  EXPECT_EQ(check(work), ClaimState::kGone);
}

TEST_P(Waiting, EndsForEveryStatusChangeOfTheRun) {
  start_and_run("a");
  Interest interest = run_of("a");
  cancel("a");
  EXPECT_EQ(wait(interest), Reason::kChanged);
  interest = run_of("a");
  end("a", ExecutionStatus::kCanceled);
  EXPECT_EQ(wait(interest), Reason::kChanged);
}

TEST_P(Waiting, EndsForATerminateThatIsToBeCarriedOn) {
  start("root");
  start_child_of("root", "child");
  const Interest interest = left_over();
  TerminateOrchestration request;
  request.id = "root";
  request.max_descendants = 0;
  ASSERT_TRUE(store().terminate_orchestration(std::move(request)).value().cascading);
  EXPECT_EQ(wait(interest), Reason::kChanged);
}

TEST_P(Waiting, EndsForADeletionThatIsToBeCarriedOn) {
  start("root");
  start_child_of("root", "child");
  const Interest interest = left_over();
  DeleteInstance request;
  request.id = "root";
  request.force = true;
  request.limit = 1;
  ASSERT_TRUE(store().delete_instance(std::move(request)).value().removing);
  EXPECT_EQ(wait(interest), Reason::kChanged);
}

TEST_P(Waiting, DoesNotEndForACancelThatReachedAll) {
  start("root");
  start_child_of("root", "child");
  const Interest interest = left_over();
  cancel("root");
  EXPECT_EQ(glance(interest), Reason::kBound);
}

TEST_P(Waiting, EndsAtTheCommitForAMessageThatCameUnderTheLock) {
  start("a");
  const OrchestrationItem item = lock("a");
  raise("a", "under the lock");
  const Interest interest = instances_of(kQueue);
  EXPECT_TRUE(commit(turn(item)).more_now);
  EXPECT_EQ(wait(interest), Reason::kChanged);
  EXPECT_EQ(lock("a").messages.size(), 1u);
}

TEST_P(Waiting, EndsAtTheAbandonForTheMessagesOfTheTurn) {
  start("a");
  const OrchestrationItem item = lock("a");
  const Interest interest = instances_of(kQueue);
  abandon(item);
  EXPECT_EQ(wait(interest), Reason::kChanged);
}

TEST_P(Waiting, EndsForWhatATakeoverFreed) {
  start_with_work("a", 1);
  start("b");
  const auto dead = register_another();
  FetchWorkItems claims = claim_request(0);
  claims.epoch = dead->epoch();
  claims.tokens = dead->next(1);
  ASSERT_TRUE(store().fetch_work_items(claims).ok());
  FetchOrchestrationItems locks = fetch_request(0);
  locks.epoch = dead->epoch();
  locks.tokens = dead->next(1);
  ASSERT_TRUE(store().fetch_orchestration_items(locks).ok());
  const Interest work = work_of(kQueue);
  const Interest instances = instances_of(kQueue);
  ASSERT_TRUE(store().take_over({.epoch = dead->epoch()}).ok());
  EXPECT_EQ(wait(work), Reason::kChanged);
  EXPECT_EQ(wait(instances), Reason::kChanged);
}

TEST_P(Waiting, EndsForADelayedStartByTheTimeItIsDue) {
  StartOrchestration later = start_request("a");
  later.delay = 60s;
  const Interest interest = instances_of(kQueue);
  start(later);
  advance(60s);
  EXPECT_NE(wait(interest), Reason::kBound);
  lock("a");
}

TEST_P(Waiting, DoesNotEndForOtherQueues) {
  const Interest instances = instances_of("other");
  const Interest work = work_of("other");
  start_with_work("a", 1);
  EXPECT_EQ(glance(instances), Reason::kBound);
  EXPECT_EQ(glance(work), Reason::kBound);
}

TEST_P(Waiting, DoesNotEndForClaimsOfOthers) {
  start_with_work("a", 1);
  const auto other = register_another();
  claim();
  const Interest interest = claims_of(other->epoch());
  cancel("a");
  EXPECT_EQ(glance(interest), Reason::kBound);
}

TEST_P(Waiting, DoesNotEndForStatusChangesOfOtherRuns) {
  start_and_run("a");
  start_and_run("b");
  const Interest interest = run_of("a");
  cancel("b");
  EXPECT_EQ(glance(interest), Reason::kBound);
}

TEST_P(Waiting, DoesNotEndForWhatWasCommittedBeforeTheMark) {
  start_with_work("a", 1);
  start("b");
  EXPECT_EQ(glance(instances_of(kQueue)), Reason::kBound) << "or a worker that cannot serve spins";
  EXPECT_EQ(glance(work_of(kQueue)), Reason::kBound);
}

TEST_P(Waiting, GoesOnWithTheMarkOfTheLastWake) {
  Interest interest = instances_of(kQueue);
  start("a");
  Wake wake = store().wait_for_change(interest);
  ASSERT_EQ(wake.reason, Reason::kChanged);
  interest.after = wake.mark;
  EXPECT_EQ(glance(interest), Reason::kBound) << "one commit wakes once";
  start("b");
  EXPECT_EQ(wait(interest), Reason::kChanged);
}

TEST_P(Waiting, WakesAThreadThatIsWaiting) {
  for (int round = 0; round < kRounds; ++round) {
    auto waiting = wait_aside(instances_of(kQueue));
    start("a" + std::to_string(round));
    ASSERT_EQ(waiting.get(), Reason::kChanged) << "round " << round;
  }
}

TEST_P(Waiting, WakesEveryThreadThatWaits) {
  std::vector<std::future<Reason>> waiting;
  for (int thread = 0; thread < 8; ++thread) waiting.push_back(wait_aside(instances_of(kQueue)));
  start("a");
  for (auto& wake : waiting) EXPECT_EQ(wake.get(), Reason::kChanged);
}

TEST_P(Waiting, WakesAThreadWhenItsTimeComes) {
  for (int round = 0; round < kRounds; ++round) {
    Interest interest = from_now();
    interest.until = now() + 10s;
    auto waiting = wait_aside(interest);
    advance(10s);
    ASSERT_EQ(waiting.get(), Reason::kTime) << "round " << round;
  }
}

TEST_P(Waiting, EndsAtOnceForATimeThatHasPassed) {
  Interest interest = from_now();
  interest.until = now() - 1s;
  EXPECT_EQ(wait(interest), Reason::kTime);
  advance(1s);
  EXPECT_EQ(wait(interest), Reason::kTime);
}

TEST_P(Waiting, EndsAtItsBound) {
  EXPECT_EQ(glance(from_now()), Reason::kBound);
  Interest interest = instances_of(kQueue);
  interest.until = now() + 1h;
  EXPECT_EQ(glance(interest), Reason::kBound);
}

TEST_P(Waiting, InterruptEndsEveryWaitUnderWay) {
  std::vector<std::future<Reason>> waiting;
  std::atomic<int> ended{0};
  for (int thread = 0; thread < 4; ++thread) {
    waiting.push_back(std::async(std::launch::async, [this, &ended] {
      const Reason reason = wait(instances_of(kQueue));
      ended.fetch_add(1);
      return reason;
    }));
  }
  // A thread may take its mark later.
  while (ended.load() < 4) {
    store().interrupt_waits();
    std::this_thread::yield();
  }
  for (auto& wake : waiting) EXPECT_EQ(wake.get(), Reason::kInterrupted);
}

TEST_P(Waiting, InterruptEndsAWaitThatBeginsLaterWithAnOlderMark) {
  const Interest before = from_now();
  store().interrupt_waits();
  EXPECT_EQ(wait(before), Reason::kInterrupted);
  EXPECT_EQ(glance(from_now()), Reason::kBound);
}

TEST_P(Waiting, TimersComeAtTheTimeThatTheFetchNames) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit commit = turn(item);
  const TimePoint due = now() + 60s;
  schedule_timer(commit, item, due);
  EXPECT_EQ(this->commit(std::move(commit)).next_at, due);
  Interest interest = from_now();
  const auto fetched = store().fetch_orchestration_items(fetch_request(1));
  ASSERT_TRUE(fetched.ok()) << fetched;
  ASSERT_TRUE(fetched->items.empty());
  ASSERT_EQ(fetched->next_at, due);
  interest.until = fetched->next_at;
  auto waiting = wait_aside(interest);
  advance(60s);
  EXPECT_EQ(waiting.get(), Reason::kTime);
  EXPECT_EQ(kinds(lock("a").messages), (std::vector{MessageKind::kTimerFired}));
}

TEST_P(Waiting, DelayedWorkComesAtTheTimeThatTheFetchNames) {
  NewWork later;
  later.visible_at = now() + 60s;
  start_with_work("a", 1, later);
  Interest interest = from_now();
  const auto fetched = store().fetch_work_items(claim_request(1));
  ASSERT_TRUE(fetched.ok()) << fetched;
  ASSERT_TRUE(fetched->items.empty());
  ASSERT_EQ(fetched->next_at, later.visible_at);
  interest.until = fetched->next_at;
  auto waiting = wait_aside(interest);
  advance(60s);
  EXPECT_EQ(waiting.get(), Reason::kTime);
  claim();
}

PERDURE_CONFORMANCE_SUITE(Waiting);

}  // namespace perdure::conformance
