#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// Signals that the code of a run does not take are refused at the call, as far as living processes
/// say what their code takes.
namespace perdure::conformance {

class SignalDeclarations : public Conformance {
 protected:
  /// A process whose code of kFlow takes these signals.
  Epoch declare(std::vector<std::string> signals, const std::string& version = kVersion) {
    RegisterProcess request;
    request.host = "declares";
    request.declared.push_back({kFlow, version, std::move(signals)});
    return store().register_process(std::move(request)).value();
  }

  EventDelivery send(const std::string& id, const std::string& name) {
    RaiseEvent request;
    request.id = id;
    request.name = name;
    request.payload = "1";
    request.as_signal = true;
    return store().raise_event(std::move(request)).value();
  }
};

TEST_P(SignalDeclarations, AreDeliveredAndOthersAreUnknown) {
  declare({"add"});
  start_and_run("a");
  EXPECT_EQ(send("a", "add"), EventDelivery::kDelivered);
  EXPECT_EQ(send("a", "subtract"), EventDelivery::kUnknown);
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(item.messages.size(), 1U) << "an unknown one is not stored";
  EXPECT_EQ(item.messages[0].name, "add");
}

TEST_P(SignalDeclarations, OfNoProcessRefuseNothing) {
  start_and_run("a");
  EXPECT_EQ(send("a", "add"), EventDelivery::kDelivered);
}

TEST_P(SignalDeclarations, OfOtherCodeRefuseNothing) {
  declare({"add"}, "2");
  start_and_run("a");
  EXPECT_EQ(send("a", "subtract"), EventDelivery::kDelivered) << "nobody serves version 1";
}

TEST_P(SignalDeclarations, OfAllLivingProcessesCount) {
  declare({"add"});
  const Epoch newer = declare({"add", "subtract"});
  start_and_run("a");
  EXPECT_EQ(send("a", "subtract"), EventDelivery::kDelivered);
  ASSERT_TRUE(store().release_process({newer}).ok());
  EXPECT_EQ(send("a", "subtract"), EventDelivery::kUnknown);
}

TEST_P(SignalDeclarations, OfAProcessThatWasTakenOverAreForgotten) {
  const Epoch dead = declare({"add"});
  start_and_run("a");
  TakeOverProcess take;
  take.epoch = dead;
  ASSERT_TRUE(store().take_over(take).ok());
  EXPECT_EQ(send("a", "subtract"), EventDelivery::kDelivered) << "no code is known any more";
}

TEST_P(SignalDeclarations, SayNothingOfARunThatHasHadNoTurn) {
  declare({"add"});
  start("a");
  EXPECT_EQ(send("a", "subtract"), EventDelivery::kDelivered) << "it may still get other code";
}

TEST_P(SignalDeclarations, SayNothingOfEventsAndOfEndedRuns) {
  declare({"add"});
  start_and_run("a");
  EXPECT_EQ(raise("a", "subtract"), EventDelivery::kDelivered);
  end("a", ExecutionStatus::kCompleted);
  EXPECT_EQ(send("a", "subtract"), EventDelivery::kEnded);
}

TEST_P(SignalDeclarations, ThatAreRefusedMayBeSentAgainUnderTheSameRequestId) {
  const Epoch older = declare({"add"});
  start_and_run("a");
  RaiseEvent request;
  request.id = "a";
  request.name = "subtract";
  request.as_signal = true;
  request.request_id = "once";
  EXPECT_EQ(*store().raise_event(request), EventDelivery::kUnknown);
  ASSERT_TRUE(store().release_process({older}).ok());
  EXPECT_EQ(*store().raise_event(request), EventDelivery::kDelivered);
}

PERDURE_CONFORMANCE_SUITE(SignalDeclarations);

}  // namespace perdure::conformance
