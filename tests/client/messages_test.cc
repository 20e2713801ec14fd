#include <set>

#include "tests/client/messages_fixture.h"

/// Signals and updates of a client to runs that a runtime of this process serves.
namespace perdure::test::messages_test {

namespace {

using namespace messages;

using Messages = Served<ClientTest>;

TEST_P(Messages, AnUpdateGivesItsResultToItsCaller) {
  serve();
  begun("a", 100);
  EXPECT_EQ(client_.update("a", add, 5), 105);
  EXPECT_EQ(client_.update("a", order, 10), 125) << "by a call of an activity";
  client_.update("a", clear);
  EXPECT_EQ(client_.update("a", add, 7), 7);
  close("a", "done");
  EXPECT_EQ(client_.find<int>("a").wait(kPatience), 7);
  EXPECT_EQ(count("a", "update_accepted"), 4);
  EXPECT_EQ(count("a", "update_completed"), 4);
}

TEST_P(Messages, SignalsAreTakenInTheirOrder) {
  serve();
  client_.start(till, "a", 0);
  std::vector<int> sent{0};
  for (int i = 1; i <= 100; ++i) {
    client_.signal("a", put, i);
    sent.push_back(i);
  }
  EXPECT_EQ(client_.query("a", taken), sent);
  EXPECT_EQ(count("a", "signal_received"), 100);
}

TEST_P(Messages, SignalsWaitForARuntime) {
  client_.start(till, "a", 1);
  for (int i = 2; i <= 4; ++i) client_.signal("a", put, i);
  close("a", "done");
  serve();
  EXPECT_EQ(client_.find<int>("a").wait(kPatience), 10);
}

TEST_P(Messages, ADelayedSignalWaitsForItsTime) {
  serve();
  begun("a");
  client_.signal("a", put, 1, {.delay = 1h});
  client_.signal("a", put, 2);
  EXPECT_EQ(client_.query("a", taken), (std::vector<int>{0, 2}));
}

TEST_P(Messages, ASignalWithARequestIdIsOne) {
  serve();
  begun("a");
  for (int i = 0; i < 3; ++i) client_.signal("a", put, 5, {.request_id = "once"});
  client_.signal("a", put, 6, {.request_id = "another"});
  EXPECT_EQ(client_.query("a", taken), (std::vector<int>{0, 5, 6}));
}

TEST_P(Messages, AnUpdateWithAnIdIsOneWhoeverSendsItAgain) {
  serve();
  begun("a");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client_.update("a", add, 5, {.update_id = "once"}), 5);
  EXPECT_EQ(client_.update("a", add, 9, {.update_id = "once"}), 5) << "that of the first";
  std::vector<std::future<int>> sending;
  for (int i = 0; i < 16; ++i) {
    sending.push_back(std::async(std::launch::async, [client = client_, i] {
      return client.update(
          "a", order, 10, {.update_id = "u" + std::to_string(i % 4), .timeout = kPatience});
    }));
  }
  std::vector<std::set<int>> results(4);
  for (std::size_t i = 0; i < sending.size(); ++i) results[i % 4].insert(sending[i].get());
  for (const std::set<int>& same : results) EXPECT_EQ(same.size(), 1U);
  EXPECT_EQ(client_.query("a", total), 85);
  EXPECT_EQ(count("a", "update_accepted"), 5);
}

TEST_P(Messages, AnUpdateWithAnIdIsKnownAfterTheEndOfItsRun) {
  serve();
  begun("a");
  EXPECT_EQ(client_.update("a", add, 5, {.update_id = "once"}), 5);
  close("a", "done");
  client_.wait("a", kPatience);
  EXPECT_EQ(client_.update("a", add, 5, {.update_id = "once"}), 5);
  EXPECT_EQ(client_.find_update<int>("a", "once").wait(0ms), 5);
}

TEST_P(Messages, AnUpdateWithAnIdIsKnownToTheNextExecutionsOfItsRun) {
  serve();
  begun("a", 1);
  EXPECT_EQ(client_.update("a", add, 5, {.update_id = "once"}), 6);
  close("a", "again");
  wait_until([&] { return client_.status("a").execution == 2; }, "the next execution");
  EXPECT_EQ(client_.update("a", add, 5, {.update_id = "once"}), 6) << "as the first time";
  EXPECT_EQ(client_.query("a", total), 6);
}

TEST_P(Messages, TheIdOfAnUpdateBelongsToItsName) {
  serve();
  begun("a");
  client_.update("a", add, 5, {.update_id = "mine"});
  const std::string message =
      message_of<InvalidArgument>([&] { client_.update("a", order, 5, {.update_id = "mine"}); });
  EXPECT_TRUE(contains(message, "'mine'")) << message;
  begun("b");
  EXPECT_EQ(client_.update("b", order, 5, {.update_id = "mine"}), 10) << "of another run";
}

TEST_P(Messages, AStartedUpdateIsAcceptedAndWaitedForLater) {
  serve();
  begun("a");
  const UpdateHandle<int> handle = client_.start_update("a", ponder, 5, {.update_id = "u"});
  EXPECT_EQ(handle.run_id(), "a");
  EXPECT_EQ(handle.update_id(), "u");
  EXPECT_EQ(count("a", "update_accepted"), 1);
  EXPECT_EQ(count("a", "update_completed"), 0);
  const std::string message = message_of<Unavailable>([&] { handle.wait(0ms); });
  EXPECT_EQ(message,
            "update 'u' of run 'a' was not done within 0 ms. It goes on; wait for it by its id, or "
            "send it again under the same id");
  EXPECT_EQ(client_.update("a", add, 1), 1) << "beside it";
  auto waiting = std::async(std::launch::async, [handle] { return handle.wait(kPatience); });
  client_.signal("a", release);
  EXPECT_EQ(waiting.get(), 6);
  EXPECT_EQ(handle.wait(0ms), 6) << "as often as one likes";
}

TEST_P(Messages, AStartedUpdateMayBeDoneAtOnce) {
  serve();
  begun("a");
  EXPECT_EQ(client_.start_update("a", add, 5).wait(0ms), 5);
  client_.start_update("a", clear).wait(kPatience);
  EXPECT_EQ(client_.query("a", total), 0);
}

TEST_P(Messages, AStartedUpdateThatFailsIsAcceptedAllTheSame) {
  serve();
  begun("a");
  const auto handle = client_.start_update("a", spoil, 5);
  EXPECT_EQ(failure_of<UpdateFailed>([&] { handle.wait(kPatience); }), "no_change");
}

TEST_P(Messages, AnUpdateIsFoundByItsId) {
  serve();
  begun("a");
  client_.start_update("a", ponder, 5, {.update_id = "u"});
  const Client other(store_);
  EXPECT_THROW(other.find_update<int>("a", "u").wait(0ms), Unavailable);
  EXPECT_THROW(other.find_update<int>("a", "v").wait(kPatience), NotFound);
  EXPECT_THROW(other.find_update<int>("b", "u").wait(kPatience), NotFound);
  client_.signal("a", release);
  EXPECT_EQ(other.find_update<int>("a", "u").wait(kPatience), 5);
}

TEST_P(Messages, AnUpdateThatNobodyServesTimesOutAndGoesOn) {
  client_.start(till, "a", 0);
  const std::string message = message_of<Unavailable>(
      [&] { client_.update("a", add, 5, {.update_id = "mine", .timeout = 30ms}); });
  EXPECT_EQ(message,
            "update 'mine' of run 'a' was not taken within 30 ms: is there a worker that serves "
            "the run? It goes on; wait for it by its id, or send it again under the same id");
  const std::string made =
      message_of<Unavailable>([&] { client_.start_update("a", add, 7, {.timeout = 1ms}); });
  EXPECT_TRUE(contains(made, "update 'auto-")) << made;
  serve();
  EXPECT_EQ(client_.find_update<int>("a", "mine").wait(kPatience), 5);
  EXPECT_EQ(client_.update("a", add, 5, {.update_id = "mine"}), 5);
  EXPECT_EQ(client_.query("a", total), 12) << "each once";
}

TEST_P(Messages, SignalWithStartStartsOnceAndDelivers) {
  serve();
  EXPECT_EQ(client_.signal_with_start(till, "a", 100, put, 1).execution(), 1);
  EXPECT_EQ(client_.query("a", taken), (std::vector<int>{100, 1}));
  EXPECT_EQ(history("a").at(1).kind, "signal_received") << "before main";
  EXPECT_EQ(client_.signal_with_start(till, "a", 900, put, 2).execution(), 1);
  EXPECT_EQ(client_.query("a", taken), (std::vector<int>{100, 1, 2}));
  EXPECT_EQ(client_.list().runs.size(), 1U);
}

TEST_P(Messages, SignalWithStartOfManyAtOnceStartsOneRunThatGetsAll) {
  serve();
  std::vector<std::future<std::int64_t>> starting;
  for (int i = 0; i < 16; ++i) {
    starting.push_back(std::async(std::launch::async, [client = client_] {
      return client.signal_with_start(till, "a", 100, put, 1).execution();
    }));
  }
  for (auto& each : starting) EXPECT_EQ(each.get(), 1);
  EXPECT_EQ(client_.query("a", total), 116);
}

TEST_P(Messages, SignalWithStartIsOneCommitThatCanBeRepeated) {
  const StartOptions same{.on_conflict = OnConflict::kUseExisting, .request_id = "r"};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client_.signal_with_start(till, "a", 100, put, 1, same).execution(), 1);
  }
  serve();
  EXPECT_EQ(client_.query("a", taken), (std::vector<int>{100, 1}));
}

TEST_P(Messages, SignalWithStartOfAnEndedRunBeginsTheNext) {
  serve();
  begun("a", 1);
  close("a", "done");
  client_.wait("a", kPatience);
  EXPECT_EQ(client_.signal_with_start(till, "a", 10, put, 1).execution(), 2);
  EXPECT_EQ(client_.query("a", total), 11);
}

TEST_P(Messages, SignalWithStartMayRefuseARunThatIsThere) {
  client_.start(till, "a", 0);
  EXPECT_THROW(client_.signal_with_start(till, "a", 0, put, 1, {.on_conflict = OnConflict::kFail}),
               Conflict);
  EXPECT_THROW(
      client_.signal_with_start(till, "a", 0, put, 1, {.on_conflict = OnConflict::kCancelExisting}),
      InvalidArgument);
  serve();
  EXPECT_EQ(client_.query("a", taken), (std::vector<int>{0})) << "nothing was sent";
}

TEST_P(Messages, SignalWithStartWithoutPayloadOrInput) {
  serve();
  client_.signal_with_start(till, "a", 100, release);
  EXPECT_EQ(client_.query("a", total), 100);
  const auto run = client_.signal_with_start(bell, "b", put, 5);
  const StartOptions existing{.on_conflict = OnConflict::kUseExisting};
  EXPECT_EQ(client_.signal_with_start(bell, "b", release, existing).execution(), 1);
  EXPECT_EQ(run.wait(kPatience), 5);
  EXPECT_EQ(client_.signal_with_start(bell, "c", release).wait(kPatience), 0);
}

TEST_P(Messages, UpdateWithStartWithoutInput) {
  serve();
  client_.update_with_start(till, "a", 100, clear, {.update_id = "u"}).wait(kPatience);
  EXPECT_EQ(count("a", "update_completed"), 1);
  EXPECT_EQ(client_.update_with_start(bell, "b", add, 3).wait(kPatience), 3);
  client_.update_with_start(bell, "b", clear).wait(kPatience);
  EXPECT_EQ(client_.update_with_start(bell, "b", add, 4).wait(kPatience), 4);
}

TEST_P(Messages, UpdateWithStartStartsOnceAndGivesItsResult) {
  serve();
  const auto first = client_.update_with_start(till, "a", 100, add, 1, {.update_id = "u"});
  EXPECT_EQ(first.run_id(), "a");
  EXPECT_EQ(first.wait(kPatience), 1) << "before main, which brings the hundred";
  const auto again = client_.update_with_start(till, "a", 900, add, 1, {.update_id = "u"});
  EXPECT_EQ(again.wait(kPatience), 1);
  EXPECT_EQ(client_.update_with_start(till, "a", 900, add, 2).wait(kPatience), 103);
  EXPECT_EQ(client_.status("a").execution, 1);
}

TEST_P(Messages, UpdateWithStartIsRefusedByItsValidatorAndTheRunStays) {
  serve();
  EXPECT_EQ(failure_of<UpdateRejected>([&] { client_.update_with_start(till, "a", 100, add, -1); }),
            "negative");
  EXPECT_EQ(client_.query("a", total), 100);
  EXPECT_EQ(count("a", "update_accepted"), 0);
}

TEST_P(Messages, UpdateWithStartThatIsKnownBeginsNoSecondRun) {
  serve();
  client_.update_with_start(till, "a", 100, add, 1, {.update_id = "u"});
  close("a", "done");
  client_.wait("a", kPatience);
  // The same call, by somebody who does not know how the first went.
  const auto again = client_.update_with_start(till, "a", 100, add, 1, {.update_id = "u"});
  EXPECT_EQ(again.wait(kPatience), 1);
  EXPECT_EQ(client_.status("a").execution, 1);
}

TEST_P(Messages, OfOneTurnAreAllHandledBeforeTheRunContinuesAsNew) {
  serve();
  begun("a", 100);
  stop_serving();
  // All in one turn: main would end by the first.
  close("a", "again");
  client_.signal("a", put, 5);
  send_only("a", add, 7, "u");
  client_.signal("a", put, 9);
  serve();
  EXPECT_EQ(client_.find_update<int>("a", "u").wait(kPatience), 112)
      << "handled before main";
  EXPECT_EQ(client_.query("a", taken), (std::vector<int>{121}));
  EXPECT_EQ(client_.status("a").execution, 2);
  EXPECT_EQ(count("a", "update_accepted", 1), 1);
}

TEST_P(Messages, AMessageThatComesWhileHandlersEndIsForTheNextExecution) {
  serve();
  begun("a", 100);
  const auto running = client_.start_update("a", linger, 1);
  close("a", "again");
  wait_for_status("a", ExecutionStatus::kCompleting);
  client_.signal("a", put, 5);
  send_only("a", add, 7, "late");
  EXPECT_EQ(client_.query("a", total), 100) << "queries are answered meanwhile";
  client_.raise_event("a", go);
  EXPECT_EQ(running.wait(kPatience), 101);
  EXPECT_EQ(client_.find_update<int>("a", "late").wait(5s), 12);
  EXPECT_EQ(client_.query("a", taken), (std::vector<int>{100, 5, 7}));
  EXPECT_EQ(client_.status("a").execution, 2);
}

TEST_P(Messages, TheEndOfARunIsToldToThoseWhoWaitForIt) {
  serve();
  begun("a");
  const auto accepted = client_.start_update("a", ponder, 1);
  auto waiting = std::async(std::launch::async, [accepted] {
    return message_of<RunEnded>([&] { accepted.wait(kPatience); });
  });
  client_.terminate("a", "enough");
  EXPECT_EQ(waiting.get(), "run 'a' ended as terminated before the update was done");

  stop_serving();
  client_.start(till, "b", 0);
  send_only("b", add, 1, "u");
  client_.terminate("b", "enough");
  EXPECT_EQ(message_of<RunEnded>([&] { client_.find_update<int>("b", "u").wait(kPatience); }),
            "run 'b' ended as terminated before the update was taken");
}

TEST_P(Messages, TheRemovalOfARunIsToldToThoseWhoWaitForIt) {
  serve();
  begun("a");
  const auto accepted = client_.start_update("a", ponder, 1);
  auto waiting = std::async(std::launch::async, [accepted] { return accepted.wait(kPatience); });
  client_.remove("a", {.force = true});
  EXPECT_THROW(waiting.get(), NotFound);
}

PERDURE_CLIENT_SUITE(Messages);

}  // namespace

}  // namespace perdure::test::messages_test
