#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/conformance/conformance.h"

/// What a claim takes, in which order, and what it carries.
namespace perdure::conformance {

namespace {

std::vector<std::string> inputs(const std::vector<WorkItem>& items) {
  std::vector<std::string> result;
  for (const WorkItem& item : items) result.push_back(item.work.input);
  return result;
}

using Inputs = std::vector<std::string>;

}  // namespace

class WorkClaims : public Conformance {
 protected:
  /// A fresh instance whose first turn schedules these rows, in this order.
  OrchestrationItem start_with_rows(const std::string& id, std::vector<NewWork> rows) {
    start(id);
    OrchestrationItem item = lock(id);
    TurnCommit commit = turn(item);
    for (NewWork& row : rows) schedule(commit, item, std::move(row));
    this->commit(std::move(commit));
    return item;
  }

  FetchedWorkItems fetch(FetchWorkItems request) {
    auto answer = store().fetch_work_items(std::move(request));
    if (!answer.ok()) throw std::runtime_error("fetch: " + answer.error().message);
    return std::move(answer).value();
  }
};

TEST_P(WorkClaims, ComeInTheOrderOfBirth) {
  start_with_rows("a", {{.input = "1"}, {.input = "2"}});
  start_with_rows("b", {{.input = "3"}});
  poke("a");
  OrchestrationItem item = lock("a");
  TurnCommit later = turn(item);
  schedule(later, item, {.input = "4"});
  commit(std::move(later));

  EXPECT_EQ(inputs(claim_up_to(3)), (Inputs{"1", "2", "3"}));
  EXPECT_EQ(inputs(claim_up_to(3)), (Inputs{"4"}));
}

TEST_P(WorkClaims, PreferHigherPriorityThenAge) {
  start_with_rows("a",
                  {{.input = "low", .priority = -1},
                   {.input = "plain 1"},
                   {.input = "high 1", .priority = 7},
                   {.input = "plain 2"},
                   {.input = "high 2", .priority = 7}});

  EXPECT_EQ(inputs(claim_up_to(5)), (Inputs{"high 1", "high 2", "plain 1", "plain 2", "low"}));
}

TEST_P(WorkClaims, MergeNamesByPriorityThenAge) {
  start_with_rows("a",
                  {{.name = "zeta", .input = "1"},
                   {.name = "alpha", .input = "2"},
                   {.name = "zeta", .input = "3", .priority = 1},
                   {.name = "alpha", .input = "4", .priority = 2},
                   {.name = "zeta", .input = "5"}});

  FetchWorkItems request = claim_request(5);
  request.names = {"alpha", "zeta"};
  EXPECT_EQ(inputs(fetch(request).items), (Inputs{"4", "3", "1", "2", "5"}));
}

TEST_P(WorkClaims, AreNotHeldUpByNamesThatNobodyServes) {
  std::vector<NewWork> rows(100, NewWork{.name = "unserved", .input = "x", .priority = 9});
  rows.push_back({.input = "mine"});
  start_with_rows("a", std::move(rows));

  EXPECT_EQ(inputs(claim_up_to(10)), (Inputs{"mine"}));
  FetchWorkItems unserved = claim_request(200);
  unserved.names = {"unserved"};
  EXPECT_EQ(fetch(unserved).items.size(), 100u);
}

TEST_P(WorkClaims, TakeRowsOfTheirQueueOnly) {
  start_with_rows("a", {{.queue = "elsewhere", .input = "there"}, {.input = "here"}});

  EXPECT_EQ(inputs(claim_up_to(5)), (Inputs{"here"}));
  FetchWorkItems request = claim_request(5);
  request.queue = "elsewhere";
  const auto there = fetch(request).items;
  ASSERT_EQ(inputs(there), (Inputs{"there"}));
  EXPECT_EQ(there[0].work.queue, "elsewhere");
}

TEST_P(WorkClaims, NeverExceedTheTokensAndUseEachOnce) {
  start_with_work("a", 5);

  EXPECT_TRUE(claim_up_to(0).empty());
  FetchWorkItems request = claim_request(3);
  const std::set<LockToken> given(request.tokens.begin(), request.tokens.end());
  const auto items = fetch(request).items;
  ASSERT_EQ(items.size(), 3u);
  std::set<LockToken> used;
  for (const WorkItem& item : items) used.insert(item.lock);
  EXPECT_EQ(used, given);
  EXPECT_EQ(claim_up_to(3).size(), 2u);
}

TEST_P(WorkClaims, RefuseATokenOfAnotherEpochAndClaimNothing) {
  start_with_work("a", 2);
  auto other = register_another();

  FetchWorkItems request = claim_request(1);
  request.tokens.push_back(other->next());
  EXPECT_EQ(code_of(store().fetch_work_items(request)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(claim_up_to(5).size(), 2u);
}

TEST_P(WorkClaims, RefuseAnEndedEpochAndClaimNothing) {
  start_with_work("a", 1);
  auto other = register_another();
  ASSERT_TRUE(store().release_process({.epoch = other->epoch()}).ok());

  FetchWorkItems request = claim_request(1);
  request.epoch = other->epoch();
  request.tokens = other->next(1);
  EXPECT_EQ(code_of(store().fetch_work_items(request)), ErrorCode::kLockLost);
  EXPECT_EQ(claim().losses, 0);
}

TEST_P(WorkClaims, HideTheRowFromEverybodyElse) {
  start_with_work("a", 1);
  const WorkItem mine = claim();
  auto other = register_another();

  FetchWorkItems request = claim_request(1);
  request.epoch = other->epoch();
  request.tokens = other->next(1);
  EXPECT_TRUE(fetch(request).items.empty());
  EXPECT_FALSE(try_claim().has_value());
  EXPECT_TRUE(try_complete(mine).ok());
}

TEST_P(WorkClaims, SeeANewRowInTheMomentOfItsCommit) {
  start("a");
  OrchestrationItem item = lock("a");
  TurnCommit first = turn(item);
  const EventId event = schedule(first, item);
  EXPECT_FALSE(try_claim().has_value());
  commit(std::move(first));

  EXPECT_EQ(claim().owner.event, event);
}

TEST_P(WorkClaims, SkipDelayedRowsAndServeTheLaterOnes) {
  start_with_rows("a",
                  {{.input = "delayed", .priority = 9, .visible_at = add(now(), 1h)},
                   {.input = "first"},
                   {.input = "second"}});

  EXPECT_EQ(inputs(claim_up_to(5)), (Inputs{"first", "second"}));
}

TEST_P(WorkClaims, ServeADelayedRowWhenItIsDue) {
  start_with_rows("a", {{.visible_at = add(now(), 60s)}});

  advance(50s);
  EXPECT_FALSE(try_claim().has_value());
  advance(10s);
  const WorkItem item = claim();
  EXPECT_EQ(item.attempt(), 1);
}

TEST_P(WorkClaims, ServeADueRowByItsAge) {
  start_with_rows("a", {{.input = "older", .visible_at = add(now(), 60s)}, {.input = "younger"}});

  advance(60s);
  EXPECT_EQ(inputs(claim_up_to(2)), (Inputs{"older", "younger"}));
}

TEST_P(WorkClaims, LeaveRowsWhoseTimeIsOverToTheSweep) {
  start_with_rows("a",
                  {{.input = "1", .timeouts = {.schedule_to_start = 60s}},
                   {.input = "2", .timeouts = {.schedule_to_close = 60s}},
                   {.input = "3", .timeouts = {.schedule_to_start = 61s}},
                   {.input = "4"}});
  advance(60s);
  EXPECT_EQ(inputs(claim_up_to(4)), (Inputs{"3", "4"}));
  EXPECT_EQ(store().sweep_work_items().value().timed_out, 2);
  EXPECT_EQ(inputs(claim_up_to(4)), Inputs{});
}

TEST_P(WorkClaims, LeaveARowThatIsLostUntilItsTimeIsOver) {
  start_with_rows("a", {{.input = "1", .timeouts = {.schedule_to_close = 2 * kLock}}});
  ASSERT_EQ(inputs(claim_up_to(1)), Inputs{"1"});
  advance(kLock + 1s);
  ASSERT_EQ(inputs(claim_up_to(1)), Inputs{"1"}) << "its lease lapsed, its time is not over";
  advance(kLock + 1s);
  EXPECT_EQ(inputs(claim_up_to(1)), Inputs{});
  EXPECT_EQ(store().sweep_work_items().value().timed_out, 1);
}

TEST_P(WorkClaims, AnswerWhenTheNextDelayedRowIsDue) {
  const TimePoint sooner = add(now(), 60s);
  start_with_rows("a",
                  {{.visible_at = add(sooner, 60s)}, {.visible_at = sooner}, {.input = "now"}});

  const FetchedWorkItems first = fetch(claim_request(5));
  ASSERT_EQ(inputs(first.items), (Inputs{"now"}));
  EXPECT_EQ(first.next_at, sooner);
  complete(first.items[0]);
  advance(60s);
  const FetchedWorkItems second = fetch(claim_request(5));
  ASSERT_EQ(second.items.size(), 1u);
  EXPECT_EQ(second.next_at, add(sooner, 60s));
}

TEST_P(WorkClaims, AnswerNoTimeWhenNothingIsDelayed) {
  EXPECT_EQ(fetch(claim_request(1)).next_at, std::nullopt);
  start_with_work("a", 1);
  complete(claim());
  EXPECT_EQ(fetch(claim_request(1)).next_at, std::nullopt);
}

TEST_P(WorkClaims, CarryEverythingTheCallWasMadeWith) {
  NewWork sent{.name = kTask,
               .input = R"({"text":"quo\"ted ' ü","list":[1,2]})",
               .priority = -3,
               .on_cancel = OnCancel::kAbandon,
               .shielded = true,
               .retry = {.max_attempts = 5,
                         .first_delay = 1'234'567us,
                         .backoff = 1.5,
                         .max_delay = 5min,
                         .jitter = 0.25,
                         .non_retryable = {"fatal", "say \"no\", twice"}},
               .timeouts = {.start_to_close = 11s,
                            .schedule_to_start = 12s,
                            .schedule_to_close = 13s,
                            .heartbeat = 1'500ms}};
  sent.queue = kQueue;
  start_with_rows("a", {sent});

  const NewWork got = claim().work;
  EXPECT_EQ(got.queue, kQueue);
  EXPECT_EQ(got.name, kTask);
  EXPECT_EQ(got.input, sent.input);
  EXPECT_EQ(got.priority, -3);
  EXPECT_EQ(got.on_cancel, OnCancel::kAbandon);
  EXPECT_TRUE(got.shielded);
  EXPECT_EQ(got.retry, sent.retry);
  EXPECT_EQ(got.timeouts, sent.timeouts);
}

TEST_P(WorkClaims, CarryTheIdentityOfTheCall) {
  StartOrchestration request = start_request("order/7 \"ü\"");
  request.name = "checkout";
  request.version = "2.1";
  start(request);
  FetchOrchestrationItems serve = fetch_request(1);
  serve.served = {{"checkout", "2.1"}};
  auto locked = store().fetch_orchestration_items(serve);
  ASSERT_TRUE(locked.ok()) << locked;
  ASSERT_EQ(locked->items.size(), 1u);
  const OrchestrationItem& item = locked->items[0];
  TurnCommit first = turn(item);
  schedule(first, item);
  const EventId second = schedule(first, item);
  commit(std::move(first));

  const auto items = claim_up_to(2);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_NE(items[0].id, items[1].id);
  EXPECT_EQ(items[1].instance_id, "order/7 \"ü\"");
  EXPECT_EQ(items[1].orchestration, "checkout");
  EXPECT_EQ(items[1].orchestration_version, "2.1");
  EXPECT_EQ(items[1].owner,
            (WorkOwner{.kind = OwnerKind::kActivity,
                       .instance = item.instance,
                       .execution = item.execution,
                       .event = second}));
}

TEST_P(WorkClaims, CarryTheStoryOfEarlierAttempts) {
  start_with_work("a", 1);
  const WorkItem first = claim();
  EXPECT_EQ(first.attempt(), 1);
  EXPECT_EQ(first.last_failure, Failure{});
  EXPECT_EQ(first.heartbeat_details, "");
  SettledWork retry = settled(first, WorkOutcome::Kind::kRetryAt);
  retry.outcome.failure = {.type = "net", .message = "down", .retryable = true, .details = "[1]"};
  retry.heartbeat_details = "\"half\"";
  ASSERT_TRUE(try_settle(retry).ok());
  EXPECT_EQ(claim().attempt(), 2);
  advance(kLock + 1s);
  const WorkItem third = claim();
  EXPECT_EQ(third.attempt(), 3);
  ASSERT_TRUE(try_settle(settled(third, WorkOutcome::Kind::kGivenBack)).ok());

  const WorkItem fourth = claim();
  EXPECT_EQ(fourth.id, first.id);
  EXPECT_EQ(fourth.failures, 1);
  EXPECT_EQ(fourth.losses, 1);
  EXPECT_EQ(fourth.deferrals, 1);
  EXPECT_EQ(fourth.attempt(), 4);
  EXPECT_EQ(fourth.last_failure, retry.outcome.failure);
  EXPECT_EQ(fourth.heartbeat_details, "\"half\"");
  EXPECT_EQ(fourth.created_at, first.created_at);
  EXPECT_EQ(fourth.first_claimed_at, first.claimed_at);
  EXPECT_GT(fourth.claimed_at, first.claimed_at);
}

TEST_P(WorkClaims, LastFromTheFetchForTheTimeAskedFor) {
  start_with_work("a", 1);
  advance(5s);
  FetchWorkItems request = claim_request(1);
  request.lock_for = 77s;

  const FetchedWorkItems answer = fetch(request);
  ASSERT_EQ(answer.items.size(), 1u);
  EXPECT_EQ(answer.items[0].claimed_at, answer.now);
  EXPECT_EQ(answer.items[0].first_claimed_at, answer.now);
  EXPECT_EQ(answer.items[0].locked_until, add(answer.now, 77s));
  EXPECT_GE(answer.now - answer.items[0].created_at, 5s);
}

TEST_P(WorkClaims, OfManyThreadsTakeEachRowOnce) {
  constexpr int kRows = 200;
  constexpr int kThreads = 8;
  constexpr int kMaxRounds = 10'000;
  start_with_work("a", kRows);
  std::mutex mutex;
  std::vector<WorkId> taken;
  std::atomic<int> count{0};
  std::atomic<int> errors{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kMaxRounds && count < kRows && errors == 0; ++round) {
        auto answer = store().fetch_work_items(claim_request(3));
        if (!answer.ok()) {
          ++errors;
          return;
        }
        std::lock_guard guard(mutex);
        for (const WorkItem& item : answer->items) taken.push_back(item.id);
        count += static_cast<int>(answer->items.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(errors, 0);
  EXPECT_EQ(taken.size(), static_cast<std::size_t>(kRows));
  EXPECT_EQ(std::set<WorkId>(taken.begin(), taken.end()).size(), static_cast<std::size_t>(kRows));
}

PERDURE_CONFORMANCE_SUITE(WorkClaims);

}  // namespace perdure::conformance
