#include <functional>

#include "tests/conformance/request_steps.h"

/// Updates and queries: made, taken by a turn, answered, waited for and forgotten.
namespace perdure::conformance {

class RunRequests : public RequestSteps {};

// --- Making -------------------------------------------------------------------------------------

TEST_P(RunRequests, AreStoredWithTheirMessage) {
  start_and_run("a");
  const RequestState made = make(update("a", "u"));
  EXPECT_EQ(made.instance, info("a").key);
  EXPECT_EQ(made.stage, RequestStage::kWaiting);
  EXPECT_EQ(make(query("a", "q")).stage, RequestStage::kWaiting);

  const OrchestrationItem item = lock("a");

  ASSERT_EQ(kinds(item.messages), (Kinds{MessageKind::kUpdate, MessageKind::kQuery}));
  EXPECT_EQ(item.messages[0].name, "add");
  EXPECT_EQ(item.messages[0].payload, "{\"of\":\"u\"}");
  EXPECT_EQ(item.messages[0].text, "u");
  EXPECT_EQ(item.messages[0].execution, ExecutionNo{0}) << "it belongs to the instance";
  EXPECT_EQ(item.messages[0].visible_at, now());
  EXPECT_EQ(item.messages[1].name, "total");
  EXPECT_EQ(item.messages[1].payload, "{\"of\":\"q\"}");
  EXPECT_EQ(item.messages[1].text, "q");
  EXPECT_EQ(update_stage("a", "u"), RequestStage::kWaiting);
  EXPECT_EQ(query_stage("a", "q"), RequestStage::kWaiting);
}

TEST_P(RunRequests, ThatAreMadeAgainFindTheFirstAndSendNothing) {
  start_and_run("a");
  for (const MakeRequest& request : {update("a", "u"), query("a", "q")}) {
    make(request);
    MakeRequest again = request;
    again.payload = "another payload changes nothing";
    EXPECT_EQ(make(again).stage, RequestStage::kWaiting);
  }
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(kinds(item.messages), (Kinds{MessageKind::kUpdate, MessageKind::kQuery}));
  reply(item, {answered(RequestKind::kUpdate, "u", "1"), answered(RequestKind::kQuery, "q", "2")});

  EXPECT_EQ(make(update("a", "u")).reply, "1");
  EXPECT_EQ(make(query("a", "q")).reply, "2");
  EXPECT_FALSE(try_lock());
}

TEST_P(RunRequests, OfAnotherNameAreRefusedUnderAUsedId) {
  start_and_run("a");
  make(update("a", "u"));
  MakeRequest other = update("a", "u");
  other.name = "remove";
  EXPECT_EQ(refusal(store().make_request(other)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(lock("a").messages.size(), 1U);
}

TEST_P(RunRequests, KeepTheirIdsForEachRunAndKind) {
  for (const char* id : {"a", "b"}) start_and_run(id);
  for (const char* id : {"a", "b"}) {
    make(update(id, "1"));
    make(query(id, "1"));
  }
  StartOrchestration other = start_request("c");
  other.request_id = "1";
  start(other);
  for (const OrchestrationItem& item : lock_up_to(3)) {
    if (item.id == "c") continue;
    EXPECT_EQ(kinds(item.messages), (Kinds{MessageKind::kUpdate, MessageKind::kQuery})) << item.id;
    if (item.id == "a") reply(item, {answered(RequestKind::kQuery, "1", "2")});
  }
  EXPECT_EQ(query_stage("a", "1"), RequestStage::kAnswered);
  EXPECT_EQ(update_stage("a", "1"), RequestStage::kWaiting);
  EXPECT_EQ(query_stage("b", "1"), RequestStage::kWaiting);
}

TEST_P(RunRequests, ToNobodyAreNotFound) {
  EXPECT_EQ(refusal(store().make_request(update("nobody", "u"))), ErrorCode::kNotFound);
  EXPECT_EQ(refusal(store().make_request(query("nobody", "q"))), ErrorCode::kNotFound);
  start_and_run("a");
  EXPECT_EQ(refusal(look("a", RequestKind::kUpdate, "u")), ErrorCode::kNotFound);
  make(query("a", "u"));
  EXPECT_EQ(refusal(look("a", RequestKind::kUpdate, "u")), ErrorCode::kNotFound);
  EXPECT_EQ(refusal(store().get_request({InstanceKey{999}, RequestKind::kQuery, "u"})),
            ErrorCode::kNotFound);
}

TEST_P(RunRequests, ThatAreUpdatesConflictWithTheEndOfTheRun) {
  start("a");
  end("a", ExecutionStatus::kCompleted);
  const auto refused = store().make_request(update("a", "u"));
  ASSERT_EQ(refusal(refused), ErrorCode::kConflict);
  EXPECT_NE(refused.error().message.find("'a'"), std::string::npos) << refused.error();
  EXPECT_NE(refused.error().message.find("completed"), std::string::npos) << refused.error();
  EXPECT_EQ(refusal(look("a", RequestKind::kUpdate, "u")), ErrorCode::kNotFound);
}

TEST_P(RunRequests, ThatAreAnsweredAreFoundAfterTheEndOfTheRun) {
  start_and_run("a");
  make(update("a", "u"));
  const OrchestrationItem item = lock("a");
  TurnCommit last = turn(item);
  last.replies = {answered(RequestKind::kUpdate, "u", "1")};
  finish(last, item, ExecutionStatus::kCompleted);
  commit(last);
  EXPECT_EQ(make(update("a", "u")).reply, "1");
}

TEST_P(RunRequests, WithABadFieldAreRefused) {
  start_and_run("a");
  const auto refused = [this](const std::function<void(MakeRequest&)>& spoil) {
    MakeRequest bad = query("a", "q");
    spoil(bad);
    return refusal(store().make_request(bad));
  };
  constexpr auto kBad = ErrorCode::kInvalidArgument;
  EXPECT_EQ(refused([](MakeRequest& r) { r.id = ""; }), kBad);
  EXPECT_EQ(refused([](MakeRequest& r) { r.request = ""; }), kBad);
  EXPECT_EQ(refused([](MakeRequest& r) { r.request = std::string(256, 'x'); }), kBad);
  EXPECT_EQ(refused([](MakeRequest& r) { r.name = "\xff"; }), kBad);
  EXPECT_EQ(refused([](MakeRequest& r) { r.payload = "\xff"; }), kBad);
  EXPECT_EQ(refused([](MakeRequest& r) { r.expires_after = 0s; }), kBad);
  EXPECT_EQ(refused([](MakeRequest& r) { r.kind = RequestKind::kSignal; }), kBad);
  EXPECT_FALSE(try_lock());
}

TEST_P(RunRequests, DoNotHurryADelayedStart) {
  StartOrchestration request = start_request("a");
  request.delay = 10s;
  start(request);
  make(update("a", "u"));
  make(query("a", "q"));
  EXPECT_FALSE(try_lock());
  advance(10s);
  EXPECT_EQ(kinds(lock("a").messages),
            (Kinds{MessageKind::kStart, MessageKind::kUpdate, MessageKind::kQuery}));
}

TEST_P(RunRequests, ReachARunThatIsBeingCanceled) {
  start_and_run("a");
  cancel("a");
  make(update("a", "u"));
  EXPECT_EQ(kinds(lock("a").messages), (Kinds{MessageKind::kCancel, MessageKind::kUpdate}));
}

TEST_P(RunRequests, WakeWhoRunsTurns) {
  start_and_run("a");
  const Interest interest = instances_of(kQueue);
  make(update("a", "u"));
  EXPECT_EQ(wait(interest), Wake::Reason::kChanged);
}

// --- Replies ------------------------------------------------------------------------------------

TEST_P(RunRequests, GetOnByTheCommitOfATurn) {
  start_and_run("a");
  make(update("a", "u"));
  reply(lock("a"), {accepted("u")});
  EXPECT_EQ(update_stage("a", "u"), RequestStage::kAccepted);
  EXPECT_EQ(make(update("a", "u")).stage, RequestStage::kAccepted);
  poke("a");
  reply(lock("a"), {answered(RequestKind::kUpdate, "u", "{\"sum\":3}")});

  const RequestState done = state("a", RequestKind::kUpdate, "u");

  EXPECT_EQ(done.instance, info("a").key);
  EXPECT_EQ(done.stage, RequestStage::kAnswered);
  EXPECT_EQ(done.reply, "{\"sum\":3}");
  EXPECT_TRUE(done.failure.type.empty());
}

TEST_P(RunRequests, ThatGotNoReplyCarryTheFailure) {
  start_and_run("a");
  make(update("a", "u"));
  make(update("a", "v"));
  make(query("a", "q"));
  const Reply refused = not_answered(RequestKind::kUpdate, "u", RequestStage::kRefused);
  const Reply failed = not_answered(RequestKind::kUpdate, "v", RequestStage::kFailed);
  reply(lock("a"),
        {refused, failed, not_answered(RequestKind::kQuery, "q", RequestStage::kFailed)});

  EXPECT_EQ(update_stage("a", "u"), RequestStage::kRefused);
  EXPECT_EQ(state("a", RequestKind::kUpdate, "u").failure, refused.failure);
  EXPECT_EQ(update_stage("a", "v"), RequestStage::kFailed);
  EXPECT_EQ(state("a", RequestKind::kUpdate, "v").failure, failed.failure);
  EXPECT_EQ(query_stage("a", "q"), RequestStage::kFailed);
}

TEST_P(RunRequests, KeepTheirFinalStage) {
  start_and_run("a");
  make(update("a", "u"));
  reply(lock("a"), {answered(RequestKind::kUpdate, "u", "1"), accepted("u")});
  poke("a");
  reply(lock("a"),
        {answered(RequestKind::kUpdate, "u", "2"),
         not_answered(RequestKind::kUpdate, "u", RequestStage::kFailed)});
  terminate("a");

  const RequestState done = state("a", RequestKind::kUpdate, "u");

  EXPECT_EQ(done.stage, RequestStage::kAnswered);
  EXPECT_EQ(done.reply, "1");
  EXPECT_TRUE(done.failure.type.empty());
}

TEST_P(RunRequests, ThatNobodyMadeGetNoReply) {
  start_and_run("a");
  poke("a");
  reply(lock("a"), {answered(RequestKind::kQuery, "unknown", "1")});
  EXPECT_EQ(refusal(look("a", RequestKind::kQuery, "unknown")), ErrorCode::kNotFound);
}

TEST_P(RunRequests, GetNoReplyFromATurnThatLostItsLock) {
  start_and_run("a");
  make(update("a", "u"));
  const OrchestrationItem item = lock("a");
  advance(kLock);
  TurnCommit late = turn(item);
  late.replies = {answered(RequestKind::kUpdate, "u", "1")};
  EXPECT_EQ(refusal(try_commit(late)), ErrorCode::kLockLost);
  EXPECT_EQ(update_stage("a", "u"), RequestStage::kWaiting);
  EXPECT_EQ(texts(lock("a")), Texts{"u"}) << "the message is still there";
}

TEST_P(RunRequests, GetNoReplyThatSaysNothing) {
  start_and_run("a");
  make(query("a", "q"));
  const OrchestrationItem item = lock("a");
  TurnCommit wrong = turn(item);
  wrong.replies = {answered(RequestKind::kQuery, "q", "1")};
  wrong.replies[0].stage = RequestStage::kWaiting;
  EXPECT_EQ(refusal(try_commit(wrong)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(query_stage("a", "q"), RequestStage::kWaiting);
  reply(item, {answered(RequestKind::kQuery, "q", "1")});
  EXPECT_EQ(query_stage("a", "q"), RequestStage::kAnswered);
}

TEST_P(RunRequests, WakeWhoWaitsForThem) {
  start_and_run("a");
  make(update("a", "u"));
  for (const Reply& next : {accepted("u"), answered(RequestKind::kUpdate, "u", "1")}) {
    const Interest interest = run_of("a");
    poke("a");
    reply(lock("a"), {next});
    EXPECT_EQ(wait(interest), Wake::Reason::kChanged);
  }
}

TEST_P(RunRequests, LeaveHandlersATimeToEnd) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit drains = turn(item);
  drains.status = ExecutionStatus::kCompleting;
  drains.drain_at = now() + 60s;
  EXPECT_EQ(commit(drains).next_at, now() + 60s);
  EXPECT_FALSE(try_lock());
  advance(60s);
  const OrchestrationItem later = lock("a");
  ASSERT_EQ(kinds(later.messages), Kinds{MessageKind::kDrainDeadline});
  EXPECT_EQ(later.messages[0].execution, item.execution);
}

// --- Time ---------------------------------------------------------------------------------------

TEST_P(RunRequests, AreForgottenADayAfterTheirReply) {
  start_and_run("a");
  make(update("a", "u"));
  reply(lock("a"), {answered(RequestKind::kUpdate, "u", "1")});
  advance(kRepliesKeptFor - 1s);
  sweep();
  EXPECT_EQ(make(update("a", "u")).stage, RequestStage::kAnswered);
  advance(1s);
  sweep();
  EXPECT_EQ(refusal(look("a", RequestKind::kUpdate, "u")), ErrorCode::kNotFound);
  EXPECT_EQ(make(update("a", "u")).stage, RequestStage::kWaiting) << "a new one";
  EXPECT_EQ(texts(lock("a")), Texts{"u"});
}

TEST_P(RunRequests, ThatAreOpenUpdatesAreNotForgotten) {
  start_with_updates("a");
  advance(10 * kRepliesKeptFor);
  sweep();
  EXPECT_EQ(update_stage("a", "taken"), RequestStage::kAccepted);
  EXPECT_EQ(update_stage("a", "waiting"), RequestStage::kWaiting);
}

TEST_P(RunRequests, ThatAreQueriesAreForgottenAsTheirCallersSay) {
  start_and_run("a");
  MakeRequest patient = query("a", "patient");
  patient.expires_after = 1h;
  make(patient);
  make(query("a", "short"));
  advance(1min);
  sweep();
  EXPECT_EQ(refusal(look("a", RequestKind::kQuery, "short")), ErrorCode::kNotFound);
  reply(
      lock("a"),
      {answered(RequestKind::kQuery, "short", "1"), answered(RequestKind::kQuery, "patient", "2")});
  EXPECT_EQ(refusal(look("a", RequestKind::kQuery, "short")), ErrorCode::kNotFound);
  EXPECT_EQ(state("a", RequestKind::kQuery, "patient").reply, "2");
  advance(1h);
  sweep();
  EXPECT_EQ(refusal(look("a", RequestKind::kQuery, "patient")), ErrorCode::kNotFound);
}

TEST_P(RunRequests, AQueryWhoseTimeIsOverIsNotHandedOut) {
  start_and_run("a");
  MakeRequest patient = query("a", "patient");
  patient.expires_after = 1h;
  make(patient);
  make(query("a", "short"));
  EXPECT_EQ(texts(lock("a")), (Texts{"patient", "short"}));
  advance(1min);  // the lock is lost as well
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(texts(item), Texts{"patient"});
  reply(item, {answered(RequestKind::kQuery, "patient", "2")});
  EXPECT_FALSE(try_lock());
}

TEST_P(RunRequests, AQueryWhoseTimeIsOverIsNoReasonForATurn) {
  start_and_run("a");
  make(query("a", "q"));
  advance(1min);
  const auto fetched = store().fetch_orchestration_items(fetch_request(1));
  ASSERT_TRUE(fetched.ok()) << fetched;
  EXPECT_TRUE(fetched->items.empty());
  EXPECT_FALSE(fetched->next_at) << "a hot loop";
  make(query("a", "later"));
  EXPECT_EQ(texts(lock("a")), Texts{"later"});
}

TEST_P(RunRequests, QueriesToABlockedRunDoNotPileUp) {
  start_and_run("a");
  poke("a");
  abandon(lock("a"), 24h, Charge::kDeferral, BlockedReason::kNondeterminism);
  make(update("a", "stays"));
  for (int i = 0; i < 5; ++i) {
    for (const char* id : {"1", "2"}) make(query("a", id + std::to_string(i)));
    advance(1min);
    sweep();
  }
  const auto stats = store().get_stats("a");
  ASSERT_TRUE(stats.ok()) << stats;
  EXPECT_EQ(stats->queued_messages, 2) << "the event and the update";
}

TEST_P(RunRequests, AreForgottenLikeTheAnswersOfOtherCalls) {
  StartOrchestration request = start_request("a");
  request.request_id = "r";
  const OrchestrationStarted first = start(request);
  terminate("a");
  advance(kRepliesKeptFor - 1s);
  sweep();
  EXPECT_EQ(start(request).execution, first.execution);
  advance(1s);
  sweep();
  EXPECT_GT(start(request).execution, first.execution) << "a new call";
}

PERDURE_CONFORMANCE_SUITE(RunRequests);

}  // namespace perdure::conformance
