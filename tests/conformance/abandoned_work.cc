#include "tests/conformance/conformance.h"

/// Work that a cancel has cut from its owner (`on_cancel = abandon`): it may finish, and is never
/// started again, because no step of a canceled run is.
namespace perdure::conformance {

class AbandonedWork : public Conformance {
 protected:
  /// A claimed row whose run was canceled around it.
  WorkItem claim_and_cancel(Duration schedule_to_close = {}) {
    NewWork work;
    work.on_cancel = OnCancel::kAbandon;
    work.retry.max_attempts = 5;
    work.timeouts.schedule_to_close = schedule_to_close;
    start_with_work("a", 1, work);
    WorkItem item = claim();
    EXPECT_TRUE(cancel("a").touched.empty());
    return item;
  }

  /// Whether anything is told to the run beside its own cancel.
  std::vector<MessageKind> told() { return kinds(lock("a").messages); }
};

TEST_P(AbandonedWork, IsNotTriedAgainWhenItFails) {
  const WorkItem item = claim_and_cancel();
  SettledWork again = settled(item, WorkOutcome::Kind::kRetryAt);
  again.outcome.failure.type = "boom";
  EXPECT_TRUE(try_settle(again).ok());
  advance(1h);
  EXPECT_FALSE(try_claim());
  EXPECT_EQ(check(item), ClaimState::kGone);
}

TEST_P(AbandonedWork, IsNotTriedAgainWhenItIsGivenBack) {
  const WorkItem item = claim_and_cancel();
  EXPECT_TRUE(try_settle(settled(item, WorkOutcome::Kind::kGivenBack)).ok());
  EXPECT_FALSE(try_claim());
  EXPECT_EQ(check(item), ClaimState::kGone);
}

TEST_P(AbandonedWork, IsNotTriedAgainWhenItsLeaseLapses) {
  const WorkItem item = claim_and_cancel();
  advance(kLock + 1s);
  EXPECT_FALSE(try_claim());
  const auto swept = store().sweep_work_items();
  ASSERT_TRUE(swept.ok());
  EXPECT_EQ(swept->ended, 1);
  EXPECT_FALSE(try_claim());
  EXPECT_EQ(check(item), ClaimState::kGone);
}

TEST_P(AbandonedWork, IsNotTriedAgainWhenItsLeaseHadLapsedBeforeTheCancel) {
  NewWork work;
  work.on_cancel = OnCancel::kAbandon;
  start_with_work("a", 1, work);
  claim();
  advance(kLock + 1s);
  ASSERT_TRUE(store().sweep_work_items().ok());
  cancel("a");
  EXPECT_FALSE(try_claim());
  ASSERT_TRUE(store().sweep_work_items().ok());
  EXPECT_FALSE(try_claim());
}

TEST_P(AbandonedWork, IsNotTriedAgainWhenItsProcessDies) {
  NewWork work;
  work.on_cancel = OnCancel::kAbandon;
  start_with_work("a", 1, work);
  auto other = register_another();
  FetchWorkItems request = claim_request(0);
  request.epoch = other->epoch();
  request.tokens = other->next(1);
  const auto claimed = store().fetch_work_items(request);
  ASSERT_TRUE(claimed.ok());
  ASSERT_EQ(claimed->items.size(), 1U);
  cancel("a");
  const auto ended = store().take_over({.epoch = other->epoch()});
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->freed_claims, 0);
  EXPECT_EQ(ended->ended_rows, 1);
  EXPECT_FALSE(try_claim());
}

TEST_P(AbandonedWork, EndsUnheardWhateverTheOutcome) {
  const WorkItem item = claim_and_cancel();
  EXPECT_TRUE(try_fail(item).ok());
  EXPECT_EQ(told(), (std::vector{MessageKind::kCancel}));
}

TEST_P(AbandonedWork, IsKeptByItsWorkerAsLongAsItIsRenewed) {
  const WorkItem item = claim_and_cancel();
  advance(20s);
  EXPECT_EQ(renew(item), ClaimState::kRenewed);
  advance(20s);
  ASSERT_TRUE(store().sweep_work_items().ok());
  EXPECT_EQ(check(item), ClaimState::kRenewed);
  EXPECT_TRUE(try_complete(item).ok());
}

TEST_P(AbandonedWork, IsNotEndedByItsOldLimit) {
  const WorkItem item = claim_and_cancel(60s);
  const TimePoint lease = add(now(), 1h);
  ASSERT_EQ(renew(item, 1h), ClaimState::kRenewed);
  advance(61s);

  const auto swept = store().sweep_work_items();
  ASSERT_TRUE(swept.ok());
  EXPECT_EQ(swept->timed_out, 0);
  EXPECT_EQ(swept->ended, 0);
  EXPECT_TRUE(swept->touched.empty());
  EXPECT_EQ(swept->next_at, lease) << "only its lease is of interest";
  EXPECT_EQ(check(item), ClaimState::kRenewed);
  EXPECT_TRUE(try_complete(item).ok());
  EXPECT_EQ(told(), (std::vector{MessageKind::kCancel, MessageKind::kCleanupDeadline}));
}

TEST_P(AbandonedWork, IsDeletedWhenItLapsedAndItsProcessHasEnded) {
  for (const OnCancel policy : {OnCancel::kAbandon, OnCancel::kWait}) {
    const std::string id(to_string(policy));
    NewWork work;
    work.on_cancel = policy;
    start_with_work(id, 1, work);
    auto other = register_another();
    FetchWorkItems request = claim_request(0);
    request.epoch = other->epoch();
    request.tokens = other->next(1);
    ASSERT_EQ(store().fetch_work_items(request)->items.size(), 1u);
    advance(kLock + 1s);
    ASSERT_TRUE(store().sweep_work_items().ok());  // free again, with the token of the lapsed claim
    ASSERT_TRUE(store().take_over({.epoch = other->epoch()}).ok());
    EXPECT_TRUE(cancel(id).touched.empty()) << "nobody holds it";
    EXPECT_FALSE(try_claim()) << id;
    const auto swept = store().sweep_work_items();
    ASSERT_TRUE(swept.ok());
    EXPECT_FALSE(swept->next_at) << "nothing is left of it";
    terminate(id);
  }
}

TEST_P(AbandonedWork, OfARunThatEndsByItselfIsCutToo) {
  NewWork work;
  work.on_cancel = OnCancel::kAbandon;
  start_with_work("a", 1, work);
  const WorkItem item = claim();
  poke("a");
  EXPECT_TRUE(end("a", ExecutionStatus::kCompleted).touched.empty());
  EXPECT_EQ(check(item), ClaimState::kRenewed);
  EXPECT_TRUE(try_complete(item).ok());
}

TEST_P(AbandonedWork, DiffersFromWorkThatIsAwaitedWhenTheRunEnds) {
  NewWork work;
  work.on_cancel = OnCancel::kWait;
  for (const ExecutionStatus status : {ExecutionStatus::kCompleted, ExecutionStatus::kFailed}) {
    const std::string id(to_string(status));
    start_with_work(id, 1, work);
    const WorkItem item = claim();
    poke(id);
    EXPECT_EQ(end(id, status).touched, (std::vector{TouchedClaim{item.id, item.lock, true}}));
    EXPECT_EQ(check(item), ClaimState::kCanceled);
    EXPECT_TRUE(try_complete(item).ok()) << "accepted, and told to nobody";
    EXPECT_EQ(check(item), ClaimState::kGone);
  }
}

PERDURE_CONFORMANCE_SUITE(AbandonedWork);

}  // namespace perdure::conformance
