#include <stdexcept>
#include <utility>

#include "tests/conformance/conformance.h"

/// How long a claim lasts, and what its holder learns of it.
namespace perdure::conformance {

namespace {

using States = std::vector<ClaimState>;

HeldClaim held(const WorkItem& item, std::optional<std::string> details = {}) {
  return {.id = item.id, .lock = item.lock, .heartbeat_details = std::move(details)};
}

}  // namespace

class WorkLeases : public Conformance {
 protected:
  States renew_all(std::vector<HeldClaim> claims) {
    RenewWorkItemLocks request{.epoch = epoch(), .claims = std::move(claims), .lock_for = kLock};
    auto answer = store().renew_work_item_locks(std::move(request));
    if (!answer.ok()) throw std::runtime_error("renew: " + answer.error().message);
    return std::move(answer).value();
  }

  States check_all(const std::vector<HeldClaim>& claims) {
    auto answer = store().check_work_items(claims);
    if (!answer.ok()) throw std::runtime_error("check: " + answer.error().message);
    return std::move(answer).value();
  }

  /// A claim of an instance of its own that a cancel has marked.
  WorkItem marked_claim(const std::string& id) {
    start_with_work(id, 1, {.on_cancel = OnCancel::kWait});
    WorkItem item = claim();
    cancel(id);
    return item;
  }

  std::optional<WorkItem> claim_as(TokenMint& other) {
    FetchWorkItems request = claim_request(1);
    request.epoch = other.epoch();
    request.tokens = other.next(1);
    auto answer = store().fetch_work_items(std::move(request));
    if (!answer.ok()) throw std::runtime_error("claim: " + answer.error().message);
    if (answer->items.empty()) return std::nullopt;
    return answer->items[0];
  }
};

TEST_P(WorkLeases, LapseAndTheRowIsServedAgainWithALoss) {
  start_with_work("a", 1);
  const WorkItem first = claim();
  advance(kLock - 5s);
  EXPECT_FALSE(try_claim().has_value());
  advance(6s);

  const WorkItem second = claim();
  EXPECT_EQ(second.id, first.id);
  EXPECT_NE(second.lock, first.lock);
  EXPECT_EQ(second.losses, 1);
  EXPECT_EQ(second.failures, 0);
  EXPECT_EQ(second.deferrals, 0);
  EXPECT_FALSE(try_lock().has_value());
}

TEST_P(WorkLeases, ThatAreRenewedLastPastTheirFirstEnd) {
  start_with_work("a", 1);
  const WorkItem item = claim();
  advance(kLock - 10s);
  EXPECT_EQ(renew(item), ClaimState::kRenewed);
  advance(kLock - 10s);

  EXPECT_FALSE(try_claim().has_value());
  EXPECT_EQ(renew(item), ClaimState::kRenewed);
  advance(kLock - 10s);
  EXPECT_FALSE(try_claim().has_value());
  EXPECT_TRUE(try_complete(item).ok());
}

TEST_P(WorkLeases, ThatAreRenewedLapseWhenRenewalStops) {
  start_with_work("a", 1);
  const WorkItem item = claim();
  advance(kLock - 10s);
  ASSERT_EQ(renew(item, 100s), ClaimState::kRenewed);
  advance(95s);
  EXPECT_FALSE(try_claim().has_value());
  advance(6s);

  EXPECT_EQ(claim().losses, 1);
  EXPECT_EQ(renew(item), ClaimState::kGone);
}

TEST_P(WorkLeases, OfASettledAttemptAreGone) {
  start_with_work("a", 4);
  const auto items = claim_up_to(4);
  ASSERT_EQ(items.size(), 4u);
  complete(items[0]);
  ASSERT_TRUE(try_fail(items[1]).ok());
  ASSERT_TRUE(try_settle(settled(items[2], WorkOutcome::Kind::kRetryAt)).ok());
  ASSERT_TRUE(try_settle(settled(items[3], WorkOutcome::Kind::kGivenBack)).ok());

  for (const WorkItem& item : items) {
    EXPECT_EQ(renew(item), ClaimState::kGone);
    EXPECT_EQ(check(item), ClaimState::kGone);
  }
  EXPECT_EQ(claim_up_to(4).size(), 2u);
}

TEST_P(WorkLeases, ThatLapsedAreRenewedWhileNobodyTookTheRow) {
  start_with_work("a", 1);
  const WorkItem item = claim();
  advance(kLock + 1h);
  EXPECT_EQ(check(item), ClaimState::kRenewed);
  EXPECT_EQ(renew(item), ClaimState::kRenewed);

  EXPECT_FALSE(try_claim().has_value());
  advance(kLock + 1s);
  EXPECT_EQ(claim().losses, 1);
}

TEST_P(WorkLeases, ThatLapsedAreGoneOnceTheRowIsTaken) {
  start_with_work("a", 1);
  const WorkItem old_claim = claim();
  advance(kLock + 1s);
  auto other = register_another();
  const auto taken = claim_as(*other);
  ASSERT_TRUE(taken.has_value());

  EXPECT_EQ(renew(old_claim), ClaimState::kGone);
  EXPECT_EQ(check(old_claim), ClaimState::kGone);
  EXPECT_EQ(check(*taken), ClaimState::kRenewed);
  EXPECT_EQ(renew(*taken), ClaimState::kRenewed);
}

TEST_P(WorkLeases, AreNotRenewedByAnotherToken) {
  start_with_work("a", 1);
  const WorkItem item = claim();
  WorkItem forged = item;
  forged.lock = mint().next();
  advance(kLock - 5s);
  EXPECT_EQ(renew(forged), ClaimState::kGone);
  EXPECT_EQ(check(forged), ClaimState::kGone);

  advance(6s);
  EXPECT_TRUE(try_claim().has_value());
}

TEST_P(WorkLeases, OfADeletedRowAreGone) {
  start_with_work("a", 1, {.on_cancel = OnCancel::kTryCancel});
  const WorkItem item = claim();
  const CancelAnswer answer = cancel("a");
  EXPECT_EQ(answer.touched,
            (std::vector{TouchedClaim{.id = item.id, .lock = item.lock, .marked = false}}));

  EXPECT_EQ(check(item), ClaimState::kGone);
  EXPECT_EQ(renew(item), ClaimState::kGone);
}

TEST_P(WorkLeases, OfAMarkedRowAnswerCanceledAndAreExtended) {
  const WorkItem item = marked_claim("a");
  EXPECT_EQ(check(item), ClaimState::kCanceled);
  advance(kLock - 10s);
  EXPECT_EQ(renew(item), ClaimState::kCanceled);
  advance(kLock - 10s);

  auto swept = store().sweep_work_items();
  ASSERT_TRUE(swept.ok()) << swept;
  EXPECT_EQ(swept->ended, 0);
  EXPECT_EQ(check(item), ClaimState::kCanceled);
  EXPECT_TRUE(try_complete(item).ok());
}

TEST_P(WorkLeases, AreNotExtendedByACheck) {
  start_with_work("a", 1);
  const WorkItem item = claim();
  advance(kLock - 5s);
  EXPECT_EQ(check(item), ClaimState::kRenewed);
  advance(6s);

  auto other = register_another();
  EXPECT_TRUE(claim_as(*other).has_value());
}

TEST_P(WorkLeases, AreCheckedOneByOneInTheOrderAsked) {
  const WorkItem marked = marked_claim("marked");
  lock("marked");
  start_with_work("a", 3);
  const auto items = claim_up_to(3);
  ASSERT_EQ(items.size(), 3u);
  complete(items[1]);

  EXPECT_EQ(
      check_all({held(items[1]), held(items[0]), held(marked), held(items[2])}),
      (States{
          ClaimState::kGone, ClaimState::kRenewed, ClaimState::kCanceled, ClaimState::kRenewed}));
  EXPECT_EQ(check_all({}), States{});
}

TEST_P(WorkLeases, AreCheckedTogetherAsTheyAreOneByOne) {
  constexpr std::size_t kMany = 60;
  const WorkItem marked = marked_claim("marked");
  lock("marked");
  start_with_work("a", kMany);
  const auto items = claim_up_to(kMany);
  ASSERT_EQ(items.size(), kMany);
  start_with_work("lapsed", 1);
  FetchWorkItems brief = claim_request(1);
  brief.lock_for = 1s;
  const auto fetched = store().fetch_work_items(std::move(brief));
  ASSERT_TRUE(fetched.ok() && fetched->items.size() == 1) << fetched;
  const WorkItem lapsed = fetched->items[0];
  advance(1s);
  // Freed, but nobody took it: it keeps its token.
  ASSERT_TRUE(store().sweep_work_items().ok());
  auto other = register_another();
  const WorkItem& first = items.front();
  std::vector<HeldClaim> claims{
      held(lapsed), held(marked), {first.id, other->next(), std::nullopt}};
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i % 3 == 1) complete(items[i]);
    claims.push_back(held(items[i]));
  }

  const States together = check_all(claims);
  ASSERT_EQ(together.size(), claims.size());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    EXPECT_EQ(States{together[i]}, check_all({claims[i]})) << i;
  }
  EXPECT_EQ(together[0], ClaimState::kRenewed);
  EXPECT_EQ(together[1], ClaimState::kCanceled);
  EXPECT_EQ(together[2], ClaimState::kGone);
  EXPECT_EQ(together[3], ClaimState::kRenewed);
  EXPECT_EQ(together[4], ClaimState::kGone);
}

TEST_P(WorkLeases, AreRenewedOneByOneInTheOrderAsked) {
  const WorkItem marked = marked_claim("marked");
  lock("marked");
  start_with_work("a", 3);
  const auto items = claim_up_to(3);
  ASSERT_EQ(items.size(), 3u);
  complete(items[2]);
  advance(kLock - 5s);

  EXPECT_EQ(
      renew_all({held(items[1]), held(marked), held(items[2]), held(items[0])}),
      (States{
          ClaimState::kRenewed, ClaimState::kCanceled, ClaimState::kGone, ClaimState::kRenewed}));
  EXPECT_EQ(renew_all({}), States{});
  advance(kLock - 5s);
  EXPECT_FALSE(try_claim().has_value());
}

TEST_P(WorkLeases, ThatAreNotNamedInARenewalAreNotExtended) {
  start_with_work("a", 2);
  const auto items = claim_up_to(2);
  ASSERT_EQ(items.size(), 2u);
  advance(kLock - 5s);
  ASSERT_EQ(renew_all({held(items[0])}), States{ClaimState::kRenewed});
  advance(6s);

  const auto again = claim_up_to(2);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].id, items[1].id);
}

TEST_P(WorkLeases, HandDetailsOfARenewalToTheNextAttempt) {
  start_with_work("a", 2);
  const auto items = claim_up_to(2);
  ASSERT_EQ(items.size(), 2u);
  renew_all({held(items[0], "\"old\""), held(items[1], "\"other\"")});
  renew_all({held(items[0], "\"new\"")});
  advance(kLock + 1s);

  const auto again = claim_up_to(2);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].heartbeat_details, "\"new\"");
  EXPECT_EQ(again[1].heartbeat_details, "\"other\"");
}

TEST_P(WorkLeases, KeepTheirDetailsThroughARenewalWithout) {
  start_with_work("a", 1);
  const WorkItem first = claim();
  renew_all({held(first, "[7]")});
  renew_all({held(first)});
  ASSERT_TRUE(try_settle(settled(first, WorkOutcome::Kind::kRetryAt)).ok());

  EXPECT_EQ(claim().heartbeat_details, "[7]");
}

TEST_P(WorkLeases, TakeNoDetailsFromACheckOrAStrangersRenewal) {
  start_with_work("a", 1);
  const WorkItem first = claim();
  ASSERT_EQ(check_all({held(first, "\"checked\"")}), States{ClaimState::kRenewed});
  WorkItem forged = first;
  forged.lock = mint().next();
  ASSERT_EQ(renew_all({held(forged, "\"forged\"")}), States{ClaimState::kGone});
  ASSERT_TRUE(try_settle(settled(first, WorkOutcome::Kind::kGivenBack)).ok());

  EXPECT_EQ(claim().heartbeat_details, "");
}

TEST_P(WorkLeases, ChargeALossForEachLapseAndNoneForAGiveBack) {
  start_with_work("a", 1);
  claim();
  advance(kLock + 1s);
  claim();
  advance(kLock + 1s);
  const WorkItem third = claim();
  EXPECT_EQ(third.losses, 2);
  ASSERT_TRUE(try_settle(settled(third, WorkOutcome::Kind::kGivenBack)).ok());

  const WorkItem fourth = claim();
  EXPECT_EQ(fourth.losses, 2);
  EXPECT_EQ(fourth.deferrals, 1);
}

TEST_P(WorkLeases, ThatLapsedAreGoneForAProcessThatHasEnded) {
  start_with_work("a", 1);
  auto other = register_another();
  FetchWorkItems request = claim_request(0);
  request.epoch = other->epoch();
  request.tokens = other->next(1);
  const auto claimed = store().fetch_work_items(request);
  ASSERT_TRUE(claimed.ok());
  const WorkItem item = claimed->items.at(0);
  advance(kLock + 1s);
  ASSERT_TRUE(store().sweep_work_items().ok());  // free, but nobody has taken it
  EXPECT_EQ(check(item), ClaimState::kRenewed);
  ASSERT_TRUE(store().take_over({.epoch = other->epoch()}).ok());
  EXPECT_EQ(check(item), ClaimState::kGone);
  EXPECT_EQ(renew(item), ClaimState::kGone);
  EXPECT_EQ(try_complete(item).code(), ErrorCode::kLockLost);
}

TEST_P(WorkLeases, ThatLapsedAndWereFreedCanStillBeSettledWhileNobodyTookThem) {
  start_with_work("a", 1);
  const WorkItem item = claim();
  advance(kLock + 1s);
  ASSERT_TRUE(store().sweep_work_items().ok());
  EXPECT_TRUE(try_complete(item).ok());
  EXPECT_FALSE(try_claim());
}

PERDURE_CONFORMANCE_SUITE(WorkLeases);

}  // namespace perdure::conformance
