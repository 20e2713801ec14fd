#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// What a cancel by a client does to the work of the run, by state and `on_cancel`.
namespace perdure::conformance {

namespace {

NewWork work(OnCancel on_cancel, bool shielded = false) {
  NewWork result;
  result.on_cancel = on_cancel;
  result.shielded = shielded;
  return result;
}

std::vector<TouchedClaim> sorted(std::vector<TouchedClaim> claims) {
  std::sort(claims.begin(), claims.end(), [](const TouchedClaim& a, const TouchedClaim& b) {
    return a.id < b.id;
  });
  return claims;
}

}  // namespace

class ClientCancelWork : public Conformance {};

TEST_P(ClientCancelWork, ClaimedWorkIsDeletedByDefault) {
  start_with_work("a", 1);
  const WorkItem claimed = claim();

  const CancelAnswer answer = cancel("a");

  const std::vector<TouchedClaim> expected{{claimed.id, claimed.lock, false}};
  EXPECT_EQ(answer.touched, expected);
  EXPECT_EQ(check(claimed), ClaimState::kGone);
  EXPECT_EQ(renew(claimed), ClaimState::kGone);
  EXPECT_EQ(refusal(try_complete(claimed)), ErrorCode::kLockLost);
  EXPECT_EQ(kinds(lock("a").messages), (std::vector<MessageKind>{MessageKind::kCancel}));
}

TEST_P(ClientCancelWork, LapsedClaimCannotComeBack) {
  start_with_work("a", 1);
  const WorkItem claimed = claim();
  advance(kLock + 1s);

  cancel("a");

  EXPECT_FALSE(try_claim());
  EXPECT_EQ(renew(claimed), ClaimState::kGone);
  EXPECT_EQ(refusal(try_complete(claimed)), ErrorCode::kLockLost);
}

TEST_P(ClientCancelWork, MarkedWorkIsNeverClaimedAgain) {
  start_with_work("a", 1, work(OnCancel::kWait));
  const WorkItem claimed = claim();
  cancel("a");
  advance(kLock + 1s);

  EXPECT_FALSE(try_claim());

  auto swept = store().sweep_work_items();
  ASSERT_TRUE(swept.ok());
  EXPECT_FALSE(try_claim());
  EXPECT_EQ(check(claimed), ClaimState::kGone) << "its end is written once the lease has lapsed";
  EXPECT_EQ(kinds(lock("a").messages),
            (std::vector<MessageKind>{MessageKind::kCancel, MessageKind::kActivityCanceled}));
}

TEST_P(ClientCancelWork, UnclaimedWorkIsDeletedWhateverItsPolicy) {
  start_with_work("a", 1, work(OnCancel::kTryCancel));
  SettledWork retry = settled(claim(), WorkOutcome::Kind::kRetryAt);
  retry.outcome.failure = {.type = "boom", .message = "it broke"};
  retry.outcome.delay = 10s;
  ASSERT_TRUE(try_settle(std::move(retry)).ok());
  poke("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  for (const auto policy : {OnCancel::kTryCancel, OnCancel::kWait, OnCancel::kAbandon}) {
    schedule(decisions, item, work(policy));
  }
  commit(std::move(decisions));

  EXPECT_TRUE(cancel("a").touched.empty());

  EXPECT_FALSE(try_claim());
  advance(20s);
  EXPECT_FALSE(try_claim()) << "the retry is not made";
  EXPECT_EQ(kinds(lock("a").messages),
            (std::vector<MessageKind>{MessageKind::kActivityCanceled, MessageKind::kCancel}))
      << "only a call that waits for its outcome is told";
}

TEST_P(ClientCancelWork, TheOwnerOfUnclaimedWorkThatWaitsIsToldWhichCallWasCanceled) {
  start_with_work("a", 1, work(OnCancel::kWait));

  cancel("a");

  EXPECT_FALSE(try_claim());
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(item.messages.size(), 2u);
  EXPECT_EQ(item.messages[0].kind, MessageKind::kActivityCanceled);
  EXPECT_EQ(item.messages[0].source, EventId{2});
  EXPECT_EQ(item.messages[0].execution, item.execution);
}

TEST_P(ClientCancelWork, ShieldedWorkSurvivesTheCancelButNotTheEnd) {
  start_with_work("a", 3, work(OnCancel::kTryCancel, true));
  const WorkItem claimed = claim();

  EXPECT_TRUE(cancel("a").touched.empty());

  EXPECT_EQ(check(claimed), ClaimState::kRenewed);
  complete(claimed, "1");
  const WorkItem other = claim();
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(kinds(item.messages),
            (std::vector<MessageKind>{MessageKind::kCancel, MessageKind::kActivityCompleted}));
  TurnCommit decisions = turn(item);
  finish(decisions, item, ExecutionStatus::kCanceled);
  EXPECT_EQ(commit(std::move(decisions)).touched.size(), 1u);
  EXPECT_EQ(check(other), ClaimState::kGone);
  EXPECT_FALSE(try_claim());
}

TEST_P(ClientCancelWork, ClaimedWorkThatWaitsIsMarkedAndItsOutcomeCounts) {
  start_with_work("a", 1, work(OnCancel::kWait));
  const WorkItem claimed = claim();

  const CancelAnswer answer = cancel("a");

  const std::vector<TouchedClaim> expected{{claimed.id, claimed.lock, true}};
  EXPECT_EQ(answer.touched, expected);
  EXPECT_EQ(check(claimed), ClaimState::kCanceled);
  advance(kLock - 5s);
  EXPECT_EQ(renew(claimed), ClaimState::kCanceled);
  advance(kLock - 5s);
  auto swept = store().sweep_work_items();
  ASSERT_TRUE(swept.ok());
  EXPECT_EQ(swept->ended, 0) << "the renewal extended it";
  complete(claimed, "\"real\"");
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(kinds(item.messages),
            (std::vector<MessageKind>{MessageKind::kCancel, MessageKind::kActivityCompleted}));
  EXPECT_EQ(item.messages[1].payload, "\"real\"");
}

TEST_P(ClientCancelWork, ClaimedWorkThatIsAbandonedRunsOnUnheard) {
  start_with_work("a", 1, work(OnCancel::kAbandon));
  const WorkItem claimed = claim();

  EXPECT_TRUE(cancel("a").touched.empty());

  EXPECT_EQ(renew(claimed), ClaimState::kRenewed);
  EXPECT_TRUE(try_complete(claimed).ok());
  EXPECT_EQ(kinds(lock("a").messages), (std::vector<MessageKind>{MessageKind::kCancel}));
}

TEST_P(ClientCancelWork, TouchedClaimsAreCompleteAndOfThisRunOnly) {
  start_with_work("a", 4, work(OnCancel::kTryCancel));
  start_with_work("neighbour", 2, work(OnCancel::kTryCancel));
  poke("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  for (int i = 0; i < 3; ++i) schedule(decisions, item, work(OnCancel::kWait));
  schedule(decisions, item, work(OnCancel::kAbandon));
  commit(std::move(decisions));
  std::vector<TouchedClaim> expected;
  std::vector<WorkItem> others;
  for (const WorkItem& claimed : claim_up_to(20)) {
    if (claimed.instance_id == "neighbour") {
      others.push_back(claimed);
    } else if (claimed.work.on_cancel != OnCancel::kAbandon) {
      expected.push_back({claimed.id, claimed.lock, claimed.work.on_cancel == OnCancel::kWait});
    }
  }
  ASSERT_EQ(expected.size(), 7u);

  EXPECT_EQ(sorted(cancel("a").touched), sorted(expected));
  for (const TouchedClaim& claim : expected) {
    const auto states = store().check_work_items({{claim.id, claim.lock, std::nullopt}});
    ASSERT_TRUE(states.ok());
    EXPECT_EQ(states->at(0), claim.marked ? ClaimState::kCanceled : ClaimState::kGone);
  }
  for (const WorkItem& claimed : others) EXPECT_EQ(check(claimed), ClaimState::kRenewed);
  EXPECT_TRUE(cancel("a").touched.empty()) << "nobody is told twice";
}

PERDURE_CONFORMANCE_SUITE(ClientCancelWork);

}  // namespace perdure::conformance
