#include <algorithm>
#include <set>
#include <stdexcept>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

namespace perdure::conformance {

/// Registrations and their ends, with several registrations on one provider: fencing knows epochs,
/// not processes.
class Processes : public Conformance {
 protected:
  std::vector<OrchestrationItem> lock_as(TokenMint& who, std::size_t count) {
    auto fetched = store().fetch_orchestration_items(fetch_as(who, count));
    if (!fetched.ok()) throw std::runtime_error("fetch: " + fetched.error().message);
    return std::move(fetched->items);
  }

  OrchestrationItem lock_as(TokenMint& who) { return lock_as(who, 1).at(0); }

  std::vector<WorkItem> claim_as(TokenMint& who, std::size_t count) {
    auto fetched = store().fetch_work_items(work_as(who, count));
    if (!fetched.ok()) throw std::runtime_error("claim: " + fetched.error().message);
    return std::move(fetched->items);
  }

  WorkItem claim_as(TokenMint& who) { return claim_as(who, 1).at(0); }

  FetchOrchestrationItems fetch_as(TokenMint& who, std::size_t count) {
    FetchOrchestrationItems request = fetch_request(0);
    request.epoch = who.epoch();
    request.tokens = who.next(count);
    return request;
  }

  FetchWorkItems work_as(TokenMint& who, std::size_t count) {
    FetchWorkItems request = claim_request(0);
    request.epoch = who.epoch();
    request.tokens = who.next(count);
    return request;
  }

  ProcessEnded take_over(const TokenMint& whose) {
    auto ended = store().take_over({.epoch = whose.epoch()});
    if (!ended.ok()) throw std::runtime_error("takeover: " + ended.error().message);
    return *ended;
  }

  ProcessEnded release(const TokenMint& whose) {
    auto ended = store().release_process({.epoch = whose.epoch()});
    if (!ended.ok()) throw std::runtime_error("release: " + ended.error().message);
    return *ended;
  }

  Result<std::int64_t> heartbeat(const TokenMint& who) {
    return store().heartbeat_process({.epoch = who.epoch()});
  }

  std::vector<ProcessInfo> processes() {
    auto listed = store().list_processes();
    if (!listed.ok()) throw std::runtime_error("list: " + listed.error().message);
    return std::move(*listed);
  }

  static std::ptrdiff_t count(const std::vector<Message>& messages, MessageKind kind) {
    return std::count_if(messages.begin(), messages.end(), [kind](const Message& message) {
      return message.kind == kind;
    });
  }
};

TEST_P(Processes, EpochsAreNeverGivenTwice) {
  std::set<Epoch> given{epoch()};
  for (int round = 0; round < 5; ++round) {
    const auto first = register_another();
    const auto second = register_another();
    EXPECT_TRUE(given.insert(first->epoch()).second) << first->epoch();
    EXPECT_TRUE(given.insert(second->epoch()).second) << second->epoch();
    take_over(*first);
    release(*second);
  }
}

TEST_P(Processes, HeartbeatsAreCountedPerRegistration) {
  const auto other = register_another();
  const auto first = heartbeat(*other);
  ASSERT_TRUE(first.ok()) << first;
  const auto second = heartbeat(*other);
  ASSERT_TRUE(second.ok()) << second;
  EXPECT_EQ(*second, *first + 1);
  const auto listed = processes();
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].heartbeat, *first - 1) << "the silent one has not moved";
  EXPECT_EQ(listed[1].heartbeat, *second);
}

TEST_P(Processes, LiveOnesAreListedOldestFirstWithWhatTheySaid) {
  const TimePoint before = now();
  for (const char* host : {"alpha", "beta"}) {
    RegisterProcess request;
    request.host = host;
    request.pid = host == std::string("alpha") ? 4711 : 4712;
    request.queues = {std::string(host) + "-1", std::string(host) + "-2"};
    ASSERT_TRUE(store().register_process(request).ok());
    advance(1s);
  }
  const auto listed = processes();
  ASSERT_EQ(listed.size(), 3u);
  EXPECT_EQ(listed[0].epoch, epoch());
  EXPECT_EQ(listed[1].host, "alpha");
  EXPECT_EQ(listed[1].pid, 4711);
  EXPECT_EQ(listed[1].queues, (std::vector<std::string>{"alpha-1", "alpha-2"}));
  EXPECT_EQ(listed[2].host, "beta");
  EXPECT_EQ(listed[2].pid, 4712);
  EXPECT_EQ(listed[2].queues, (std::vector<std::string>{"beta-1", "beta-2"}));
  EXPECT_GE(listed[1].registered_at, before);
  EXPECT_GE(listed[2].registered_at, listed[1].registered_at + 1s);
  for (const ProcessInfo& process : listed) {
    EXPECT_FALSE(process.lock_released) << "the provider that holds its lock is alive";
  }
}

TEST_P(Processes, AreListedAsHoldersWhileTheyHoldWorkOrInstances) {
  start_with_work("a", 1);
  start("b");
  const auto worker = register_another();
  const auto dispatcher = register_another();
  const auto holders = [this] {
    std::vector<bool> holds;
    for (const ProcessInfo& process : processes()) holds.push_back(process.holds);
    return holds;
  };
  EXPECT_EQ(holders(), (std::vector{false, false, false}));
  const WorkItem work = claim_as(*worker);
  EXPECT_EQ(holders(), (std::vector{false, true, false}));
  const OrchestrationItem item = lock_as(*dispatcher);
  EXPECT_EQ(holders(), (std::vector{false, true, true}));
  complete(work);
  EXPECT_EQ(holders(), (std::vector{false, false, true}));
  commit(turn(item));
  EXPECT_EQ(holders(), (std::vector{false, false, false}));
}

TEST_P(Processes, AreNotReleasedWhileTheProviderThatRegisteredThemLives) {
  const auto other = register_another();
  const auto ended = register_another();
  take_over(*ended);
  const Epoch unknown{epoch().value + 1'000};
  const auto released =
      store().released_processes({epoch(), other->epoch(), ended->epoch(), unknown});
  ASSERT_TRUE(released.ok()) << released;
  EXPECT_TRUE(released->empty());
}

TEST_P(Processes, EndedOnesAreNotListed) {
  const auto dead = register_another();
  const auto gone = register_another();
  ASSERT_EQ(processes().size(), 3u);
  take_over(*dead);
  release(*gone);
  const auto listed = processes();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].epoch, epoch());
}

TEST_P(Processes, EndedEpochsMayNotHeartbeatFetchOrClaim) {
  start_with_work("a", 1);
  start("b");
  const auto dead = register_another();
  take_over(*dead);
  EXPECT_EQ(refusal(heartbeat(*dead)), ErrorCode::kLockLost);
  EXPECT_EQ(refusal(store().fetch_orchestration_items(fetch_as(*dead, 1))), ErrorCode::kLockLost);
  EXPECT_EQ(refusal(store().fetch_work_items(work_as(*dead, 1))), ErrorCode::kLockLost);
  EXPECT_EQ(lock("b").losses, 0) << "a refused fetch locks nothing";
  EXPECT_EQ(claim().losses, 0) << "a refused fetch claims nothing";
}

TEST_P(Processes, ReleasedEpochsAreRefusedLikeThoseTakenOver) {
  start("a");
  const auto gone = register_another();
  EXPECT_TRUE(release(*gone).changed);
  EXPECT_EQ(refusal(heartbeat(*gone)), ErrorCode::kLockLost);
  EXPECT_EQ(refusal(store().fetch_orchestration_items(fetch_as(*gone, 1))), ErrorCode::kLockLost);
  EXPECT_EQ(refusal(store().fetch_work_items(work_as(*gone, 1))), ErrorCode::kLockLost);
  EXPECT_FALSE(release(*gone).changed);
}

TEST_P(Processes, TakeoverFreesClaimsWithALossEach) {
  start_with_work("a", 3);
  const auto dead = register_another();
  const auto held = claim_as(*dead, 2);
  ASSERT_EQ(held.size(), 2u);
  const ProcessEnded ended = take_over(*dead);
  EXPECT_TRUE(ended.changed);
  EXPECT_EQ(ended.freed_claims, 2);
  EXPECT_EQ(ended.freed_locks, 0);
  EXPECT_EQ(ended.ended_rows, 0);
  for (const WorkItem& item : claim_up_to(10)) {
    const bool was_held = item.id == held[0].id || item.id == held[1].id;
    EXPECT_EQ(item.losses, was_held ? 1 : 0);
    EXPECT_EQ(item.deferrals, 0);
    EXPECT_EQ(item.failures, 0);
    complete(item);
  }
  EXPECT_EQ(lock("a").messages.size(), 3u);
}

TEST_P(Processes, TakeoverFreesInstanceLocksWithALossEach) {
  start("a");
  start("b");
  const auto dead = register_another();
  ASSERT_EQ(lock_as(*dead, 10).size(), 2u);
  raise("a", "under the lock");
  EXPECT_FALSE(try_lock().has_value());
  const ProcessEnded ended = take_over(*dead);
  EXPECT_EQ(ended.freed_locks, 2);
  EXPECT_EQ(ended.freed_claims, 0);
  const auto items = lock_up_to(10);
  ASSERT_EQ(items.size(), 2u);
  for (const OrchestrationItem& item : items) {
    EXPECT_EQ(item.losses, 1);
    EXPECT_EQ(item.deferrals, 0);
    EXPECT_EQ(item.messages.size(), item.id == "a" ? 2u : 1u) << "no message is lost";
    EXPECT_EQ(item.messages[0].kind, MessageKind::kStart);
  }
}

TEST_P(Processes, TakeoverTouchesNoOtherProcess) {
  start_with_work("a", 2);
  start("b");
  start("c");
  const auto dead = register_another();
  claim_as(*dead);
  lock_as(*dead);
  const WorkItem mine = claim();
  const OrchestrationItem my_lock = lock();
  take_over(*dead);
  EXPECT_EQ(renew(mine), ClaimState::kRenewed);
  EXPECT_TRUE(try_complete(mine).ok());
  EXPECT_TRUE(try_commit(turn(my_lock)).ok());
  EXPECT_TRUE(heartbeat(mint()).ok());
}

TEST_P(Processes, TakeoverEndsMarkedRowsAndTellsTheirOwnerOnce) {
  NewWork waits;
  waits.on_cancel = OnCancel::kWait;
  start_with_work("a", 1, waits);
  const auto dead = register_another();
  const WorkItem held = claim_as(*dead);
  ASSERT_EQ(cancel("a").touched.size(), 1u);
  ASSERT_EQ(check(held), ClaimState::kCanceled);
  EXPECT_EQ(take_over(*dead).ended_rows, 1);
  EXPECT_EQ(take_over(*dead).ended_rows, 0);
  EXPECT_EQ(check(held), ClaimState::kGone);
  EXPECT_FALSE(try_claim().has_value()) << "an ended row is not claimed again";
  EXPECT_EQ(count(lock("a").messages, MessageKind::kActivityCanceled), 1);
}

TEST_P(Processes, TakeoverFailsRowsThatKilledTooMany) {
  start_with_work("a", 1);
  const EventId scheduled = history("a").back().id;
  ProcessEnded ended;
  for (int round = 0; round < 100 && ended.ended_rows == 0; ++round) {
    const auto dead = register_another();
    ASSERT_EQ(claim_as(*dead).losses, round);
    ended = take_over(*dead);
  }
  EXPECT_EQ(ended.ended_rows, 1);
  EXPECT_FALSE(try_claim().has_value());
  const OrchestrationItem owner = lock("a");
  ASSERT_EQ(kinds(owner.messages), (std::vector{MessageKind::kActivityFailed}));
  EXPECT_EQ(owner.messages[0].failure.type, kPoisonFailure);
  EXPECT_EQ(owner.messages[0].source, scheduled);
}

TEST_P(Processes, TakeoverChangesNothingTheSecondTime) {
  start_with_work("a", 1);
  const auto dead = register_another();
  claim_as(*dead);
  ASSERT_TRUE(take_over(*dead).changed);
  const WorkItem mine = claim();
  const ProcessEnded again = take_over(*dead);
  EXPECT_FALSE(again.changed);
  EXPECT_EQ(again.freed_claims, 0);
  EXPECT_EQ(check(mine), ClaimState::kRenewed) << "the row has a new holder";
  EXPECT_TRUE(try_complete(mine).ok());
}

TEST_P(Processes, TakeoverOfAnUnknownEpochIsNotFound) {
  const Epoch unknown{epoch().value + 1'000};
  EXPECT_EQ(refusal(store().take_over({.epoch = unknown})), ErrorCode::kNotFound);
  EXPECT_EQ(processes().size(), 1u);
}

TEST_P(Processes, LapsedClaimsAreLostOnceByATakeover) {
  start_with_work("a", 1);
  start("b");
  const auto dead = register_another();
  claim_as(*dead);
  lock_as(*dead);
  advance(kLock + 1s);
  take_over(*dead);
  EXPECT_EQ(claim().losses, 1);
  EXPECT_EQ(lock("b").losses, 1);
}

TEST_P(Processes, ThoseThatReturnAfterATakeoverCanWriteNothing) {
  start_with_work("a", 1);
  start("b");
  const auto dead = register_another();
  const WorkItem work = claim_as(*dead);
  const OrchestrationItem item = lock_as(*dead);
  take_over(*dead);

  TurnCommit late = turn(item);
  finish(late, item, ExecutionStatus::kCompleted);
  EXPECT_EQ(refusal(try_commit(late)), ErrorCode::kLockLost);
  AbandonOrchestrationItems abandoned;
  abandoned.entries.resize(1);
  abandoned.entries[0].instance = item.instance;
  abandoned.entries[0].lock = item.lock;
  abandoned.entries[0].delay = 1h;
  const auto gave_back = store().abandon_orchestration_items(abandoned);
  ASSERT_TRUE(gave_back.ok()) << gave_back;
  EXPECT_EQ(refusal(gave_back->at(0)), ErrorCode::kLockLost);
  RenewOrchestrationItemLocks kept;
  kept.entries.push_back({item.instance, item.lock});
  const auto extended = store().renew_orchestration_item_locks(kept);
  ASSERT_TRUE(extended.ok()) << extended;
  EXPECT_EQ(refusal(extended->at(0)), ErrorCode::kLockLost);

  EXPECT_EQ(renew(work), ClaimState::kGone);
  EXPECT_EQ(check(work), ClaimState::kGone);
  EXPECT_EQ(refusal(try_complete(work)), ErrorCode::kLockLost);
  EXPECT_EQ(refusal(try_fail(work)), ErrorCode::kLockLost);
  for (const auto kind :
       {WorkOutcome::Kind::kRetryAt, WorkOutcome::Kind::kCanceled, WorkOutcome::Kind::kGivenBack}) {
    EXPECT_EQ(refusal(try_settle(settled(work, kind))), ErrorCode::kLockLost);
  }

  EXPECT_EQ(status("b"), ExecutionStatus::kRunning);
  const OrchestrationItem again = lock("b");
  EXPECT_EQ(again.last_event, item.last_event);
  EXPECT_EQ(again.deferrals, 0);
  const WorkItem same = claim();
  EXPECT_EQ(same.id, work.id);
  EXPECT_EQ(same.failures, 0);
  EXPECT_EQ(same.deferrals, 0);
}

TEST_P(Processes, ANewRegistrationWorksOnWhatTheOldOneLost) {
  start_with_work("a", 1);
  const auto old = register_another();
  const WorkItem lost = claim_as(*old);
  take_over(*old);
  const auto anew = register_another();
  EXPECT_TRUE(heartbeat(*anew).ok());
  const WorkItem work = claim_as(*anew);
  EXPECT_EQ(work.id, lost.id);
  EXPECT_TRUE(try_complete(work).ok());
  const OrchestrationItem item = lock_as(*anew);
  EXPECT_EQ(kinds(item.messages), (std::vector{MessageKind::kActivityCompleted}));
  EXPECT_TRUE(try_commit(turn(item)).ok());
}

TEST_P(Processes, FreedRowsAndLocksAreTakenByOneOnly) {
  start_with_work("a", 4);
  start("b");
  const auto dead = register_another();
  ASSERT_EQ(claim_as(*dead, 4).size(), 4u);
  lock_as(*dead);
  take_over(*dead);
  const auto other = register_another();
  std::set<WorkId> seen;
  for (const WorkItem& item : claim_up_to(3)) EXPECT_TRUE(seen.insert(item.id).second);
  for (const WorkItem& item : claim_as(*other, 10)) EXPECT_TRUE(seen.insert(item.id).second);
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_EQ(lock_as(*other).id, "b");
  EXPECT_FALSE(try_lock().has_value());
}

TEST_P(Processes, ReleaseGivesBackWithADeferralAndNoLoss) {
  start_with_work("a", 1);
  start("b");
  const auto leaving = register_another();
  claim_as(*leaving);
  lock_as(*leaving);
  const ProcessEnded ended = release(*leaving);
  EXPECT_TRUE(ended.changed);
  EXPECT_EQ(ended.freed_claims, 1);
  EXPECT_EQ(ended.freed_locks, 1);
  const WorkItem work = claim();
  EXPECT_EQ(work.deferrals, 1);
  EXPECT_EQ(work.losses, 0);
  const OrchestrationItem item = lock("b");
  EXPECT_EQ(item.deferrals, 1);
  EXPECT_EQ(item.losses, 0);
}

TEST_P(Processes, ReleaseEndsMarkedRowsAndTellsTheirOwner) {
  NewWork waits;
  waits.on_cancel = OnCancel::kWait;
  start_with_work("a", 1, waits);
  const auto leaving = register_another();
  const WorkItem held = claim_as(*leaving);
  cancel("a");
  EXPECT_EQ(release(*leaving).ended_rows, 1);
  EXPECT_EQ(check(held), ClaimState::kGone);
  EXPECT_EQ(count(lock("a").messages, MessageKind::kActivityCanceled), 1);
}

TEST_P(Processes, HeartbeatDetailsOutliveTheProcessThatWroteThem) {
  start_with_work("a", 1);
  const auto dead = register_another();
  const WorkItem held = claim_as(*dead);
  RenewWorkItemLocks request;
  request.epoch = dead->epoch();
  request.claims.push_back({held.id, held.lock, "\"half way\""});
  ASSERT_TRUE(store().renew_work_item_locks(request).ok());
  take_over(*dead);
  EXPECT_EQ(claim().heartbeat_details, "\"half way\"");
}

PERDURE_CONFORMANCE_SUITE(Processes);

}  // namespace perdure::conformance
