#include "tests/conformance/request_steps.h"

/// Queries to executions that have ended: handed out by fetches, answered without a lock.
namespace perdure::conformance {

class EndedQueries : public RequestSteps {
 protected:
  void start_and_end(const std::string& id) {
    start(id);
    end(id, ExecutionStatus::kCompleted);
  }

  FetchedOrchestrationItems fetch(const FetchOrchestrationItems& request) {
    auto fetched = store().fetch_orchestration_items(request);
    if (!fetched.ok()) throw std::runtime_error("fetch: " + fetched.error().message);
    return std::move(fetched).value();
  }

  /// What the process gets of one fetch of one item.
  OrchestrationItem fetch_by(TokenMint& process) {
    FetchOrchestrationItems request = fetch_request(1);
    request.epoch = process.epoch();
    request.tokens = process.next(1);
    return fetch(request).items.at(0);
  }

  Status give_back(InstanceKey instance, LockToken lock, Duration delay = {}) {
    AbandonOrchestrationItems request;
    request.entries.push_back({.instance = instance, .lock = lock, .delay = delay});
    auto answer = store().abandon_orchestration_items(std::move(request));
    if (!answer.ok()) throw std::runtime_error("abandon: " + answer.error().message);
    return answer->at(0);
  }
};

TEST_P(EndedQueries, ComeAsAnItemOfTheirExecution) {
  start("a");
  OrchestrationItem item = lock("a");
  TurnCommit last = turn(item);
  last.custom_status = "\"done\"";
  finish(last, item, ExecutionStatus::kCompleted);
  commit(last);
  const InstanceInfo ended = info("a");
  EXPECT_EQ(make(query("a", "q")).stage, RequestStage::kWaiting);

  const OrchestrationItem found = lock("a");

  EXPECT_EQ(found.instance, ended.key);
  EXPECT_EQ(found.execution, ended.current.execution);
  EXPECT_EQ(found.status, ExecutionStatus::kCompleted);
  EXPECT_EQ(found.name, kFlow);
  EXPECT_EQ(found.version, kVersion);
  EXPECT_EQ(found.queue, kQueue);
  EXPECT_EQ(found.last_event, ended.current.last_event);
  EXPECT_EQ(found.last_turn, ended.current.last_turn);
  EXPECT_EQ(found.custom_status, "\"done\"");
  EXPECT_EQ(found.locked_until, now() + kLock);
  EXPECT_FALSE(found.problem);
  EXPECT_FALSE(found.more_messages);
  ASSERT_EQ(kinds(found.messages), Kinds{MessageKind::kQuery});
  EXPECT_EQ(found.messages[0].name, "total");
  EXPECT_EQ(found.messages[0].payload, "{\"of\":\"q\"}");
  EXPECT_EQ(found.messages[0].text, "q");
}

TEST_P(EndedQueries, OfOneExecutionComeTogetherInTheirOrder) {
  start_and_end("a");
  start_and_end("b");
  for (const char* id : {"c", "b", "a"}) {
    make(query("a", id));
    advance(1s);
  }
  make(query("b", "1"));
  const auto items = lock_up_to(10);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].id, "a");
  EXPECT_EQ(texts(items[0]), (Texts{"c", "b", "a"}));
  EXPECT_EQ(items[1].id, "b");
  EXPECT_EQ(texts(items[1]), Texts{"1"});
  EXPECT_NE(items[0].lock, items[1].lock);
}

TEST_P(EndedQueries, AreNotHandedOutTwiceAtATime) {
  start_and_end("a");
  MakeRequest patient = query("a", "q");
  patient.expires_after = 1h;
  make(patient);
  EXPECT_EQ(texts(lock("a")), Texts{"q"});
  EXPECT_FALSE(try_lock());
  advance(kLock - 1s);
  EXPECT_FALSE(try_lock());
  make(query("a", "another"));
  EXPECT_EQ(texts(lock("a")), Texts{"another"});
  advance(1s);
  EXPECT_EQ(texts(lock("a")), Texts{"q"}) << "whoever had it is late";
}

TEST_P(EndedQueries, AreNotHandedOutWhenNobodyWaitsAnyMore) {
  start_and_end("a");
  make(query("a", "q"));
  advance(1min);
  EXPECT_FALSE(try_lock());
  sweep();
  EXPECT_EQ(refusal(look("a", RequestKind::kQuery, "q")), ErrorCode::kNotFound);
}

TEST_P(EndedQueries, GoOnlyToThoseWhoServeTheRun) {
  start_and_end("a");
  make(query("a", "q"));
  FetchOrchestrationItems request = fetch_request(5);
  request.served = {{"other", kVersion}, {kFlow, "2"}, {kFlow, ""}};
  EXPECT_TRUE(fetch(request).items.empty());
  request = fetch_request(5);
  request.queue = "other";
  EXPECT_TRUE(fetch(request).items.empty());
  request = fetch_request(5);
  request.served = {};
  EXPECT_TRUE(fetch(request).items.empty());
  request = fetch_request(5);
  request.served = {{"other", kVersion}, {kFlow, kVersion}, {kFlow, kVersion}};
  EXPECT_EQ(fetch(request).items.size(), 1U);
}

TEST_P(EndedQueries, GetAShareWhenLiveRunsTakeAllTokens) {
  start_and_end("a");
  start_and_end("b");
  start_and_end("c");
  for (const char* id : {"a", "b", "c"}) make(query(id, "q"));
  for (const char* id : {"1", "2", "3"}) start(id);
  EXPECT_EQ(lock().id, "a") << "of a single token they take it";
  const auto items = lock_up_to(2);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].id, "b");
  EXPECT_EQ(items[1].id, "1");
}

TEST_P(EndedQueries, GetTheTokensThatAreLeft) {
  start_and_end("a");
  start_and_end("b");
  start_and_end("c");
  for (const char* id : {"a", "b", "c"}) make(query(id, "q"));
  make(query("a", "r"));
  start("live");
  FetchOrchestrationItems request = fetch_request(3);
  request.max_messages = 1;
  const auto items = fetch(request).items;
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0].id, "a");
  EXPECT_EQ(items[1].id, "live");
  EXPECT_EQ(items[2].id, "b") << "one execution is one item";
  EXPECT_EQ(lock_up_to(5).size(), 2U);
}

TEST_P(EndedQueries, AreCutAtTheLimitAndTheRestFollows) {
  start_and_end("a");
  for (const char* id : {"1", "2", "3"}) make(query("a", id));
  FetchOrchestrationItems request = fetch_request(1);
  request.max_messages = 2;
  const FetchedOrchestrationItems first = fetch(request);
  ASSERT_EQ(first.items.size(), 1U);
  EXPECT_EQ(first.items[0].messages.size(), 2U);
  EXPECT_TRUE(first.items[0].more_messages);
  const OrchestrationItem rest = lock("a");
  EXPECT_EQ(rest.messages.size(), 1U);
  EXPECT_FALSE(rest.more_messages);
}

TEST_P(EndedQueries, WakeWhoRunsTurns) {
  start_and_end("a");
  const Interest interest = instances_of(kQueue);
  make(query("a", "q"));
  EXPECT_EQ(wait(interest), Wake::Reason::kChanged);
}

TEST_P(EndedQueries, AreAnsweredAndNothingElseIsWritten) {
  start_and_end("a");
  const InstanceInfo before = info("a");
  const auto events = history("a");
  make(query("a", "q"));
  const OrchestrationItem item = lock("a");
  const Interest interest = run_of("a");

  TurnCommit replies = turn(item);
  replies.replies = {answered(RequestKind::kQuery, "q", "42")};
  const TurnCommitted committed = commit(replies);

  EXPECT_FALSE(committed.more_now);
  EXPECT_FALSE(committed.next_at);
  EXPECT_EQ(wait(interest), Wake::Reason::kChanged);
  EXPECT_EQ(state("a", RequestKind::kQuery, "q").reply, "42");
  EXPECT_EQ(info("a").current.last_turn, before.current.last_turn);
  EXPECT_EQ(info("a").last_change, before.last_change);
  EXPECT_EQ(history("a"), events);
  EXPECT_FALSE(try_lock());
}

TEST_P(EndedQueries, NeedNoLockToBeAnswered) {
  start_and_end("a");
  make(query("a", "q"));
  const OrchestrationItem item = lock("a");
  advance(kLock);
  const OrchestrationItem again = lock("a");
  reply(item, {answered(RequestKind::kQuery, "q", "first")});
  reply(again, {answered(RequestKind::kQuery, "q", "second")});
  EXPECT_EQ(state("a", RequestKind::kQuery, "q").reply, "first");

  make(query("a", "r"));
  const OrchestrationItem late = lock("a");
  ASSERT_TRUE(store().release_process({.epoch = epoch()}).ok());
  reply(late, {answered(RequestKind::kQuery, "r", "left")});
  EXPECT_EQ(state("a", RequestKind::kQuery, "r").reply, "left");
}

TEST_P(EndedQueries, ThatAreGivenBackAreHandedOutAgainAfterTheDelay) {
  start_and_end("a");
  make(query("a", "q"));
  const OrchestrationItem item = lock("a");
  ASSERT_TRUE(give_back(item.instance, item.lock, 2s).ok());
  const auto fetched = store().fetch_orchestration_items(fetch_request(1));
  ASSERT_TRUE(fetched.ok());
  EXPECT_TRUE(fetched->items.empty());
  EXPECT_EQ(fetched->next_at, now() + 2s);
  advance(2s);
  reply(lock("a"), {answered(RequestKind::kQuery, "q", "1")});
  EXPECT_EQ(state("a", RequestKind::kQuery, "q").reply, "1");
}

TEST_P(EndedQueries, AreGivenBackByWhoeverHasThemAlone) {
  start_and_end("a");
  make(query("a", "first"));
  const OrchestrationItem first = lock("a");
  make(query("a", "second"));
  const OrchestrationItem second = lock("a");
  EXPECT_EQ(refusal(give_back(first.instance, mint().next(1).at(0))), ErrorCode::kLockLost);
  EXPECT_EQ(refusal(give_back(first.instance, register_another()->next(1).at(0))),
            ErrorCode::kLockLost);
  EXPECT_FALSE(try_lock()) << "both have somebody who answers them";

  ASSERT_TRUE(give_back(second.instance, second.lock).ok());

  const OrchestrationItem again = lock("a");
  EXPECT_EQ(texts(again), Texts{"second"});
  EXPECT_EQ(refusal(give_back(second.instance, second.lock)), ErrorCode::kLockLost)
      << "another has it";
  EXPECT_FALSE(try_lock());
}

TEST_P(EndedQueries, ThatWereTakenFromSomebodyLateAreNotItsToGiveBack) {
  start_and_end("a");
  MakeRequest patient = query("a", "q");
  patient.expires_after = 1h;
  make(patient);
  const OrchestrationItem late = lock("a");
  advance(kLock);
  const OrchestrationItem held = lock("a");
  EXPECT_EQ(refusal(give_back(late.instance, late.lock)), ErrorCode::kLockLost);
  EXPECT_FALSE(try_lock());
  reply(held, {answered(RequestKind::kQuery, "q", "1")});
  EXPECT_EQ(refusal(give_back(held.instance, held.lock)), ErrorCode::kLockLost);
  EXPECT_EQ(state("a", RequestKind::kQuery, "q").reply, "1");
}

TEST_P(EndedQueries, OfAProcessThatHasEndedAreHandedOutAgainAtOnce) {
  start_and_end("a");
  const auto taken_over = register_another();
  const auto released = register_another();
  const auto stays = register_another();
  make(query("a", "taken over"));
  EXPECT_EQ(texts(fetch_by(*taken_over)), Texts{"taken over"});
  make(query("a", "released"));
  EXPECT_EQ(texts(fetch_by(*released)), Texts{"released"});
  make(query("a", "stays"));
  EXPECT_EQ(texts(fetch_by(*stays)), Texts{"stays"});

  Interest interest = instances_of(kQueue);
  ASSERT_TRUE(store().take_over({taken_over->epoch()}).ok());
  EXPECT_EQ(wait(interest), Wake::Reason::kChanged);
  EXPECT_EQ(texts(lock("a")), Texts{"taken over"});

  interest = instances_of(kQueue);
  ASSERT_TRUE(store().release_process({released->epoch()}).ok());
  EXPECT_EQ(wait(interest), Wake::Reason::kChanged);
  EXPECT_EQ(texts(lock("a")), Texts{"released"});
  EXPECT_FALSE(try_lock());
}

TEST_P(EndedQueries, HaveNoLockToRenew) {
  start_and_end("a");
  make(query("a", "q"));
  const OrchestrationItem item = lock("a");
  RenewOrchestrationItemLocks held;
  held.entries.push_back({.instance = item.instance, .lock = item.lock});
  const auto renewed = store().renew_orchestration_item_locks(held);
  ASSERT_TRUE(renewed.ok());
  EXPECT_EQ(refusal(renewed->at(0)), ErrorCode::kLockLost);
  reply(item, {answered(RequestKind::kQuery, "q", "1")});
}

TEST_P(EndedQueries, AreAnsweredByRepliesAlone) {
  start_and_end("a");
  make(query("a", "q"));
  const OrchestrationItem item = lock("a");
  TurnCommit good = turn(item);
  good.replies = {answered(RequestKind::kQuery, "q", "1")};
  TurnCommit sets_status = good;
  sets_status.custom_status = "1";
  EXPECT_EQ(refusal(try_commit(sets_status)), ErrorCode::kInvalidArgument);
  TurnCommit raises = good;
  raises.raised = {{"a", "e", "1"}};
  EXPECT_EQ(refusal(try_commit(raises)), ErrorCode::kInvalidArgument);
  TurnCommit says_nothing = good;
  says_nothing.replies[0].stage = RequestStage::kWaiting;
  EXPECT_EQ(refusal(try_commit(says_nothing)), ErrorCode::kInvalidArgument);
  TurnCommit other_end = good;
  other_end.status = ExecutionStatus::kFailed;
  EXPECT_FALSE(try_commit(other_end).ok()) << "it did not end so";
  TurnCommit has_events = good;
  finish(has_events, item, ExecutionStatus::kCompleted);
  EXPECT_EQ(refusal(try_commit(has_events)), ErrorCode::kLockLost);
  EXPECT_EQ(query_stage("a", "q"), RequestStage::kWaiting);
  commit(good);
  EXPECT_EQ(query_stage("a", "q"), RequestStage::kAnswered);
}

TEST_P(EndedQueries, OfALiveRunAreNotAnsweredWithoutItsLock) {
  start_and_run("a");
  make(query("a", "q"));
  const OrchestrationItem item = lock("a");
  TurnCommit claims_end = turn(item);
  claims_end.status = ExecutionStatus::kCompleted;
  claims_end.replies = {answered(RequestKind::kQuery, "q", "1")};
  EXPECT_EQ(refusal(try_commit(claims_end)), ErrorCode::kInvalidArgument);
  claims_end.lock = mint().next(1).at(0);
  EXPECT_EQ(refusal(try_commit(claims_end)), ErrorCode::kLockLost);
  EXPECT_EQ(query_stage("a", "q"), RequestStage::kWaiting);
}

TEST_P(EndedQueries, OfALiveRunThatCannotBeReadAreNotAnsweredWithoutItsLock) {
  start_and_run("a");
  make(query("a", "q"));
  const OrchestrationItem item = lock("a");
  ASSERT_TRUE(
      under_test().corrupt({.table = RowRef::Table::kExecution, .instance = item.instance}));
  TurnCommit claims_end = turn(item);
  claims_end.status = ExecutionStatus::kCompleted;
  claims_end.lock = mint().next(1).at(0);
  claims_end.replies = {answered(RequestKind::kQuery, "q", "1")};
  EXPECT_FALSE(try_commit(claims_end).ok());
  const auto waits = store().get_request({item.instance, RequestKind::kQuery, "q"});
  ASSERT_TRUE(waits.ok()) << waits;
  EXPECT_EQ(waits->stage, RequestStage::kWaiting);
}

TEST_P(EndedQueries, OfADeletedRunAreNotFound) {
  start_and_end("a");
  make(query("a", "q"));
  const OrchestrationItem item = lock("a");
  ASSERT_TRUE(store().delete_instance({.id = "a"}).ok());
  TurnCommit late = turn(item);
  late.replies = {answered(RequestKind::kQuery, "q", "1")};
  EXPECT_EQ(refusal(try_commit(late)), ErrorCode::kNotFound);
}

TEST_P(EndedQueries, StayWithTheirExecutionWhenItsIdIsUsedAgain) {
  start_and_end("a");
  const EventId last = info("a").current.last_event;
  make(query("a", "q"));
  StartOrchestration again = start_request("a");
  again.name = "another";
  again.version = "7";
  start(again);

  const OrchestrationItem item = lock("a");

  EXPECT_EQ(item.execution, ExecutionNo{1});
  EXPECT_EQ(item.status, ExecutionStatus::kCompleted);
  EXPECT_EQ(item.last_event, last);
  EXPECT_EQ(item.name, kFlow) << "it is served as what it was";
  EXPECT_EQ(item.version, kVersion);
  reply(item, {answered(RequestKind::kQuery, "q", "1")});
  EXPECT_EQ(query_stage("a", "q"), RequestStage::kAnswered);
  EXPECT_EQ(info("a").current.execution, ExecutionNo{2});
  EXPECT_EQ(status("a"), ExecutionStatus::kRunning);
}

TEST_P(EndedQueries, GoWithAnExecutionThatIsPruned) {
  start_and_end("a");
  make(query("a", "old"));
  start("a");
  const auto items = lock_up_to(2);
  ASSERT_EQ(items.size(), 2U);
  TurnCommit last = turn(items[1]);
  finish(last, items[1], ExecutionStatus::kCompleted);
  commit(last);
  make(query("a", "new"));
  const Interest interest = run_of("a");
  ASSERT_TRUE(store().prune_executions({.id = "a", .keep_last = 1}).ok());
  EXPECT_EQ(wait(interest), Wake::Reason::kChanged);
  EXPECT_EQ(refusal(look("a", RequestKind::kQuery, "old")), ErrorCode::kNotFound);
  EXPECT_EQ(texts(lock("a")), Texts{"new"});
}

TEST_P(EndedQueries, OfAnExecutionThatCannotBeReadHinderNobody) {
  start_and_end("bad");
  start_and_end("good");
  make(query("bad", "q"));
  make(query("good", "q"));
  const InstanceKey bad = info("bad").key;
  ASSERT_TRUE(under_test().corrupt({.table = RowRef::Table::kExecution, .instance = bad}));
  const auto items = lock_up_to(5);
  ASSERT_EQ(items.size(), 2U);
  for (const OrchestrationItem& item : items) {
    EXPECT_EQ(item.problem.has_value(), item.instance == bad);
    EXPECT_TRUE(is_terminal(item.status)) << "there is no lock";
    const Reply read = answered(RequestKind::kQuery, "q", "1");
    const Reply unread = not_answered(RequestKind::kQuery, "q", RequestStage::kFailed);
    reply(item, {item.problem ? unread : read});
  }
  EXPECT_EQ(query_stage("good", "q"), RequestStage::kAnswered);
  const auto told = store().get_request({bad, RequestKind::kQuery, "q"});
  ASSERT_TRUE(told.ok()) << told;
  EXPECT_EQ(told->stage, RequestStage::kFailed) << "who asked hears of it";
  EXPECT_TRUE(lock_up_to(5).empty()) << "a hot loop";
}

PERDURE_CONFORMANCE_SUITE(EndedQueries);

}  // namespace perdure::conformance
