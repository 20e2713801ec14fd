#include <set>
#include <stdexcept>
#include <utility>

#include "tests/conformance/conformance.h"

/// Rows whose claims are lost again and again: kept apart, and failed in the end.
namespace perdure::conformance {

namespace {

/// Losses at which a row is failed as poison.
constexpr int kPoisonLosses = 10;

template <class T>
std::optional<ErrorCode> code_of(const Result<T>& result) {
  if (result.ok()) return std::nullopt;
  return result.error().code;
}

}  // namespace

class Suspects : public Conformance {
 protected:
  SweptWork sweep() {
    auto answer = store().sweep_work_items();
    if (!answer.ok()) throw std::runtime_error("sweep: " + answer.error().message);
    return std::move(answer).value();
  }

  std::vector<WorkItem> claim_with(std::size_t count, int max_suspects) {
    FetchWorkItems request = claim_request(count);
    request.max_suspects = max_suspects;
    auto answer = store().fetch_work_items(std::move(request));
    if (!answer.ok()) throw std::runtime_error("claim: " + answer.error().message);
    return answer->items;
  }

  /// Claims all `count` ready rows and lets them lapse, so many times.
  void lose(int count, int times) {
    for (int i = 0; i < times; ++i) {
      const auto items = claim_with(static_cast<std::size_t>(count), count);
      if (items.size() != static_cast<std::size_t>(count)) throw std::runtime_error("rows missing");
      advance(kLock + 1s);
      sweep();
    }
  }

  static std::set<int> losses(const std::vector<WorkItem>& items) {
    std::set<int> result;
    for (const WorkItem& item : items) result.insert(item.losses);
    return result;
  }

  static int suspects_among(const std::vector<WorkItem>& items) {
    int count = 0;
    for (const WorkItem& item : items) count += item.losses >= kSuspectLosses ? 1 : 0;
    return count;
  }

  ProcessEnded take_over(Epoch epoch) {
    auto answer = store().take_over({.epoch = epoch});
    if (!answer.ok()) throw std::runtime_error("take over: " + answer.error().message);
    return *answer;
  }
};

TEST_P(Suspects, AreRowsWithThreeLosses) {
  start_with_work("a", 1);
  lose(1, 2);
  const auto innocent = claim_with(1, 0);
  ASSERT_EQ(innocent.size(), 1u);
  EXPECT_EQ(innocent[0].losses, 2);
  advance(kLock + 1s);

  EXPECT_TRUE(claim_with(1, 0).empty());
  const auto suspect = claim_with(1, 1);
  ASSERT_EQ(suspect.size(), 1u);
  EXPECT_EQ(suspect[0].losses, 3);
}

TEST_P(Suspects, AreLeftOutWhenNoneIsWanted) {
  start_with_work("a", 3);
  lose(3, kSuspectLosses);
  start_with_work("b", 4);

  const auto items = claim_with(10, 0);
  EXPECT_EQ(items.size(), 4u);
  EXPECT_EQ(losses(items), std::set<int>{0});
  EXPECT_TRUE(claim_with(10, 0).empty());
}

TEST_P(Suspects, AreTakenOneAtATimeAmongTheInnocent) {
  start_with_work("a", 3);
  lose(3, kSuspectLosses);
  start_with_work("b", 4);

  const auto items = claim_with(10, 1);
  EXPECT_EQ(items.size(), 5u);
  EXPECT_EQ(suspects_among(items), 1);
  EXPECT_EQ(claim_with(10, 1).size(), 1u);
  EXPECT_EQ(claim_with(10, 1).size(), 1u);
  EXPECT_TRUE(claim_with(10, 1).empty());
}

TEST_P(Suspects, AreTakenUpToTheNumberWanted) {
  start_with_work("a", 4);
  lose(4, kSuspectLosses);

  EXPECT_EQ(claim_with(10, 3).size(), 3u);
  EXPECT_EQ(claim_with(10, 3).size(), 1u);
}

TEST_P(Suspects, DoNotBlockTheQueueBehindThem) {
  start_with_work("a", 50, {.priority = 5});
  lose(50, kSuspectLosses);
  start_with_work("b", 2);

  const auto one = claim_with(1, 0);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].losses, 0);
  const auto two = claim_with(2, 1);
  EXPECT_EQ(two.size(), 2u);
  EXPECT_EQ(suspects_among(two), 1);
}

TEST_P(Suspects, MayStillSucceed) {
  start_with_work("a", 1);
  lose(1, kPoisonLosses - 1);
  const WorkItem item = claim();
  EXPECT_EQ(item.losses, kPoisonLosses - 1);
  complete(item);

  EXPECT_EQ(sweep().poisoned, 0);
  EXPECT_EQ(kinds(lock("a").messages), std::vector{MessageKind::kActivityCompleted});
}

TEST_P(Suspects, StaySuspectsWhenTheyAreGivenBack) {
  start_with_work("a", 1);
  lose(1, kSuspectLosses);
  ASSERT_TRUE(try_settle(settled(claim(), WorkOutcome::Kind::kGivenBack)).ok());

  EXPECT_TRUE(claim_with(1, 0).empty());
  EXPECT_EQ(claim().losses, kSuspectLosses);
}

TEST_P(Suspects, AreFailedAsPoisonAtTheTenthLapse) {
  const OrchestrationItem owner = start_with_work("a", 1);
  lose(1, kPoisonLosses - 1);
  const WorkItem last = claim();
  advance(kLock + 1s);

  EXPECT_EQ(sweep().poisoned, 1);
  EXPECT_EQ(sweep().poisoned, 0);
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(kinds(item.messages), std::vector{MessageKind::kActivityFailed});
  EXPECT_EQ(item.messages[0].failure.type, kPoisonFailure);
  EXPECT_EQ(item.messages[0].execution, owner.execution);
  EXPECT_EQ(item.messages[0].source, last.owner.event);
  EXPECT_FALSE(try_claim().has_value());
  EXPECT_EQ(code_of(try_complete(last)), ErrorCode::kLockLost);
}

TEST_P(Suspects, AtThePoisonLimitAreNotHandedOutBeforeTheSweepFailsThem) {
  start_with_work("a", 1);
  lose(1, kPoisonLosses - 1);
  claim();
  advance(kLock + 1s);

  EXPECT_TRUE(claim_with(5, 5).empty());
  EXPECT_EQ(sweep().poisoned, 1);
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(item.messages.size(), 1u);
  EXPECT_EQ(item.messages[0].failure.type, kPoisonFailure);
}

TEST_P(Suspects, FailAloneWhenTheyArePoison) {
  start_with_work("a", 1);
  lose(1, kPoisonLosses - 1);
  const WorkItem poison = claim();
  start_with_work("b", 2);
  const auto neighbours = claim_up_to(2);
  ASSERT_EQ(neighbours.size(), 2u);
  advance(kLock + 1s);

  const SweptWork swept = sweep();
  EXPECT_EQ(swept.poisoned, 1);
  EXPECT_EQ(swept.lost, 2);
  EXPECT_EQ(check(poison), ClaimState::kGone);
  EXPECT_EQ(lock().id, "a");
  EXPECT_FALSE(try_lock().has_value());
  const auto again = claim_up_to(5);
  EXPECT_EQ(again.size(), 2u);
  EXPECT_EQ(losses(again), std::set<int>{1});
}

TEST_P(Suspects, AreFailedAsPoisonAtTheTenthTakeover) {
  start_with_work("a", 1);
  WorkItem last;
  for (int i = 1; i <= kPoisonLosses; ++i) {
    auto other = register_another();
    FetchWorkItems request = claim_request(1);
    request.epoch = other->epoch();
    request.tokens = other->next(1);
    auto answer = store().fetch_work_items(std::move(request));
    ASSERT_TRUE(answer.ok()) << answer;
    ASSERT_EQ(answer->items.size(), 1u) << i;
    last = answer->items[0];
    EXPECT_EQ(last.losses, i - 1);
    EXPECT_EQ(take_over(other->epoch()).ended_rows, i == kPoisonLosses ? 1 : 0) << i;
  }

  EXPECT_FALSE(try_claim().has_value());
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(kinds(item.messages), std::vector{MessageKind::kActivityFailed});
  EXPECT_EQ(item.messages[0].failure.type, kPoisonFailure);
  EXPECT_EQ(item.messages[0].source, last.owner.event);
}

TEST_P(Suspects, AreNotMadeByFailures) {
  start_with_work("a", 1);
  for (int i = 0; i < kPoisonLosses + 2; ++i) {
    const auto items = claim_with(1, 0);
    ASSERT_EQ(items.size(), 1u) << i;
    EXPECT_EQ(items[0].failures, i);
    EXPECT_EQ(items[0].losses, 0);
    SettledWork retry = settled(items[0], WorkOutcome::Kind::kRetryAt);
    retry.outcome.failure = {.type = "net", .message = "down"};
    ASSERT_TRUE(try_settle(retry).ok());
  }
  EXPECT_EQ(sweep().poisoned, 0);
  EXPECT_FALSE(try_lock().has_value());
}

TEST_P(Suspects, AreNotMadeByDeferrals) {
  start_with_work("a", 1);
  for (int i = 0; i < kPoisonLosses + 2; ++i) {
    const auto items = claim_with(1, 0);
    ASSERT_EQ(items.size(), 1u) << i;
    EXPECT_EQ(items[0].deferrals, i);
    ASSERT_TRUE(try_settle(settled(items[0], WorkOutcome::Kind::kGivenBack)).ok());
  }
  EXPECT_EQ(sweep().poisoned, 0);
  EXPECT_EQ(claim_with(1, 0).size(), 1u);
}

TEST_P(Suspects, AreNotMadeByTheReleaseOfAProcess) {
  start_with_work("a", 1);
  for (int i = 0; i < kSuspectLosses + 1; ++i) {
    auto other = register_another();
    FetchWorkItems request = claim_request(1);
    request.epoch = other->epoch();
    request.tokens = other->next(1);
    request.max_suspects = 0;
    auto answer = store().fetch_work_items(std::move(request));
    ASSERT_TRUE(answer.ok()) << answer;
    ASSERT_EQ(answer->items.size(), 1u) << i;
    EXPECT_EQ(answer->items[0].deferrals, i);
    ASSERT_TRUE(store().release_process({.epoch = other->epoch()}).ok());
  }
  EXPECT_EQ(claim_with(1, 0).size(), 1u);
}

PERDURE_CONFORMANCE_SUITE(Suspects);

}  // namespace perdure::conformance
