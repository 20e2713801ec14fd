#include <limits>

#include "tests/client/messages_fixture.h"

/// Messages that cannot be: what their senders are told, and that runs are unharmed.
namespace perdure::test::messages_errors_test {

namespace {

using namespace messages;

class MessageErrors : public Served<ClientTest> {
 protected:
  /// Nothing has come of what was sent.
  void expect_unharmed(const std::string& id, const std::vector<int>& has) {
    EXPECT_EQ(client_.query(id, taken), has);
    const int sum = client_.update(id, add, 1000);
    EXPECT_EQ(client_.query(id, total), sum);
    const RunStatus status = client_.status(id);
    EXPECT_EQ(status.status, ExecutionStatus::kRunning);
    EXPECT_EQ(status.blocked, "");
  }
  void wait_for_warning(const std::string& text) {
    wait_until([&] { return log_.count(log::Level::kWarning, text) > 0; }, "a warning: " + text);
    EXPECT_EQ(log_.count(log::Level::kWarning, text), 1);
  }
};

TEST_P(MessageErrors, OfAnUnknownRun) {
  serve();
  const std::string message = message_of<NotFound>([&] { client_.signal("nobody", put, 1); });
  EXPECT_EQ(message, "there is no run 'nobody'; signal_with_start starts one with it");
  EXPECT_THROW(client_.signal("nobody", release), NotFound);
  EXPECT_THROW(client_.update("nobody", add, 1), NotFound);
  EXPECT_THROW(client_.update("nobody", clear), NotFound);
  EXPECT_THROW(client_.start_update("nobody", add, 1), NotFound);
  EXPECT_THROW(client_.query("nobody", total), NotFound);
  EXPECT_THROW(client_.query("nobody", total_and, 1), NotFound);
  EXPECT_THROW(client_.find_update<int>("nobody", "u").wait(kPatience), NotFound);
  EXPECT_TRUE(
      contains(message_of<NotFound>([&] { client_.update("nobody", add, 1); }), "'nobody'"));
}

TEST_P(MessageErrors, OfARunThatHasEnded) {
  serve();
  begun("done");
  close("done", "done");
  begun("failed");
  close("failed", "fail");
  begun("canceled");
  client_.cancel("canceled", "why");
  begun("terminated");
  client_.terminate("terminated", "why");
  for (const char* id : {"done", "failed", "canceled", "terminated"}) {
    client_.wait(id, kPatience);
    EXPECT_EQ(message_of<RunEnded>([&] { client_.signal(id, put, 1); }),
              "run '" + std::string(id) + "' has ended: it takes no signals");
    EXPECT_TRUE(contains(message_of<RunEnded>([&] { client_.update(id, add, 1); }),
                         "run '" + std::string(id) + "' has ended"));
    EXPECT_THROW(client_.start_update(id, add, 1), RunEnded);
    EXPECT_THROW(client_.update(id, clear), Conflict) << "who does not care which";
  }
}

TEST_P(MessageErrors, OfAnUpdateThatTheCodeDoesNotHave) {
  serve();
  begun("a", 5);
  const std::string message =
      message_of<UnknownHandler>([&] { client_.update("a", no_update, 1); });
  EXPECT_EQ(message,
            "the run has no update 'no_update'; it has 'add', 'clear', 'linger', 'order', "
            "'ponder', 'spoil'");
  EXPECT_THROW(client_.start_update("a", no_update, 1), UnknownHandler);
  client_.start(greeter, "g");
  EXPECT_EQ(message_of<UnknownHandler>([&] { client_.update("g", add, 1); }),
            "the run has no update 'add'; it has none");
  expect_unharmed("a", {5});
  EXPECT_EQ(count("a", "update_accepted"), 1);
}

TEST_P(MessageErrors, OfAQueryThatTheCodeDoesNotHave) {
  serve();
  begun("a", 5);
  EXPECT_EQ(message_of<UnknownHandler>([&] { client_.query("a", no_query); }),
            "the run has no query 'no_query'; it has 'sick', 'taken', 'total', 'total_and'");
  expect_unharmed("a", {5});
  close("a", "done");
  client_.wait("a", kPatience);
  EXPECT_THROW(client_.query("a", no_query), UnknownHandler);
}

TEST_P(MessageErrors, OfASignalThatTheCodeDoesNotHave) {
  serve();
  begun("a", 5);
  const auto before = history("a");
  EXPECT_EQ(message_of<UnknownHandler>([&] { client_.signal("a", no_signal, 1); }),
            "run 'a' takes no signal 'no_signal': no worker that serves it declares one");
  EXPECT_THROW(client_.signal("a", no_signal, 1, {.request_id = "r"}), UnknownHandler);
  EXPECT_THROW(client_.signal("a", no_signal, 1, {.request_id = "r"}), UnknownHandler);
  EXPECT_EQ(history("a"), before);
  expect_unharmed("a", {5});
}

TEST_P(MessageErrors, OfASignalWithStartThatTheCodeDoesNotHave) {
  serve();
  begun("a", 5);
  const auto before = history("a");
  const StartOptions same{.on_conflict = OnConflict::kUseExisting, .request_id = "r"};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(message_of<UnknownHandler>(
                  [&] { client_.signal_with_start(till, "a", 1, no_signal, 1, same); }),
              "run 'a' takes no signal 'no_signal': no worker that serves it declares one");
  }
  EXPECT_EQ(history("a"), before);
  expect_unharmed("a", {5});
}

TEST_P(MessageErrors, AnInputForAHandlerThatTakesNone) {
  serve();
  begun("a", 5);
  EXPECT_TRUE(contains(message_of<InvalidArgument>([&] { client_.update("a", clear_with, 5); }),
                       "the input of update 'clear'"));
  EXPECT_TRUE(contains(message_of<InvalidArgument>([&] { client_.query("a", total_with, 5); }),
                       "the input of query 'total'"));
  EXPECT_EQ(count("a", "update_accepted"), 0);
  expect_unharmed("a", {5});
}

TEST_P(MessageErrors, AHandlersOwnFailureIsNotTakenForTheEngines) {
  Registry registry;
  registry.add(till, run_till)
      .update(spoil, [](Till&, int) -> int { throw Failed("run_ended", "mine", false); })
      .update(
          add,
          [](Till&, int amount) { return amount; },
          [](const Till&, const int& amount) {
            const char* const types[] = {"run_ended", "unknown_handler", "bad_input"};
            throw Failed(types[amount], "mine", false);
          })
      .query(sick, [](const Till&) -> int { throw Failed("bad_input", "mine", false); })
      .query(total, [](const Till&) -> int { throw Failed("run_ended", "mine", false); });
  serve(registry);
  client_.start(till, "a", 5);
  EXPECT_EQ(failure_of<UpdateFailed>([&] { client_.update("a", spoil, 1); }), "run_ended");
  EXPECT_EQ(failure_of<UpdateRejected>([&] { client_.update("a", add, 0); }), "run_ended");
  EXPECT_EQ(failure_of<UpdateRejected>([&] { client_.update("a", add, 1); }), "unknown_handler");
  EXPECT_EQ(failure_of<UpdateRejected>([&] { client_.update("a", add, 2); }), "bad_input");
  EXPECT_EQ(failure_of<QueryFailed>([&] { client_.query("a", sick); }), "bad_input");
  EXPECT_EQ(failure_of<QueryFailed>([&] { client_.query("a", total); }), "run_ended");
}

/// Code that has a handler for what the older did not know.
Registry newer_code() {
  Registry newer;
  newer.add(till, run_till)
      .signal(no_signal, [](Till& state, int amount) { state.taken.push_back(10 * amount); })
      .signal(put, [](Till& state, int amount) { state.taken.push_back(amount); })
      .update(add,
              [](Till& state, int amount) {
                state.taken.push_back(amount);
                return state.sum();
              })
      .query(taken, [](const Till& state) { return state.taken; });
  return newer;
}

TEST_P(MessageErrors, AnUnknownSignalThatCouldNotBeRefusedIsKeptForCodeThatTakesIt) {
  client_.start(till, "a", 5);
  client_.signal("a", no_signal, 1);  // no worker, no turn yet
  client_.signal("a", put, 2);
  serve();
  wait_for_warning("signal 'no_signal' is kept: this code has no handler for it");
  expect_unharmed("a", {5, 2});
  EXPECT_EQ(count("a", "signal_received"), 2);
  stop_serving();
  client_.signal("a", no_signal, 3);  // no worker now
  serve(newer_code());
  client_.signal("a", put, 4);
  EXPECT_EQ(client_.query("a", taken), (std::vector<int>{5, 2, 1000, 10, 30, 4}))
      << "in the order in which they came, as far as there was code for them";
}

TEST_P(MessageErrors, AnInputOfAnotherTypeIsRefused) {
  serve();
  begun("a", 5);
  const std::string message =
      message_of<InvalidArgument>([&] { client_.update("a", add_text, "five"); });
  EXPECT_TRUE(contains(message, "the input of update 'add'")) << message;
  EXPECT_THROW(client_.start_update("a", add_text, "five"), InvalidArgument);
  EXPECT_EQ(count("a", "update_accepted"), 0);
  const std::string asked =
      message_of<InvalidArgument>([&] { client_.query("a", total_and_text, "five"); });
  EXPECT_TRUE(contains(asked, "the input of query 'total_and'")) << asked;
  client_.signal("a", put_text, "five");
  wait_for_warning("the handler of signal 'put' failed");
  expect_unharmed("a", {5});
}

TEST_P(MessageErrors, AResultOfAnotherTypeIsSaid) {
  serve();
  begun("a", 5);
  EXPECT_EQ(failure_of<Failed>([&] { client_.update("a", add_to_text, 1); }), kBadInputFailure);
  EXPECT_EQ(failure_of<Failed>([&] { client_.query("a", total_as_text); }), kBadInputFailure);
  expect_unharmed("a", {5, 1});
}

TEST_P(MessageErrors, AValidatorThatRefusesLeavesNoTrace) {
  serve();
  begun("a", 5);
  const auto before = history("a");
  try {
    client_.update("a", add, -1, {.update_id = "u"});
    FAIL() << "it was taken";
  } catch (const UpdateRejected& refused) {
    EXPECT_EQ(refused.failure().type, "negative");
    EXPECT_EQ(refused.failure().message, "nothing is taken out");
  }
  EXPECT_THROW(client_.start_update("a", add, -1), UpdateRejected);
  EXPECT_EQ(history("a"), before);
  EXPECT_THROW(client_.update("a", add, 1, {.update_id = "u"}), UpdateRejected)
      << "the same id is the same update";
  expect_unharmed("a", {5});
}

TEST_P(MessageErrors, AHandlerThatFailsHurtsNobodyElse) {
  serve();
  begun("a", 5);
  try {
    client_.update("a", spoil, 1, {.update_id = "u"});
    FAIL() << "it went well";
  } catch (const UpdateFailed& failed) {
    EXPECT_EQ(failed.failure().type, "no_change");
    EXPECT_EQ(failed.failure().message, "the till is empty");
  }
  EXPECT_THROW(client_.find_update<int>("a", "u").wait(0ms), UpdateFailed);
  EXPECT_EQ(count("a", "update_failed"), 1);
  expect_unharmed("a", {5});
}

TEST_P(MessageErrors, ARunThatIsAboutToEndRefusesUpdates) {
  serve();
  begun("a", 5);
  const auto running = client_.start_update("a", linger, 1);
  close("a", "done");
  wait_for_status("a", ExecutionStatus::kCompleting);
  EXPECT_THROW(client_.update("a", add, 1), RunEnded);
  EXPECT_EQ(client_.query("a", total), 5);
  client_.raise_event("a", go);
  EXPECT_EQ(running.wait(kPatience), 6);
  EXPECT_EQ(client_.find<int>("a").wait(kPatience), 5) << "as main said";
}

TEST_P(MessageErrors, InputsAreCheckedBeforeAnythingIsStored) {
  client_.start(till, "a", 5);
  const Client small(store_, {.max_payload_bytes = 10});
  EXPECT_THROW(small.update("a", add_text, std::string(100, 'x')), InvalidArgument);
  EXPECT_THROW(small.signal("a", put_text, std::string(100, 'x')), InvalidArgument);
  EXPECT_THROW(small.query("a", total_and_text, std::string(100, 'x')), InvalidArgument);
  const std::string endless(300, 'u');
  EXPECT_THROW(client_.update("a", add, 1, {.update_id = endless}), InvalidArgument);
  EXPECT_THROW(client_.signal("a", put, 1, {.delay = -1s}), InvalidArgument);
  EXPECT_THROW(client_.signal("a", put, 1, {.request_id = endless}), InvalidArgument);
  EXPECT_THROW(client_.update("", add, 1), InvalidArgument);
  EXPECT_THROW(client_.update("a", Update<int(int)>(""), 1), InvalidArgument);
  EXPECT_THROW(client_.query("a", Query<int()>("")), InvalidArgument);
  EXPECT_THROW(client_.signal("a", Signal<void>("")), InvalidArgument);
  serve();
  expect_unharmed("a", {5});
}

/// Of names that runs of `till` take, and of a type that can hold what JSON cannot.
constexpr Update<int(double)> add_real{"add"};
constexpr Signal<double> put_real{"put"};
constexpr Query<int(double)> total_and_real{"total_and"};
constexpr Orchestration<int(double)> till_real{"till"};
constexpr Orchestration<int(std::string)> till_text{"till"};

TEST_P(MessageErrors, WhatJsonCannotHoldIsCheckedBeforeAnythingIsStored) {
  client_.start(till, "a", 5);
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {no_number, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(client_.update("a", add_real, bad), InvalidArgument);
    EXPECT_THROW(client_.start_update("a", add_real, bad), InvalidArgument);
    EXPECT_THROW(client_.signal("a", put_real, bad), InvalidArgument);
    EXPECT_THROW(client_.query("a", total_and_real, bad), InvalidArgument);
    EXPECT_THROW(client_.signal_with_start(till, "b", 5, put_real, bad), InvalidArgument);
    EXPECT_THROW(client_.signal_with_start(till_real, "b", bad, put, 1), InvalidArgument);
    EXPECT_THROW(client_.update_with_start(till, "b", 5, add_real, bad), InvalidArgument);
    EXPECT_THROW(client_.update_with_start(till_real, "b", bad, add, 1), InvalidArgument);
  }
  for (const std::string& bad : {std::string("\xff\xfe"), std::string("a\0b", 3)}) {
    EXPECT_THROW(client_.update("a", add_text, bad), InvalidArgument);
    EXPECT_THROW(client_.start_update("a", add_text, bad), InvalidArgument);
    EXPECT_THROW(client_.signal("a", put_text, bad), InvalidArgument);
    EXPECT_THROW(client_.query("a", total_and_text, bad), InvalidArgument);
    EXPECT_THROW(client_.signal_with_start(till, "b", 5, put_text, bad), InvalidArgument);
    EXPECT_THROW(client_.signal_with_start(till_text, "b", bad, put, 1), InvalidArgument);
    EXPECT_THROW(client_.update_with_start(till, "b", 5, add_text, bad), InvalidArgument);
    EXPECT_THROW(client_.update_with_start(till_text, "b", bad, add, 1), InvalidArgument);
    // Ids and names are texts too.
    EXPECT_THROW(client_.update(bad, add, 1), InvalidArgument);
    EXPECT_THROW(client_.update("a", add, 1, {.update_id = bad}), InvalidArgument);
    EXPECT_THROW(client_.signal("a", put, 1, {.request_id = bad}), InvalidArgument);
    EXPECT_THROW(client_.signal_with_start(till, bad, 5, put, 1), InvalidArgument);
    EXPECT_THROW(client_.update_with_start(till, bad, 5, add, 1), InvalidArgument);
  }
  EXPECT_THROW(client_.status("b"), NotFound) << "no start was stored either";
  serve();
  expect_unharmed("a", {5});
  EXPECT_EQ(count("a", "signal_received"), 0);
}

PERDURE_CLIENT_SUITE(MessageErrors);

}  // namespace

}  // namespace perdure::test::messages_errors_test
