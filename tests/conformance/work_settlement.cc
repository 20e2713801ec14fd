#include <atomic>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/conformance/conformance.h"

/// How attempts end: what becomes of the row, and what the owner is told.
namespace perdure::conformance {

namespace {

using Kind = WorkOutcome::Kind;

}  // namespace

class WorkSettlement : public Conformance {
 protected:
  Batch<void> settle_all(std::vector<SettledWork> entries) {
    auto answer = store().ack_work_items({.entries = std::move(entries)});
    if (!answer.ok()) throw std::runtime_error("ack: " + answer.error().message);
    return std::move(answer).value();
  }

  SettledWork completed(const WorkItem& item, const std::string& result) {
    SettledWork work = settled(item, Kind::kCompleted);
    work.outcome.result = result;
    return work;
  }

  SettledWork retried(const WorkItem& item, const std::string& type, Duration delay = {}) {
    SettledWork work = settled(item, Kind::kRetryAt);
    work.outcome.failure = {.type = type, .message = "it broke"};
    work.outcome.delay = delay;
    return work;
  }

  /// True when neither time nor the sweep brings any row back.
  bool nothing_is_left() {
    advance(24h);
    if (!store().sweep_work_items().ok()) throw std::runtime_error("sweep");
    return !try_claim().has_value();
  }
};

TEST_P(WorkSettlement, OfACompletionTellsTheOwner) {
  const OrchestrationItem owner = start_with_work("a", 2);
  const WorkItem second = claim_up_to(2).at(1);
  complete(second, "{\"sum\":3}");

  const OrchestrationItem item = lock("a");
  ASSERT_EQ(item.messages.size(), 1u);
  const Message& told = item.messages[0];
  EXPECT_EQ(told.kind, MessageKind::kActivityCompleted);
  EXPECT_EQ(told.execution, owner.execution);
  EXPECT_EQ(told.source, second.owner.event);
  EXPECT_EQ(told.payload, "{\"sum\":3}");
  EXPECT_EQ(told.failure, Failure{});
}

TEST_P(WorkSettlement, OfACompletionDeletesTheRow) {
  start_with_work("a", 1);
  const WorkItem item = claim();
  complete(item);

  EXPECT_EQ(check(item), ClaimState::kGone);
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(WorkSettlement, OfAFailureCarriesAllItsFieldsAndDeletesTheRow) {
  const OrchestrationItem owner = start_with_work("a", 1);
  const WorkItem work = claim();
  SettledWork failed = settled(work, Kind::kFailed);
  failed.outcome.failure = {.type = "declined",
                            .message = "no \"funds\" ü",
                            .retryable = false,
                            .details = "{\"code\":51}"};
  ASSERT_TRUE(try_settle(failed).ok());

  const OrchestrationItem item = lock("a");
  ASSERT_EQ(kinds(item.messages), std::vector{MessageKind::kActivityFailed});
  EXPECT_EQ(item.messages[0].execution, owner.execution);
  EXPECT_EQ(item.messages[0].source, work.owner.event);
  EXPECT_EQ(item.messages[0].failure.type, "declined");
  EXPECT_EQ(item.messages[0].failure.message, "no \"funds\" ü");
  EXPECT_FALSE(item.messages[0].failure.retryable);
  EXPECT_EQ(item.messages[0].failure.details, "{\"code\":51}");
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(WorkSettlement, OfARetryKeepsTheRowAndTellsNobody) {
  start_with_work("a", 1);
  const WorkItem first = claim();
  ASSERT_TRUE(try_settle(retried(first, "net")).ok());

  EXPECT_FALSE(try_lock().has_value());
  const WorkItem second = claim();
  EXPECT_EQ(second.id, first.id);
  EXPECT_NE(second.lock, first.lock);
  EXPECT_EQ(second.failures, 1);
  EXPECT_EQ(second.losses, 0);
  EXPECT_EQ(second.deferrals, 0);
  EXPECT_EQ(second.last_failure.type, "net");
  complete(second);
  EXPECT_EQ(kinds(lock("a").messages), std::vector{MessageKind::kActivityCompleted});
}

TEST_P(WorkSettlement, OfARetryHidesTheRowUntilItIsDue) {
  start_with_work("a", 1);
  ASSERT_TRUE(try_settle(retried(claim(), "net", 60s)).ok());

  EXPECT_FALSE(try_claim().has_value());
  advance(50s);
  EXPECT_FALSE(try_claim().has_value());
  advance(10s);
  EXPECT_TRUE(try_claim().has_value());
}

TEST_P(WorkSettlement, OfSeveralRetriesRemembersTheNewestFailure) {
  start_with_work("a", 1);
  for (const char* type : {"first", "second", "third"}) {
    ASSERT_TRUE(try_settle(retried(claim(), type)).ok());
  }

  const WorkItem item = claim();
  EXPECT_EQ(item.failures, 3);
  EXPECT_EQ(item.last_failure.type, "third");
}

TEST_P(WorkSettlement, OfARetryEndsTheTokenOfItsAttempt) {
  start_with_work("a", 1);
  const WorkItem first = claim();
  ASSERT_TRUE(try_settle(retried(first, "net")).ok());

  EXPECT_EQ(code_of(try_complete(first)), ErrorCode::kLockLost);
  EXPECT_FALSE(try_lock().has_value());
  EXPECT_EQ(claim().failures, 1);
}

TEST_P(WorkSettlement, OfARetryHandsDetailsToTheNextAttempt) {
  start_with_work("a", 1);
  SettledWork retry = retried(claim(), "net");
  retry.heartbeat_details = "{\"page\":12}";
  ASSERT_TRUE(try_settle(retry).ok());

  EXPECT_EQ(claim().heartbeat_details, "{\"page\":12}");
}

TEST_P(WorkSettlement, OfAGiveBackCountsADeferralAndNoFailure) {
  start_with_work("a", 1);
  const WorkItem first = claim();
  ASSERT_TRUE(try_settle(settled(first, Kind::kGivenBack)).ok());

  EXPECT_FALSE(try_lock().has_value());
  const WorkItem second = claim();
  EXPECT_EQ(second.id, first.id);
  EXPECT_EQ(second.deferrals, 1);
  EXPECT_EQ(second.failures, 0);
  EXPECT_EQ(second.losses, 0);
  EXPECT_EQ(second.last_failure, Failure{});
  EXPECT_EQ(code_of(try_complete(first)), ErrorCode::kLockLost);
}

TEST_P(WorkSettlement, OfAGiveBackWithADelayHidesTheRowUntilItIsDue) {
  start_with_work("a", 1);
  SettledWork back = settled(claim(), Kind::kGivenBack);
  back.outcome.delay = 20s;
  ASSERT_TRUE(try_settle(back).ok());

  EXPECT_FALSE(try_claim().has_value());
  advance(20s);
  EXPECT_EQ(claim().deferrals, 1);
}

TEST_P(WorkSettlement, AsCanceledDeletesTheRowAndTellsNobody) {
  start_with_work("a", 2, {.on_cancel = OnCancel::kTryCancel});
  const auto items = claim_up_to(2);
  ASSERT_TRUE(try_settle(settled(items.at(0), Kind::kCanceled)).ok());

  EXPECT_FALSE(try_lock().has_value());
  EXPECT_EQ(check(items[0]), ClaimState::kGone);
  EXPECT_EQ(check(items[1]), ClaimState::kRenewed);
  complete(items[1]);
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(WorkSettlement, AsCanceledTellsAnOwnerThatWaits) {
  const OrchestrationItem owner = start_with_work("a", 1, {.on_cancel = OnCancel::kWait});
  const WorkItem work = claim();
  ASSERT_TRUE(try_settle(settled(work, Kind::kCanceled)).ok());

  const OrchestrationItem item = lock("a");
  ASSERT_EQ(kinds(item.messages), std::vector{MessageKind::kActivityCanceled});
  EXPECT_EQ(item.messages[0].execution, owner.execution);
  EXPECT_EQ(item.messages[0].source, work.owner.event);
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(WorkSettlement, HappensOnce) {
  start_with_work("a", 1);
  const WorkItem item = claim();
  complete(item, "1");

  EXPECT_EQ(code_of(try_complete(item, "2")), ErrorCode::kLockLost);
  EXPECT_EQ(code_of(try_fail(item)), ErrorCode::kLockLost);
  const OrchestrationItem told = lock("a");
  ASSERT_EQ(told.messages.size(), 1u);
  EXPECT_EQ(told.messages[0].payload, "1");
}

TEST_P(WorkSettlement, WithAnotherTokenIsRefusedAndWritesNothing) {
  start_with_work("a", 2);
  const auto items = claim_up_to(2);
  SettledWork unused = completed(items.at(0), "x");
  unused.lock = mint().next();
  SettledWork swapped = completed(items[0], "x");
  swapped.lock = items.at(1).lock;

  EXPECT_EQ(code_of(try_settle(unused)), ErrorCode::kLockLost);
  EXPECT_EQ(code_of(try_settle(swapped)), ErrorCode::kLockLost);
  EXPECT_FALSE(try_lock().has_value());
  EXPECT_TRUE(try_complete(items[0]).ok());
  EXPECT_TRUE(try_complete(items[1]).ok());
}

TEST_P(WorkSettlement, OfARowThatNeverWasIsRefused) {
  SettledWork work;
  work.id = WorkId{987'654};
  work.lock = mint().next();
  EXPECT_EQ(code_of(try_settle(work)), ErrorCode::kLockLost);
}

TEST_P(WorkSettlement, OfALapsedClaimThatNobodyTookIsAccepted) {
  start_with_work("a", 1);
  const WorkItem item = claim();
  advance(kLock + 1h);

  EXPECT_TRUE(try_complete(item).ok());
  EXPECT_EQ(kinds(lock("a").messages), std::vector{MessageKind::kActivityCompleted});
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(WorkSettlement, OfALapsedClaimThatWasTakenIsRefused) {
  start_with_work("a", 1);
  const WorkItem old_claim = claim();
  advance(kLock + 1s);
  auto other = register_another();
  FetchWorkItems request = claim_request(1);
  request.epoch = other->epoch();
  request.tokens = other->next(1);
  auto taken = store().fetch_work_items(request);
  ASSERT_TRUE(taken.ok()) << taken;
  ASSERT_EQ(taken->items.size(), 1u);

  EXPECT_EQ(code_of(try_complete(old_claim, "\"stale\"")), ErrorCode::kLockLost);
  EXPECT_FALSE(try_lock().has_value());
  EXPECT_TRUE(try_complete(taken->items[0], "\"fresh\"").ok());
  const OrchestrationItem told = lock("a");
  ASSERT_EQ(told.messages.size(), 1u);
  EXPECT_EQ(told.messages[0].payload, "\"fresh\"");
}

TEST_P(WorkSettlement, OfABatchRefusesABadEntryAlone) {
  start_with_work("a", 3);
  const auto items = claim_up_to(3);
  SettledWork bad = completed(items.at(1), "bad");
  bad.lock = mint().next();

  const Batch<void> answers =
      settle_all({completed(items[0], "0"), bad, completed(items.at(2), "2")});
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_TRUE(answers[0].ok());
  EXPECT_EQ(code_of(answers[1]), ErrorCode::kLockLost);
  EXPECT_TRUE(answers[2].ok());
  const OrchestrationItem told = lock("a");
  ASSERT_EQ(told.messages.size(), 2u);
  EXPECT_EQ(told.messages[0].source, items[0].owner.event);
  EXPECT_EQ(told.messages[1].source, items[2].owner.event);
  EXPECT_EQ(check(items[1]), ClaimState::kRenewed);
}

TEST_P(WorkSettlement, OfOneClaimTwiceInABatchCountsOnce) {
  start_with_work("a", 1);
  const WorkItem item = claim();

  const Batch<void> answers = settle_all({completed(item, "1"), completed(item, "2")});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_TRUE(answers[0].ok());
  EXPECT_EQ(code_of(answers[1]), ErrorCode::kLockLost);
  const OrchestrationItem told = lock("a");
  ASSERT_EQ(told.messages.size(), 1u);
  EXPECT_EQ(told.messages[0].payload, "1");
}

TEST_P(WorkSettlement, OfABatchArrivesInTheOrderOfItsEntries) {
  start_with_work("a", 3);
  const auto items = claim_up_to(3);
  settle_all(
      {completed(items.at(2), "2"), completed(items.at(0), "0"), completed(items.at(1), "1")});

  const OrchestrationItem told = lock("a");
  ASSERT_EQ(told.messages.size(), 3u);
  EXPECT_EQ(told.messages[0].payload, "2");
  EXPECT_EQ(told.messages[1].payload, "0");
  EXPECT_EQ(told.messages[2].payload, "1");
}

TEST_P(WorkSettlement, OfABatchWithEveryOutcomeDoesEachThing) {
  start_with_work("a", 2);
  start_with_work("b", 3);
  const auto items = claim_up_to(5);
  ASSERT_EQ(items.size(), 5u);
  SettledWork failed = settled(items[1], Kind::kFailed);
  failed.outcome.failure = {.type = "boom"};
  const Batch<void> answers = settle_all({completed(items[0], "0"),
                                          failed,
                                          retried(items[2], "net"),
                                          settled(items[3], Kind::kGivenBack),
                                          settled(items[4], Kind::kCanceled)});

  for (const Status& answer : answers) EXPECT_TRUE(answer.ok()) << answer;
  EXPECT_EQ(kinds(lock("a").messages),
            (std::vector{MessageKind::kActivityCompleted, MessageKind::kActivityFailed}));
  EXPECT_FALSE(try_lock().has_value());
  const auto again = claim_up_to(5);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].failures, 1);
  EXPECT_EQ(again[1].deferrals, 1);
}

TEST_P(WorkSettlement, BringsBackALargeResultUnchanged) {
  start_with_work("a", 1);
  std::string result = "\"";
  for (int i = 0; i < 50'000; ++i) result += "ü'\\n;-- ";
  result += '"';
  complete(claim(), result);

  const OrchestrationItem told = lock("a");
  ASSERT_EQ(told.messages.size(), 1u);
  EXPECT_TRUE(told.messages[0].payload == result);
}

TEST_P(WorkSettlement, ByRacingThreadsSucceedsOnce) {
  constexpr int kThreads = 8;
  start_with_work("a", 1);
  const WorkItem item = claim();
  std::atomic<int> accepted{0};
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      auto answer = store().ack_work_items({.entries = {completed(item, std::to_string(i))}});
      if (!answer.ok() || answer->size() != 1) return;
      if ((*answer)[0].ok()) ++accepted;
      if (code_of((*answer)[0]) == ErrorCode::kLockLost) ++refused;
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(accepted, 1);
  EXPECT_EQ(refused, kThreads - 1);
  EXPECT_EQ(lock("a").messages.size(), 1u);
}

PERDURE_CONFORMANCE_SUITE(WorkSettlement);

}  // namespace perdure::conformance
