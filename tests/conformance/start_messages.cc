#include "tests/conformance/request_steps.h"

/// Signals, and what a start brings along.
namespace perdure::conformance {

class StartMessages : public RequestSteps {
 protected:
  static RaiseEvent signal(const std::string& id) {
    RaiseEvent request;
    request.id = id;
    request.name = "add";
    request.payload = "3";
    request.as_signal = true;
    return request;
  }

  EventDelivery send(RaiseEvent request) {
    auto answer = store().raise_event(std::move(request));
    if (!answer.ok()) throw std::runtime_error("raise: " + answer.error().message);
    return *answer;
  }

  StartOrchestration start_with_signal(const std::string& id) {
    StartOrchestration request = start_request(id);
    request.with = StartMessage{RequestKind::kSignal, "add", "3", {}};
    return request;
  }
  StartOrchestration start_with_update(const std::string& id, const std::string& update) {
    StartOrchestration request = start_request(id);
    request.with = StartMessage{RequestKind::kUpdate, "add", "3", update};
    return request;
  }
};

// --- Signals ------------------------------------------------------------------------------------

TEST_P(StartMessages, ASignalIsAMessageOfItsOwnKind) {
  start_and_run("a");
  EXPECT_EQ(send(signal("a")), EventDelivery::kDelivered);
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(kinds(item.messages), Kinds{MessageKind::kSignal});
  EXPECT_EQ(item.messages[0].name, "add");
  EXPECT_EQ(item.messages[0].payload, "3");
  EXPECT_EQ(item.messages[0].execution, ExecutionNo{0}) << "it belongs to the instance";
}

TEST_P(StartMessages, ASignalReachesLiveRunsOnlyAndIsNotBuffered) {
  EXPECT_EQ(send(signal("nobody")), EventDelivery::kNotFound);
  start("a");
  end("a", ExecutionStatus::kCompleted);
  EXPECT_EQ(send(signal("a")), EventDelivery::kEnded);
  RaiseEvent buffered = signal("nobody");
  buffered.buffer_for = 1h;
  EXPECT_EQ(refusal(store().raise_event(buffered)), ErrorCode::kInvalidArgument);
}

TEST_P(StartMessages, ASignalMayBeDelayed) {
  start_and_run("a");
  RaiseEvent later = signal("a");
  later.delay = 10s;
  EXPECT_EQ(send(later), EventDelivery::kDelivered);
  EXPECT_FALSE(try_lock());
  advance(10s);
  EXPECT_EQ(kinds(lock("a").messages), Kinds{MessageKind::kSignal});
}

TEST_P(StartMessages, ARepeatedSignalIsDeliveredOnce) {
  start_and_run("a");
  RaiseEvent once = signal("a");
  once.request_id = "r";
  EXPECT_EQ(send(once), EventDelivery::kDelivered);
  EXPECT_EQ(send(once), EventDelivery::kDelivered);
  EXPECT_EQ(lock("a").messages.size(), 1U);
  RaiseEvent event = once;
  event.as_signal = false;
  EXPECT_EQ(refusal(store().raise_event(event)), ErrorCode::kInvalidArgument)
      << "an event is another kind of call";
}

TEST_P(StartMessages, ASignalStaysForTheNextExecution) {
  start_and_run("a");
  poke("a");
  const OrchestrationItem item = lock("a");
  send(signal("a"));
  TurnCommit decided = turn(item);
  finish(decided, item, ExecutionStatus::kContinuedAsNew);
  commit(decided);
  EXPECT_EQ(kinds(lock("a").messages), (Kinds{MessageKind::kSignal, MessageKind::kStart}));
}

// --- With a start -------------------------------------------------------------------------------

TEST_P(StartMessages, ASignalComesBehindTheStart) {
  RaiseEvent early;
  early.id = "a";
  early.name = "early";
  early.buffer_for = 1h;
  EXPECT_EQ(send(early), EventDelivery::kBuffered);
  EXPECT_EQ(start(start_with_signal("a")).outcome, StartOutcome::kStarted);
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(kinds(item.messages),
            (Kinds{MessageKind::kStart, MessageKind::kEventRaised, MessageKind::kSignal}));
  EXPECT_EQ(item.messages[2].name, "add");
  EXPECT_EQ(item.messages[2].payload, "3");
}

TEST_P(StartMessages, AnUpdateComesBehindTheStartAndCanBeWaitedFor) {
  const OrchestrationStarted started = start(start_with_update("a", "u"));
  EXPECT_EQ(update_stage("a", "u"), RequestStage::kWaiting);
  EXPECT_EQ(state("a", RequestKind::kUpdate, "u").instance, started.instance);
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(kinds(item.messages), (Kinds{MessageKind::kStart, MessageKind::kUpdate}));
  EXPECT_EQ(item.messages[1].text, "u");
  EXPECT_EQ(make(update("a", "u")).stage, RequestStage::kWaiting) << "it is known";
  reply(item, {answered(RequestKind::kUpdate, "u", "1")});
  EXPECT_EQ(state("a", RequestKind::kUpdate, "u").reply, "1");
  EXPECT_FALSE(try_lock());
}

TEST_P(StartMessages, AnUpdateThatCameWithItsStartIsRefusedWithIt) {
  start(start_with_update("a", "u"));
  cancel("a");
  EXPECT_EQ(update_stage("a", "u"), RequestStage::kRefused);
}

TEST_P(StartMessages, ComeToTheRunThatIsThere) {
  start_and_run("a");
  StartOrchestration request = start_with_signal("a");
  request.on_conflict = OnConflict::kUseExisting;
  EXPECT_EQ(start(request).outcome, StartOutcome::kExisting);
  request = start_with_update("a", "u");
  request.on_conflict = OnConflict::kUseExisting;
  EXPECT_EQ(start(request).outcome, StartOutcome::kExisting);
  EXPECT_EQ(kinds(lock("a").messages), (Kinds{MessageKind::kSignal, MessageKind::kUpdate}));
}

TEST_P(StartMessages, AnUpdateThatTheRunKnowsIsNotMadeAgain) {
  StartOrchestration request = start_with_update("a", "u");
  request.on_conflict = OnConflict::kUseExisting;
  EXPECT_EQ(start(request).outcome, StartOutcome::kStarted);
  EXPECT_EQ(start(request).outcome, StartOutcome::kExisting);
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(kinds(item.messages), (Kinds{MessageKind::kStart, MessageKind::kUpdate}));
  reply(item, {answered(RequestKind::kUpdate, "u", "1")});
  EXPECT_EQ(start(request).outcome, StartOutcome::kExisting);
  EXPECT_EQ(state("a", RequestKind::kUpdate, "u").reply, "1");
  EXPECT_FALSE(try_lock());
}

TEST_P(StartMessages, AnUpdateOfAnotherNameIsRefusedWithItsStart) {
  start_and_run("a");
  make(update("a", "u"));
  end("a", ExecutionStatus::kCompleted);
  StartOrchestration request = start_with_update("a", "u");
  request.with->name = "remove";
  EXPECT_EQ(refusal(store().start_orchestration(request)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(info("a").current.execution, ExecutionNo{1}) << "nothing was started";
}

TEST_P(StartMessages, DoNotComeWhenTheStartIsRefused) {
  start_and_run("a");
  EXPECT_EQ(refusal(store().start_orchestration(start_with_update("a", "u"))),
            ErrorCode::kConflict);
  EXPECT_FALSE(try_lock());
  EXPECT_EQ(refusal(look("a", RequestKind::kUpdate, "u")), ErrorCode::kNotFound);
}

TEST_P(StartMessages, DoNotGoWithAStartThatMustWait) {
  for (StartOrchestration request : {start_with_signal("a"), start_with_update("a", "u")}) {
    request.on_conflict = OnConflict::kCancelExisting;
    EXPECT_EQ(refusal(store().start_orchestration(request)), ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(try_lock());
}

TEST_P(StartMessages, OfARepeatedCallComeOnce) {
  StartOrchestration request = start_with_signal("a");
  request.on_conflict = OnConflict::kUseExisting;
  request.request_id = "r";
  start(request);
  start(request);
  EXPECT_EQ(kinds(lock("a").messages), (Kinds{MessageKind::kStart, MessageKind::kSignal}));
}

TEST_P(StartMessages, DoNotHurryADelayedStart) {
  StartOrchestration request = start_with_update("a", "u");
  request.delay = 10s;
  start(request);
  EXPECT_FALSE(try_lock());
  advance(10s);
  EXPECT_EQ(kinds(lock("a").messages), (Kinds{MessageKind::kStart, MessageKind::kUpdate}));
}

PERDURE_CONFORMANCE_SUITE(StartMessages);

}  // namespace perdure::conformance
