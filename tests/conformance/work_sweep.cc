#include <stdexcept>
#include <utility>

#include "tests/conformance/conformance.h"

/// What time does to work rows without a worker asking for them.
namespace perdure::conformance {

namespace {

using Kind = WorkOutcome::Kind;

/// The only message of this kind; its absence or a second one fails the test.
Message only(const OrchestrationItem& item, MessageKind kind) {
  std::vector<Message> found;
  for (const Message& message : item.messages) {
    if (message.kind == kind) found.push_back(message);
  }
  if (found.size() != 1) {
    throw std::runtime_error(std::to_string(found.size()) + " messages of one kind expected once");
  }
  return found[0];
}

}  // namespace

class WorkSweep : public Conformance {
 protected:
  SweptWork sweep(std::int64_t limit = 1'000) {
    auto answer = store().sweep_work_items({.limit = limit});
    if (!answer.ok()) throw std::runtime_error("sweep: " + answer.error().message);
    return std::move(answer).value();
  }

  static std::int64_t rows(const SweptWork& swept) {
    return swept.promoted + swept.lost + swept.ended + swept.poisoned + swept.timed_out;
  }

  /// A claim of instance "a" whose caller waits and whose run was canceled.
  WorkItem marked_claim(WorkTimeouts timeouts = {}) {
    start_with_work("a", 1, {.on_cancel = OnCancel::kWait, .timeouts = timeouts});
    WorkItem item = claim();
    const CancelAnswer answer = cancel("a");
    const TouchedClaim expected{.id = item.id, .lock = item.lock, .marked = true};
    if (answer.touched != std::vector{expected})
      throw std::runtime_error("the claim is not marked");
    return item;
  }

  /// Neither time nor a worker brings a row back.
  bool nothing_is_left() {
    advance(24h);
    return rows(sweep()) == 0 && !try_claim().has_value();
  }
};

TEST_P(WorkSweep, PromotesDueRowsAndLeavesTheOthers) {
  start_with_work("a", 2, {.visible_at = add(now(), 60s)});
  start_with_work("b", 1, {.visible_at = add(now(), 90s)});
  EXPECT_EQ(sweep().promoted, 0);
  advance(60s);

  EXPECT_EQ(sweep().promoted, 2);
  EXPECT_EQ(rows(sweep()), 0);
  EXPECT_EQ(claim_up_to(5).size(), 2u);
}

TEST_P(WorkSweep, PromotesRetriesWhenTheirDelayIsOver) {
  start_with_work("a", 1);
  SettledWork retry = settled(claim(), Kind::kRetryAt);
  retry.outcome.delay = 60s;
  ASSERT_TRUE(try_settle(retry).ok());
  EXPECT_EQ(sweep().promoted, 0);
  advance(60s);

  EXPECT_EQ(sweep().promoted, 1);
  const WorkItem item = claim();
  EXPECT_EQ(item.failures, 1);
  EXPECT_EQ(item.losses, 0);
}

TEST_P(WorkSweep, FreesLapsedClaimsWithOneLoss) {
  start_with_work("a", 2);
  const auto items = claim_up_to(2);
  ASSERT_EQ(items.size(), 2u);
  advance(kLock - 5s);
  ASSERT_EQ(renew(items[1]), ClaimState::kRenewed);
  EXPECT_EQ(sweep().lost, 0);
  advance(6s);

  EXPECT_EQ(sweep().lost, 1);
  EXPECT_EQ(rows(sweep()), 0);
  const auto again = claim_up_to(2);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].id, items[0].id);
  EXPECT_EQ(again[0].losses, 1);
}

TEST_P(WorkSweep, EndsARowOfACanceledRunWhenItsLeaseLapsed) {
  const WorkItem work = marked_claim();
  EXPECT_EQ(rows(sweep()), 0);
  advance(kLock + 1s);

  const SweptWork swept = sweep();
  EXPECT_EQ(swept.ended, 1);
  EXPECT_EQ(swept.lost, 0);
  EXPECT_EQ(rows(sweep()), 0);
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(kinds(item.messages),
            (std::vector{MessageKind::kCancel, MessageKind::kActivityCanceled}));
  EXPECT_EQ(item.messages.at(1).source, work.owner.event);
  EXPECT_EQ(item.messages.at(1).execution, work.owner.execution);
  EXPECT_EQ(check(work), ClaimState::kGone);
}

TEST_P(WorkSweep, EndsARowThatATurnDroppedWhenItsLeaseLapsed) {
  start_with_work("a", 2, {.on_cancel = OnCancel::kWait});
  const auto work = claim_up_to(2);
  ASSERT_EQ(work.size(), 2u);
  poke("a");
  OrchestrationItem item = lock("a");
  TurnCommit drop = turn(item);
  HistoryEvent dropped = next_event(item, drop, EventKind::kActivityDropped);
  dropped.source = work[0].owner.event;
  drop.events.push_back(dropped);
  drop.canceled_work = {work[0].owner.event};
  const TurnCommitted committed = commit(std::move(drop));
  EXPECT_EQ(committed.touched,
            (std::vector{TouchedClaim{.id = work[0].id, .lock = work[0].lock, .marked = true}}));
  ASSERT_EQ(renew(work[1], 1h), ClaimState::kRenewed);
  advance(kLock + 1s);

  EXPECT_EQ(sweep().ended, 1);
  EXPECT_EQ(sweep().ended, 0);
  item = lock("a");
  ASSERT_EQ(item.messages.size(), 1u);
  EXPECT_EQ(only(item, MessageKind::kActivityCanceled).source, work[0].owner.event);
  EXPECT_EQ(check(work[1]), ClaimState::kRenewed);
}

TEST_P(WorkSweep, EndsMarkedRowsWhichNoClaimEverTakesAgain) {
  marked_claim();
  advance(kLock + 1s);
  EXPECT_FALSE(try_claim().has_value());

  EXPECT_EQ(sweep().ended, 1);
  EXPECT_FALSE(try_claim().has_value());
  only(lock("a"), MessageKind::kActivityCanceled);
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(WorkSweep, LeavesAMarkedRowPastItsLimitToItsOwnEnd) {
  const WorkItem work = marked_claim({.schedule_to_close = 60s});
  const TimePoint lease = add(now(), 1h);
  ASSERT_EQ(renew(work, 1h), ClaimState::kCanceled);
  advance(61s);

  const SweptWork swept = sweep();
  EXPECT_EQ(rows(swept), 0);
  EXPECT_TRUE(swept.touched.empty()) << "its handler knows already";
  EXPECT_EQ(swept.next_at, lease) << "only its lease is of interest";
  EXPECT_EQ(check(work), ClaimState::kCanceled);
  ASSERT_TRUE(try_complete(work, "\"charged\"").ok());
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(only(item, MessageKind::kActivityCompleted).payload, "\"charged\"");
  EXPECT_EQ(
      kinds(item.messages),
      (std::vector{
          MessageKind::kCancel, MessageKind::kCleanupDeadline, MessageKind::kActivityCompleted}));
}

TEST_P(WorkSweep, LeavesNothingForTheLateAckOfAnEndedRow) {
  const WorkItem work = marked_claim();
  advance(kLock + 1s);
  ASSERT_EQ(sweep().ended, 1);

  EXPECT_EQ(code_of(try_complete(work)), ErrorCode::kLockLost);
  EXPECT_EQ(renew(work), ClaimState::kGone);
  const OrchestrationItem item = lock("a");
  only(item, MessageKind::kActivityCanceled);
  EXPECT_EQ(item.messages.size(), 2u);
}

TEST_P(WorkSweep, IsForestalledByAHandlerThatCompletesItsMarkedRow) {
  const WorkItem work = marked_claim();
  ASSERT_TRUE(try_complete(work, "\"charged\"").ok());

  EXPECT_TRUE(nothing_is_left());
  const Message told = only(lock("a"), MessageKind::kActivityCompleted);
  EXPECT_EQ(told.source, work.owner.event);
  EXPECT_EQ(told.payload, "\"charged\"");
}

TEST_P(WorkSweep, IsForestalledByAHandlerThatFailsItsMarkedRow) {
  const WorkItem work = marked_claim();
  ASSERT_TRUE(try_fail(work, "declined").ok());

  EXPECT_TRUE(nothing_is_left());
  EXPECT_EQ(only(lock("a"), MessageKind::kActivityFailed).failure.type, "declined");
}

TEST_P(WorkSweep, IsForestalledByARetryWhichFailsAMarkedRow) {
  SettledWork retry = settled(marked_claim(), Kind::kRetryAt);
  retry.outcome.failure = {.type = "net", .message = "down"};
  retry.outcome.delay = 5s;
  ASSERT_TRUE(try_settle(retry).ok());

  const OrchestrationItem item = lock("a");
  EXPECT_EQ(only(item, MessageKind::kActivityFailed).failure, retry.outcome.failure);
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(WorkSweep, IsForestalledByAHandlerThatStopsAsCanceled) {
  const WorkItem work = marked_claim();
  ASSERT_TRUE(try_settle(settled(work, Kind::kCanceled)).ok());

  EXPECT_EQ(only(lock("a"), MessageKind::kActivityCanceled).source, work.owner.event);
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(WorkSweep, IsForestalledByAGiveBackWhichCancelsAMarkedRow) {
  const WorkItem work = marked_claim();
  ASSERT_TRUE(try_settle(settled(work, Kind::kGivenBack)).ok());

  EXPECT_FALSE(try_claim().has_value());
  EXPECT_EQ(only(lock("a"), MessageKind::kActivityCanceled).source, work.owner.event);
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(WorkSweep, FailsARowThatNobodyStartedInTime) {
  const OrchestrationItem owner = start_with_work("a", 1, {.timeouts = {.schedule_to_start = 60s}});
  advance(50s);
  EXPECT_EQ(sweep().timed_out, 0);
  advance(11s);

  EXPECT_EQ(sweep().timed_out, 1);
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(item.messages.size(), 1u);
  const Message told = only(item, MessageKind::kActivityFailed);
  EXPECT_EQ(told.failure.type, kTimeoutFailure);
  EXPECT_EQ(told.execution, owner.execution);
  EXPECT_EQ(told.source, EventId{owner.last_event.value + 1});
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(WorkSweep, SparesARowThatWasStartedInTime) {
  start_with_work("a", 1, {.timeouts = {.schedule_to_start = 60s}});
  ASSERT_TRUE(try_settle(settled(claim(), Kind::kGivenBack)).ok());
  advance(1h);

  EXPECT_EQ(sweep().timed_out, 0);
  EXPECT_FALSE(try_lock().has_value());
  EXPECT_EQ(claim().deferrals, 1);
}

TEST_P(WorkSweep, FailsARowThatWaitsForARetryPastItsLimit) {
  start_with_work("a", 1, {.timeouts = {.schedule_to_close = 60s}});
  SettledWork retry = settled(claim(), Kind::kRetryAt);
  retry.outcome.failure = {.type = "net", .message = "down"};
  retry.outcome.delay = 1h;
  ASSERT_TRUE(try_settle(retry).ok());
  advance(50s);
  EXPECT_EQ(sweep().timed_out, 0);
  advance(11s);

  EXPECT_EQ(sweep().timed_out, 1);
  EXPECT_EQ(only(lock("a"), MessageKind::kActivityFailed).failure.type, kTimeoutFailure);
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(WorkSweep, TakesAClaimAwayThatRunsPastItsLimit) {
  start_with_work("a", 1, {.timeouts = {.schedule_to_close = 60s}});
  const WorkItem work = claim();
  ASSERT_EQ(renew(work, 1h), ClaimState::kRenewed);
  advance(61s);

  const SweptWork swept = sweep();
  EXPECT_EQ(swept.timed_out, 1);
  EXPECT_EQ(swept.touched,
            (std::vector{TouchedClaim{.id = work.id, .lock = work.lock, .marked = false}}));
  EXPECT_EQ(check(work), ClaimState::kGone);
  EXPECT_EQ(code_of(try_complete(work)), ErrorCode::kLockLost);
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(item.messages.size(), 1u);
  EXPECT_EQ(only(item, MessageKind::kActivityFailed).failure.type, kTimeoutFailure);
}

TEST_P(WorkSweep, ReportsTheClaimsOfRowsThatItEnds) {
  NewWork work;
  work.on_cancel = OnCancel::kWait;
  start_with_work("a", 1, work);
  const WorkItem item = claim();
  cancel("a");
  advance(kLock + 1s);
  const auto swept = store().sweep_work_items();
  ASSERT_TRUE(swept.ok());
  EXPECT_EQ(swept->touched, (std::vector{TouchedClaim{item.id, item.lock, false}}));
}

TEST_P(WorkSweep, AnswersWhenTheNextRowNeedsIt) {
  const TimePoint begin = now();
  EXPECT_EQ(sweep().next_at, std::nullopt);
  start_with_work("limited", 1, {.name = "other", .timeouts = {.schedule_to_close = 3h}});
  EXPECT_EQ(sweep().next_at, add(begin, 3h));
  start_with_work("delayed", 1, {.visible_at = add(begin, 2h)});
  EXPECT_EQ(sweep().next_at, add(begin, 2h));
  start_with_work("claimed", 1);
  const WorkItem work = claim();
  EXPECT_EQ(sweep().next_at, work.locked_until);
  complete(work);
  EXPECT_EQ(sweep().next_at, add(begin, 2h));
}

TEST_P(WorkSweep, AnswersNoTimeForRowsThatOnlyWaitForAWorker) {
  start_with_work("a", 1);
  EXPECT_EQ(sweep().next_at, std::nullopt);
  claim();
  advance(kLock + 1s);
  ASSERT_EQ(sweep().lost, 1);
  EXPECT_EQ(sweep().next_at, std::nullopt);
}

TEST_P(WorkSweep, DoesNoMoreThanItsLimitAndSaysThatMoreIsDue) {
  start_with_work("lapsing", 2);
  ASSERT_EQ(claim_up_to(2).size(), 2u);
  start_with_work("delayed", 3, {.visible_at = add(now(), 10s)});
  advance(kLock + 1s);

  const SweptWork first = sweep(3);
  EXPECT_EQ(rows(first), 3);
  ASSERT_TRUE(first.next_at.has_value());
  EXPECT_LE(*first.next_at, now());
  EXPECT_EQ(rows(sweep(1)), 1);
  EXPECT_EQ(rows(sweep(3)), 1);
  EXPECT_EQ(rows(sweep(3)), 0);
  EXPECT_EQ(claim_up_to(9).size(), 5u);
}

PERDURE_CONFORMANCE_SUITE(WorkSweep);

}  // namespace perdure::conformance
