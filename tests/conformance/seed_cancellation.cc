#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// Cancellation of activities by a turn: the row is deleted, and its absence is the signal.
namespace perdure::conformance {

namespace {

/// The scheduling events of a first turn made by start_with_work.
std::vector<EventId> calls_of(const OrchestrationItem& first_turn, int count) {
  std::vector<EventId> calls;
  for (int i = 1; i <= count; ++i) calls.push_back(EventId{first_turn.last_event.value + i});
  return calls;
}

std::vector<EventId> events_of(const std::vector<WorkItem>& items) {
  std::vector<EventId> events;
  for (const WorkItem& item : items) events.push_back(item.owner.event);
  std::sort(events.begin(), events.end());
  return events;
}

}  // namespace

class SeedCancellation : public Conformance {
 protected:
  /// Commits a turn of `id` that gives up the given calls.
  TurnCommitted drop(const std::string& id, std::vector<EventId> calls) {
    poke(id);
    const OrchestrationItem item = lock(id);
    TurnCommit decisions = turn(item);
    decisions.canceled_work = std::move(calls);
    return commit(std::move(decisions));
  }

  TurnCommitted poke_and_end(const std::string& id, ExecutionStatus status) {
    poke(id);
    return end(id, status);
  }
};

TEST_P(SeedCancellation, AckOrchestrationItemDeletesCancelledActivities) {
  const auto calls = calls_of(start_with_work("a", 5), 5);

  const TurnCommitted answer = drop("a", {calls[0], calls[2], calls[4]});

  EXPECT_TRUE(answer.touched.empty()) << "nobody ran them";
  EXPECT_EQ(events_of(claim_up_to(10)), (std::vector<EventId>{calls[1], calls[3]}));
}

TEST_P(SeedCancellation, CancellationOfLockedActivityCausesRenewalFailure) {
  const auto calls = calls_of(start_with_work("a", 1), 1);
  const WorkItem running = claim();
  ASSERT_EQ(renew(running), ClaimState::kRenewed);

  const TurnCommitted answer = drop("a", calls);

  const std::vector<TouchedClaim> expected{{running.id, running.lock, false}};
  EXPECT_EQ(answer.touched, expected) << "the worker's token is to be fired";
  EXPECT_EQ(renew(running), ClaimState::kGone);
  EXPECT_EQ(check(running), ClaimState::kGone);
}

TEST_P(SeedCancellation, CancellationOfUnlockedActivityRemovesFromQueue) {
  const auto calls = calls_of(start_with_work("a", 1), 1);

  drop("a", calls);

  EXPECT_FALSE(try_claim());
  advance(24h);
  EXPECT_FALSE(try_claim()) << "it does not come back";
}

TEST_P(SeedCancellation, AckWorkItemFailsOnCancelledRow) {
  const auto calls = calls_of(start_with_work("a", 1), 1);
  const WorkItem running = claim();
  drop("a", calls);

  EXPECT_EQ(refusal(try_complete(running)), ErrorCode::kLockLost);
  EXPECT_EQ(refusal(try_fail(running)), ErrorCode::kLockLost);
  SettledWork again = settled(running, WorkOutcome::Kind::kRetryAt);
  EXPECT_EQ(refusal(try_settle(again)), ErrorCode::kLockLost);

  EXPECT_FALSE(try_lock()) << "a refused outcome tells nobody";
  EXPECT_FALSE(try_claim()) << "a refused retry brings nothing back";
}

TEST_P(SeedCancellation, AckWorkItemSucceedsIfRowExists) {
  const auto calls = calls_of(start_with_work("a", 1), 1);
  const WorkItem running = claim();

  EXPECT_TRUE(try_complete(running, "42").ok());

  const OrchestrationItem item = lock("a");
  ASSERT_EQ(kinds(item.messages), (std::vector<MessageKind>{MessageKind::kActivityCompleted}));
  EXPECT_EQ(item.messages[0].source, calls[0]);
  EXPECT_EQ(item.messages[0].execution, item.execution);
  EXPECT_EQ(item.messages[0].payload, "42");
  EXPECT_EQ(refusal(try_complete(running)), ErrorCode::kLockLost) << "an outcome is written once";
}

TEST_P(SeedCancellation, MassCancellationDeletesAllActivities) {
  const auto calls = calls_of(start_with_work("a", 50), 50);

  drop("a", calls);

  EXPECT_TRUE(claim_up_to(50).empty());
}

TEST_P(SeedCancellation, AckWorkItemNoneDeletesWithoutEnqueue) {
  start_with_work("a", 1);
  const WorkItem running = claim();

  EXPECT_TRUE(try_settle(settled(running, WorkOutcome::Kind::kCanceled)).ok());

  EXPECT_FALSE(try_lock());
  EXPECT_FALSE(try_claim());
  advance(kLock + 1s);
  EXPECT_FALSE(try_lock()) << "nothing was enqueued with a delay";
  EXPECT_FALSE(try_claim()) << "the row does not lapse back into the queue";
}

TEST_P(SeedCancellation, FetchFindsNothingAfterCompletion) {
  start_with_work("a", 3);

  poke_and_end("a", ExecutionStatus::kCompleted);

  EXPECT_TRUE(claim_up_to(3).empty());
}

TEST_P(SeedCancellation, FetchFindsNothingAfterFailure) {
  start_with_work("a", 3);

  poke_and_end("a", ExecutionStatus::kFailed);

  EXPECT_TRUE(claim_up_to(3).empty());
}

TEST_P(SeedCancellation, FetchFindsNothingAfterContinueAsNew) {
  start_with_work("a", 3);

  poke_and_end("a", ExecutionStatus::kContinuedAsNew);

  EXPECT_TRUE(claim_up_to(3).empty());
}

TEST_P(SeedCancellation, FetchFindsWorkWhileRunning) {
  start_with_work("a", 3);
  poke("a");
  commit(turn(lock("a")));

  EXPECT_EQ(claim_up_to(5).size(), 3u) << "a turn that cancels nothing takes nothing away";
}

TEST_P(SeedCancellation, RenewAnswersRenewedWhileRunning) {
  start_with_work("a", 1);
  const WorkItem running = claim();

  for (int i = 0; i < 5; ++i) {
    advance(kLock - 1s);
    EXPECT_EQ(renew(running), ClaimState::kRenewed);
  }

  advance(kLock - 1s);
  EXPECT_FALSE(try_claim()) << "each renewal extended the lease";
  EXPECT_TRUE(try_complete(running).ok());
}

TEST_P(SeedCancellation, RenewAnswersGoneAfterCompletion) {
  start_with_work("a", 1);
  const WorkItem running = claim();

  const TurnCommitted answer = poke_and_end("a", ExecutionStatus::kCompleted);

  EXPECT_EQ(answer.touched.size(), 1u);
  EXPECT_EQ(renew(running), ClaimState::kGone);
  EXPECT_EQ(refusal(try_complete(running)), ErrorCode::kLockLost);
}

TEST_P(SeedCancellation, RenewAnswersGoneAfterFailure) {
  start_with_work("a", 1);
  const WorkItem running = claim();

  const TurnCommitted answer = poke_and_end("a", ExecutionStatus::kFailed);

  EXPECT_EQ(answer.touched.size(), 1u);
  EXPECT_EQ(renew(running), ClaimState::kGone);
  EXPECT_EQ(refusal(try_complete(running)), ErrorCode::kLockLost);
}

TEST_P(SeedCancellation, RenewAnswersGoneAfterContinueAsNew) {
  start_with_work("a", 1);
  const WorkItem running = claim();

  const TurnCommitted answer = poke_and_end("a", ExecutionStatus::kContinuedAsNew);

  EXPECT_EQ(answer.touched.size(), 1u);
  EXPECT_EQ(renew(running), ClaimState::kGone);
  EXPECT_EQ(refusal(try_complete(running)), ErrorCode::kLockLost);
}

TEST_P(SeedCancellation, MassCancellationOfTenThousandRows) {
  constexpr int kRows = 10'000;
  constexpr int kRunning = 200;
  const auto calls = calls_of(start_with_work("a", kRows), kRows);
  const auto running = claim_up_to(kRunning);
  ASSERT_EQ(running.size(), static_cast<std::size_t>(kRunning));
  start_with_work("neighbour", 1);

  const TurnCommitted answer = drop("a", calls);

  EXPECT_EQ(answer.touched.size(), static_cast<std::size_t>(kRunning));
  EXPECT_EQ(renew(running.front()), ClaimState::kGone);
  EXPECT_EQ(renew(running.back()), ClaimState::kGone);
  const auto left = claim_up_to(kRunning);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].instance_id, "neighbour");
}

TEST_P(SeedCancellation, InsertThenCancelInOneAckLeavesNothing) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  const EventId dropped = schedule(decisions, item);
  const EventId kept = schedule(decisions, item);
  decisions.canceled_work = {dropped};

  const TurnCommitted answer = commit(std::move(decisions));

  EXPECT_TRUE(answer.touched.empty());
  EXPECT_EQ(events_of(claim_up_to(5)), (std::vector<EventId>{kept}));
}

TEST_P(SeedCancellation, CancelingUnknownActivitiesIsIdempotent) {
  const auto calls = calls_of(start_with_work("a", 2), 2);

  drop("a", {EventId{999}, calls[0]});
  const TurnCommitted again = drop("a", {calls[0], EventId{999}});

  EXPECT_TRUE(again.touched.empty());
  EXPECT_EQ(status("a"), ExecutionStatus::kRunning);
  EXPECT_EQ(events_of(claim_up_to(5)), (std::vector<EventId>{calls[1]}));
}

TEST_P(SeedCancellation, BatchOfTurnsCancelsTheActivitiesOfEach) {
  const auto calls = calls_of(start_with_work("a", 2), 2);
  start_with_work("b", 2);
  start_with_work("c", 2);
  for (const char* id : {"a", "b", "c"}) poke(id);
  AckOrchestrationItems request;
  for (const OrchestrationItem& item : lock_up_to(3)) {
    TurnCommit decisions = turn(item);
    decisions.canceled_work = {calls[item.id == "b" ? 1 : 0]};
    request.entries.push_back(std::move(decisions));
  }

  auto answers = store().ack_orchestration_items(std::move(request));

  ASSERT_TRUE(answers.ok());
  ASSERT_EQ(answers->size(), 3u);
  for (const auto& answer : *answers) EXPECT_TRUE(answer.ok());
  const auto left = claim_up_to(10);
  ASSERT_EQ(left.size(), 3u) << "one call of each instance, although their event ids are equal";
  for (const WorkItem& item : left) {
    EXPECT_EQ(item.owner.event, calls[item.instance_id == "b" ? 0 : 1]) << item.instance_id;
  }
}

TEST_P(SeedCancellation, RefusedTurnCancelsNothing) {
  const auto calls = calls_of(start_with_work("a", 1), 1);
  const WorkItem running = claim();
  poke("a");
  const OrchestrationItem stale = lock("a");
  abandon(stale);
  TurnCommit decisions = turn(stale);
  decisions.canceled_work = calls;

  EXPECT_EQ(refusal(try_commit(std::move(decisions))), ErrorCode::kLockLost);

  EXPECT_EQ(renew(running), ClaimState::kRenewed);
  EXPECT_TRUE(try_complete(running).ok());
}

TEST_P(SeedCancellation, CompletionThatCommittedBeforeTheCancelIsKept) {
  const auto calls = calls_of(start_with_work("a", 1), 1);
  const WorkItem running = claim();
  poke("a");
  const OrchestrationItem item = lock("a");
  complete(running, "1");
  TurnCommit decisions = turn(item);
  decisions.canceled_work = calls;

  const TurnCommitted answer = commit(std::move(decisions));

  EXPECT_TRUE(answer.touched.empty());
  EXPECT_TRUE(answer.more_now);
  EXPECT_EQ(kinds(lock("a").messages), (std::vector<MessageKind>{MessageKind::kActivityCompleted}));
}

PERDURE_CONFORMANCE_SUITE(SeedCancellation);

}  // namespace perdure::conformance
