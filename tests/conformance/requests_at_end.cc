#include "tests/conformance/request_steps.h"

/// What becomes of requests when their run ends, continues as new, or is deleted.
namespace perdure::conformance {

namespace {

/// A way in which a run ends that has had a turn.
enum class Way : std::uint8_t { kCompleted, kFailed, kCanceled, kTerminated };

}  // namespace

class RequestsAtEnd : public RequestSteps {
 protected:
  /// Answers the status.
  ExecutionStatus end_by(Way way, const std::string& id) {
    switch (way) {
      case Way::kCompleted:
        end(id, ExecutionStatus::kCompleted);
        break;
      case Way::kFailed:
        end(id, ExecutionStatus::kFailed);
        break;
      case Way::kCanceled:
        cancel(id);
        end(id, ExecutionStatus::kCanceled);
        break;
      case Way::kTerminated:
        terminate(id);
        break;
    }
    return status(id);
  }

  void expect_ended(const std::string& id,
                    const std::string& request,
                    RequestStage stage,
                    const std::string& how) {
    const RequestState found = state(id, RequestKind::kUpdate, request);
    EXPECT_EQ(found.stage, stage) << request;
    EXPECT_EQ(found.failure.type, kRunEndedFailure);
    EXPECT_FALSE(found.failure.retryable);
    for (const std::string& part : {"'" + id + "'", how}) {
      EXPECT_NE(found.failure.message.find(part), std::string::npos) << found.failure.message;
    }
  }

  /// Locks the run and lets it continue as new, with these messages kept.
  void continue_as_new(const OrchestrationItem& item, std::vector<MessageId> kept = {}) {
    TurnCommit decided = turn(item);
    finish(decided, item, ExecutionStatus::kContinuedAsNew);
    decided.kept_messages = std::move(kept);
    commit(std::move(decided));
  }
};

TEST_P(RequestsAtEnd, UpdatesAreAnsweredWhateverTheEnd) {
  int count = 0;
  for (const Way way : {Way::kCompleted, Way::kFailed, Way::kCanceled, Way::kTerminated}) {
    const std::string id = "run " + std::to_string(++count);
    start_with_updates(id);
    const Interest interest = run_of(id);
    const std::string how(to_string(end_by(way, id)));
    SCOPED_TRACE(how);
    EXPECT_EQ(wait(interest), Wake::Reason::kChanged);
    expect_ended(id, "taken", RequestStage::kCut, how);
    expect_ended(id, "waiting", RequestStage::kRefused, how);
  }
}

TEST_P(RequestsAtEnd, UpdatesAreAnsweredByACancelBeforeTheFirstTurn) {
  start("a");
  make(update("a", "u"));
  cancel("a");
  ASSERT_EQ(status("a"), ExecutionStatus::kCanceled);
  expect_ended("a", "u", RequestStage::kRefused, "canceled");
}

TEST_P(RequestsAtEnd, UpdatesOfDescendantsAreAnswered) {
  start("root");
  start_child_of("root", "child");
  make(update("child", "u"));
  terminate("root");
  expect_ended("child", "u", RequestStage::kRefused, "terminated");
}

TEST_P(RequestsAtEnd, UpdatesDoNotGoToTheRunThatIsStoredToFollow) {
  start_with_updates("a");
  StartOrchestration next = start_request("a");
  next.on_conflict = OnConflict::kCancelExisting;
  start(next);
  end("a", ExecutionStatus::kCanceled);
  ASSERT_EQ(info("a").current.execution, ExecutionNo{2});
  expect_ended("a", "taken", RequestStage::kCut, "canceled");
  expect_ended("a", "waiting", RequestStage::kRefused, "canceled");
  EXPECT_EQ(kinds(lock("a").messages), Kinds{MessageKind::kStart});
}

TEST_P(RequestsAtEnd, TheRepliesOfTheLastTurnCount) {
  start_with_updates("a");
  const OrchestrationItem item = lock("a");
  TurnCommit last = turn(item);
  last.replies = {answered(RequestKind::kUpdate, "taken", "1"),
                  not_answered(RequestKind::kUpdate, "waiting", RequestStage::kRefused)};
  finish(last, item, ExecutionStatus::kCompleted);
  commit(last);
  EXPECT_EQ(state("a", RequestKind::kUpdate, "taken").reply, "1");
  EXPECT_EQ(state("a", RequestKind::kUpdate, "waiting").failure.type, "no");
}

TEST_P(RequestsAtEnd, OthersAreNotAnswered) {
  start_with_updates("a");
  commit(turn(lock("a")));
  start_with_updates("b");
  terminate("a");
  EXPECT_EQ(update_stage("b", "taken"), RequestStage::kAccepted);
  EXPECT_EQ(update_stage("b", "waiting"), RequestStage::kWaiting);
}

TEST_P(RequestsAtEnd, QueriesWaitForAReplay) {
  int count = 0;
  for (const Way way : {Way::kCompleted, Way::kFailed, Way::kCanceled, Way::kTerminated}) {
    const std::string id = "run " + std::to_string(++count);
    start_and_run(id);
    make(query(id, "q"));
    const ExecutionStatus how = end_by(way, id);
    SCOPED_TRACE(to_string(how));
    EXPECT_EQ(query_stage(id, "q"), RequestStage::kWaiting);
    const OrchestrationItem item = lock(id);
    EXPECT_EQ(item.status, how);
    ASSERT_EQ(kinds(item.messages), Kinds{MessageKind::kQuery});
    EXPECT_EQ(item.messages[0].text, "q");
    reply(item, {answered(RequestKind::kQuery, "q", "1")});
    EXPECT_EQ(query_stage(id, "q"), RequestStage::kAnswered);
    EXPECT_FALSE(try_lock());
  }
}

TEST_P(RequestsAtEnd, QueriesThatWaitForAReplayWakeWhoRunsTurns) {
  start_and_run("a");
  make(query("a", "q"));
  commit(turn(lock("a")));
  const Interest interest = instances_of(kQueue);
  terminate("a");
  EXPECT_EQ(wait(interest), Wake::Reason::kChanged);
}

// --- Continue-as-new ----------------------------------------------------------------------------

TEST_P(RequestsAtEnd, TheNextExecutionGetsWhatNoTurnTook) {
  start_with_updates("a");
  commit(turn(lock("a")));
  poke("a");
  const OrchestrationItem item = lock("a");
  make(query("a", "q"));
  make(update("a", "late"));
  continue_as_new(item);

  expect_ended("a", "taken", RequestStage::kCut, "continued as new");
  EXPECT_EQ(update_stage("a", "late"), RequestStage::kWaiting);
  EXPECT_EQ(query_stage("a", "q"), RequestStage::kWaiting);
  const OrchestrationItem next = lock("a");
  EXPECT_EQ(next.execution, ExecutionNo{2});
  EXPECT_EQ(
      kinds(next.messages),
      (Kinds{
          MessageKind::kQuery, MessageKind::kUpdate, MessageKind::kUpdate, MessageKind::kStart}));
  EXPECT_EQ(texts(next), (Texts{"q", "late", "waiting", ""})) << "also what a turn said nothing to";
  reply(next,
        {answered(RequestKind::kQuery, "q", "1"), answered(RequestKind::kUpdate, "late", "2")});
  EXPECT_EQ(state("a", RequestKind::kQuery, "q").reply, "1");
  EXPECT_EQ(state("a", RequestKind::kUpdate, "late").reply, "2");
}

TEST_P(RequestsAtEnd, TheNextExecutionGetsWhatTheTurnKept) {
  start_and_run("a");
  make(update("a", "one"));
  raise("a", "gone");
  raise("a", "kept");
  make(query("a", "two"));
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(item.messages.size(), 4U);
  continue_as_new(item, {item.messages[0].id, item.messages[2].id, item.messages[3].id});

  const OrchestrationItem next = lock("a");

  ASSERT_EQ(next.messages.size(), 4U);
  EXPECT_EQ(next.messages[0], item.messages[0]) << "once, not sent again";
  EXPECT_EQ(next.messages[1], item.messages[2]);
  EXPECT_EQ(next.messages[2], item.messages[3]);
  EXPECT_EQ(next.messages[3].kind, MessageKind::kStart);
  commit(turn(next));
  EXPECT_FALSE(try_lock()) << "this turn has looked at them";
}

TEST_P(RequestsAtEnd, TheNextExecutionGetsUpdatesThatTheTurnSaidNothingTo) {
  start_and_run("a");
  for (const char* id : {"b", "a", "refused"}) {
    make(update("a", id));
    advance(1s);
  }
  const OrchestrationItem item = lock("a");
  TurnCommit decided = turn(item);
  decided.replies = {not_answered(RequestKind::kUpdate, "refused", RequestStage::kRefused)};
  finish(decided, item, ExecutionStatus::kContinuedAsNew);
  commit(decided);

  const OrchestrationItem next = lock("a");

  EXPECT_EQ(texts(next), (Texts{"b", "a", ""})) << "in the order in which they were made";
  EXPECT_EQ(next.messages[0].name, item.messages[0].name);
  EXPECT_EQ(next.messages[0].payload, item.messages[0].payload);
  EXPECT_EQ(update_stage("a", "a"), RequestStage::kWaiting);
}

TEST_P(RequestsAtEnd, HeldUpdatesOfOneGroupKeepTheirOrder) {
  start_and_run("a");
  for (const char* id : {"c", "a", "b"}) make(update("a", id));  // at one time
  for (int life = 0; life < 2; ++life) {
    const OrchestrationItem item = lock("a");
    EXPECT_EQ(item.messages.at(0).text, "c");
    EXPECT_EQ(item.messages.at(1).text, "a");
    EXPECT_EQ(item.messages.at(2).text, "b");
    TurnCommit decided = turn(item);
    finish(decided, item, ExecutionStatus::kContinuedAsNew);
    commit(decided);
  }
  EXPECT_EQ(texts(lock("a")), (Texts{"c", "a", "b", ""}));
}

TEST_P(RequestsAtEnd, MessagesAreKeptOnlyForANextExecution) {
  start_and_run("a");
  make(update("a", "u"));
  const OrchestrationItem item = lock("a");
  TurnCommit decided = turn(item);
  decided.kept_messages = {item.messages[0].id};
  EXPECT_EQ(refusal(try_commit(decided)), ErrorCode::kInvalidArgument);
  finish(decided, item, ExecutionStatus::kCompleted);
  EXPECT_EQ(refusal(try_commit(decided)), ErrorCode::kInvalidArgument);
  commit(turn(item));
}

TEST_P(RequestsAtEnd, MessagesOfOthersCannotBeKept) {
  start_and_run("a");
  start_and_run("b");
  poke("a");
  const OrchestrationItem a = lock("a");
  poke("b");
  const OrchestrationItem b = lock("b");
  continue_as_new(a, {b.messages[0].id, MessageId{999'999}});
  commit(turn(b));
  EXPECT_EQ(kinds(lock("a").messages), Kinds{MessageKind::kStart});
  EXPECT_FALSE(try_lock()) << "b has looked at its message";
}

TEST_P(RequestsAtEnd, AQueryThatSurvivedLivesIsAnsweredByTheLastOne) {
  start_and_run("a");
  poke("a");
  const OrchestrationItem item = lock("a");
  make(query("a", "q"));
  continue_as_new(item);
  terminate("a");
  const OrchestrationItem ended = lock("a");
  EXPECT_EQ(ended.status, ExecutionStatus::kTerminated);
  EXPECT_EQ(ended.execution, ExecutionNo{2});
}

// --- Deletes ------------------------------------------------------------------------------------

TEST_P(RequestsAtEnd, OpenRequestsGoWithTheirInstance) {
  start("ended");
  end("ended", ExecutionStatus::kCompleted);
  start_with_updates("a");
  make(query("a", "q"));
  make(query("ended", "q"));
  for (const char* id : {"a", "ended"}) {
    const InstanceKey key = info(id).key;
    const Interest interest = run_of(id);
    ASSERT_TRUE(store().delete_instance({.id = id, .force = true}).ok());
    EXPECT_EQ(wait(interest), Wake::Reason::kChanged);
    for (const char* request : {"taken", "waiting"}) {
      EXPECT_EQ(refusal(store().get_request({key, RequestKind::kUpdate, request})),
                ErrorCode::kNotFound);
    }
    EXPECT_EQ(refusal(store().get_request({key, RequestKind::kQuery, "q"})), ErrorCode::kNotFound);
  }
  EXPECT_FALSE(try_lock());
}

TEST_P(RequestsAtEnd, ADeletedInstanceLeavesItsIdsOfRequestsFree) {
  start_with_updates("a");
  terminate("a");
  ASSERT_TRUE(store().delete_instance({.id = "a"}).ok());
  start_and_run("a");
  EXPECT_EQ(make(update("a", "waiting")).stage, RequestStage::kWaiting);
  EXPECT_EQ(texts(lock("a")), Texts{"waiting"});
}

PERDURE_CONFORMANCE_SUITE(RequestsAtEnd);

}  // namespace perdure::conformance
