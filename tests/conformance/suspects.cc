#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "tests/conformance/conformance.h"

/// Rows whose claims are lost again and again: kept apart, and failed in the end.
namespace perdure::conformance {

namespace {

/// Losses at which a row is failed as poison when the request says nothing else.
constexpr int kPoisonLosses = kMaxLosses;

}  // namespace

class Suspects : public Conformance {
 protected:
  SweptWork sweep(int max_losses = kMaxLosses) {
    auto answer = store().sweep_work_items({.max_losses = max_losses});
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

  FetchedWorkItems claim_as(TokenMint& who, std::size_t count, int max_suspects = 1) {
    FetchWorkItems request = claim_request(0);
    request.epoch = who.epoch();
    request.tokens = who.next(count);
    request.lock_for = lock_for_;
    request.max_suspects = max_suspects;
    auto answer = store().fetch_work_items(std::move(request));
    if (!answer.ok()) throw std::runtime_error("claim: " + answer.error().message);
    return std::move(answer).value();
  }

  void renew_as(TokenMint& who, const WorkItem& item) {
    RenewWorkItemLocks request;
    request.epoch = who.epoch();
    request.claims.push_back({item.id, item.lock, {}});
    auto answer = store().renew_work_item_locks(std::move(request));
    if (!answer.ok() || answer->at(0) != ClaimState::kRenewed) throw std::runtime_error("renew");
  }

  static bool runs(const std::string& instance, const std::vector<WorkItem>& items) {
    return std::any_of(items.begin(), items.end(), [&instance](const WorkItem& item) {
      return item.instance_id == instance;
    });
  }

  /// Ends the run whose call was failed as poison; false while nothing was told to anybody.
  bool end_if_failed(const std::string& id) {
    const auto item = try_lock();
    if (!item) return false;
    EXPECT_EQ(item->id, id) << "somebody else was told of an end";
    EXPECT_EQ(item->messages.at(0).failure.type, kPoisonFailure);
    TurnCommit last = turn(*item);
    finish(last, *item, ExecutionStatus::kFailed);
    commit(std::move(last));
    return true;
  }

  ProcessEnded take_over(Epoch epoch) {
    auto answer = store().take_over({.epoch = epoch});
    if (!answer.ok()) throw std::runtime_error("take over: " + answer.error().message);
    return *answer;
  }

  Duration lock_for_ = kLock;  ///< of claim_as
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
  const auto other = register_another();
  const auto neighbours = claim_as(*other, 2).items;
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

TEST_P(Suspects, OnTrialAreClaimedAlone) {
  start_with_work("a", 1);
  lose(1, kPoisonLosses - 1);
  start_with_work("b", 3);
  const auto items = claim_with(10, 5);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].losses, kPoisonLosses - 1);

  const FetchedWorkItems refused = claim_as(mint(), 10);
  EXPECT_TRUE(refused.items.empty()) << "its process gets nothing else";
  ASSERT_TRUE(refused.next_at.has_value());
  const auto other = register_another();
  EXPECT_EQ(claim_as(*other, 1).items.size(), 1u) << "others do";
  renew(items[0], 10min);
  advance(*refused.next_at - now() - 1s);
  EXPECT_FALSE(try_claim().has_value());
  advance(1s);
  EXPECT_EQ(claim_up_to(10).size(), 3u) << "not for ever";
}

TEST_P(Suspects, OnTrialMakeRoomForOthersWhenTheyAreSettled) {
  start_with_work("a", 1);
  lose(1, kPoisonLosses - 1);
  const WorkItem item = claim();
  start_with_work("b", 3);
  EXPECT_FALSE(try_claim().has_value());
  complete(item);
  EXPECT_EQ(claim_up_to(10).size(), 3u);
}

TEST_P(Suspects, OnTrialWaitWhileTheProcessHoldsAnything) {
  start_with_work("a", 1, {.priority = 5});
  lose(1, kPoisonLosses - 1);
  const auto other = register_another();
  start("b");
  const OrchestrationItem turn_of_b = lock("b");
  const FetchedWorkItems busy = claim_as(mint(), 10);
  EXPECT_TRUE(busy.items.empty()) << "an instance may end the process as well";
  EXPECT_EQ(busy.next_at, now() + 1s) << "nobody commits anything when the moment has come";
  TurnCommit next = turn(turn_of_b);
  schedule(next, turn_of_b);
  commit(std::move(next));

  const auto first = claim_as(*other, 1);
  ASSERT_EQ(first.items.size(), 1u);
  EXPECT_EQ(first.items[0].losses, kPoisonLosses - 1) << "higher priority, and it holds nothing";
  ASSERT_TRUE(store().release_process({.epoch = other->epoch()}).ok());
  EXPECT_EQ(claim().losses, kPoisonLosses - 1);
}

TEST_P(Suspects, OnTrialLetThoseBeforeThemGoFirst) {
  start_with_work("a", 1);
  lose(1, kPoisonLosses - 1);
  start_with_work("b", 2, {.priority = 5});
  const auto items = claim_with(10, 1);
  EXPECT_EQ(items.size(), 2u);
  EXPECT_EQ(losses(items), std::set<int>{0});
  EXPECT_TRUE(claim_with(10, 1).empty());
  for (const WorkItem& item : items) complete(item);
  EXPECT_EQ(claim().losses, kPoisonLosses - 1);
}

TEST_P(Suspects, AreNotFailedWhenTheyWereLostInCompany) {
  start_with_work("a", 1);
  lose(1, kPoisonLosses - 1);
  start_with_work("b", 1);
  for (const bool by_takeover : {true, false}) {
    const auto process = register_another();
    const auto suspect = claim_as(*process, 1).items;
    ASSERT_EQ(suspect.size(), 1u);
    const int losses_before = suspect[0].losses;
    EXPECT_GE(losses_before, kPoisonLosses - 1);
    advance(5min);  // the time of the trial is over
    renew_as(*process, suspect[0]);
    ASSERT_EQ(claim_as(*process, 1).items.size(), 1u) << "company";
    if (by_takeover) {
      EXPECT_EQ(take_over(process->epoch()).ended_rows, 0);
    } else {
      advance(kLock + 1s);
      const SweptWork swept = sweep();
      EXPECT_EQ(swept.poisoned, 0);
      EXPECT_EQ(swept.lost, 2);
    }
    const auto again = register_another();
    const auto same = claim_as(*again, 1).items;
    ASSERT_EQ(same.size(), 1u);
    EXPECT_EQ(same[0].id, suspect[0].id);
    EXPECT_EQ(same[0].losses, losses_before + 1);
    ASSERT_TRUE(store().release_process({.epoch = again->epoch()}).ok());
  }
}

/// New guilty rows, one after the other, end each process in which a long innocent one runs.
TEST_P(Suspects, AreFailedForWhatTheyDoAndNotForWhatTheirNeighboursDo) {
  constexpr int kGuilty = 5;
  lock_for_ = 1'000h;
  start_with_work("innocent", 1);
  auto host = register_another();
  bool innocent_runs = false;
  int lost = 0;
  for (int i = 0; i < kGuilty; ++i) {
    const std::string guilty = "guilty" + std::to_string(i);
    innocent_runs = innocent_runs || runs("innocent", claim_as(*host, 10).items);
    advance(10min);
    start_with_work(guilty, 1);
    int crashes = 0;
    for (; crashes < 50 && info(guilty).current.status == ExecutionStatus::kRunning; ++crashes) {
      if (end_if_failed(guilty)) break;
      // The host takes what it may; what it may not take runs in a process of its own.
      const bool suspect_runs = innocent_runs && lost >= kSuspectLosses;
      auto held = claim_as(*host, 10, suspect_runs ? 0 : 1).items;
      innocent_runs = innocent_runs || runs("innocent", held);
      if (!runs(guilty, held)) {
        const auto other = register_another();
        ASSERT_TRUE(runs(guilty, claim_as(*other, 10).items)) << guilty << crashes;
        take_over(other->epoch());
        continue;
      }
      take_over(host->epoch());
      lost += innocent_runs ? 1 : 0;
      host = register_another();
      innocent_runs = false;
    }
    EXPECT_GE(crashes, kPoisonLosses) << guilty;
    EXPECT_LE(crashes, kPoisonLosses + 2) << guilty;
  }
  EXPECT_GE(lost, kPoisonLosses) << "or the test proves nothing";
  ASSERT_TRUE(store().release_process({.epoch = host->epoch()}).ok());
  const WorkItem innocent = claim();
  EXPECT_EQ(innocent.instance_id, "innocent");
  complete(innocent);
  EXPECT_EQ(kinds(lock("innocent").messages), std::vector{MessageKind::kActivityCompleted});
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

TEST_P(Suspects, AreFailedAtTheLimitThatTheSweepNames) {
  start_with_work("a", 1);
  lose(1, 4);
  claim();
  advance(kLock + 1s);

  EXPECT_EQ(sweep(6).poisoned, 0);
  claim();
  advance(kLock + 1s);
  EXPECT_EQ(sweep(6).poisoned, 1);
  EXPECT_EQ(lock("a").messages.at(0).failure.type, kPoisonFailure);
}

TEST_P(Suspects, AreLeftToTheSweepAtTheLimitThatTheFetchNames) {
  start_with_work("a", 1);
  lose(1, 4);
  claim();
  advance(kLock + 1s);

  FetchWorkItems request = claim_request(1);
  request.max_losses = 5;
  const auto fetched = store().fetch_work_items(std::move(request));
  ASSERT_TRUE(fetched.ok()) << fetched;
  EXPECT_TRUE(fetched->items.empty()) << "its fifth loss is for the sweep to judge";
  EXPECT_EQ(claim().losses, 5);
}

TEST_P(Suspects, AreFailedAtTheLimitThatTheTakeoverNames) {
  start_with_work("a", 1);
  lose(1, 4);
  const auto dead = register_another();
  ASSERT_EQ(claim_as(*dead, 1).items.size(), 1u);

  const auto ended = store().take_over({.epoch = dead->epoch(), .max_losses = 5});
  ASSERT_TRUE(ended.ok()) << ended;
  EXPECT_EQ(ended->ended_rows, 1);
  EXPECT_EQ(lock("a").messages.at(0).failure.type, kPoisonFailure);
}

TEST_P(Suspects, HaveALimitOfAtLeastThreeLosses) {
  start_with_work("a", 1);
  const int wrong = kSuspectLosses - 1;
  FetchWorkItems fetch = claim_request(1);
  fetch.max_losses = wrong;
  EXPECT_EQ(code_of(store().fetch_work_items(std::move(fetch))), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(store().sweep_work_items({.max_losses = wrong})), ErrorCode::kInvalidArgument);
  const auto other = register_another();
  EXPECT_EQ(code_of(store().take_over({.epoch = other->epoch(), .max_losses = wrong})),
            ErrorCode::kInvalidArgument);
  EXPECT_TRUE(store().heartbeat_process({.epoch = other->epoch()}).ok()) << "it has not ended";
  EXPECT_EQ(claim().losses, 0);
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
