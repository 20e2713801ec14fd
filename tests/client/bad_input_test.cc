#include "tests/client/client_fixture.h"

namespace perdure::test::bad_input_test {

namespace {

/// Calls that can never succeed: the message names the field, and nothing is stored.
class BadInput : public ClientTest {
 protected:
  static std::string refusal(const std::function<void()>& call) {
    return message_of<InvalidArgument>(call);
  }
  void expect_refused(const std::string& field, const std::function<void()>& call) {
    const std::string message = refusal(call);
    EXPECT_EQ(message.substr(0, field.size()), field) << message;
  }

  const std::string long_ = std::string(256, 'x');
  const std::string nul_ = std::string("a\0b", 3);
  const std::string latin_ = "caf\xe9";
};

TEST_P(BadInput, OfAnIdIsNamedByEveryCall) {
  for (const std::string& id : {std::string(), long_, nul_, latin_}) {
    if (!id.empty()) expect_refused("id", [&] { client_.start(greeter, id); });
    expect_refused("id", [&] { client_.raise_event(id, guest, "x", {.buffer_for = 1h}); });
    expect_refused("id", [&] { client_.cancel(id, "x"); });
    expect_refused("id", [&] { client_.terminate(id, "x"); });
    expect_refused("id", [&] { client_.status(id); });
    expect_refused("id", [&] { client_.wait(id, 1s); });
    expect_refused("id", [&] { client_.tree(id); });
    expect_refused("id", [&] { client_.history(id); });
    expect_refused("id", [&] { client_.history_json(id); });
    expect_refused("id", [&] { client_.remove(id); });
    expect_refused("ids", [&] { client_.remove_ended({.ids = {id}}); });
    expect_refused("id", [&] { client_.prune(id); });
  }
  EXPECT_TRUE(client_.list().runs.empty());
}

TEST_P(BadInput, OfAStartStoresNothing) {
  expect_refused("queue", [&] { client_.start(greeter, "a", {.queue = ""}); });
  expect_refused("queue", [&] { client_.start(greeter, "a", {.queue = long_}); });
  expect_refused("version", [&] { client_.start(greeter, "a", {.version = latin_}); });
  for (const char* version : {"v1", "1.", "1.2.3.4", "1.2-beta", " 1"}) {
    EXPECT_EQ(refusal([&] { client_.start(greeter, "a", {.version = version}); }),
              "version '" + std::string(version) + "': use one to three numbers, as in \"1.4.2\"");
  }
  expect_refused("request_id", [&] { client_.start(greeter, "a", {.request_id = nul_}); });
  expect_refused("delay", [&] { client_.start(greeter, "a", {.delay = -1s}); });
  expect_refused("run_timeout", [&] { client_.start(greeter, "a", {.run_timeout = -1s}); });
  expect_refused("name", [&] { client_.start(Orchestration<void()>(""), "a"); });
  constexpr Orchestration<void(std::string)> eater{"eater"};
  expect_refused("the input of 'eater'",
                 [&] { client_.start(eater, "a", std::string(3 << 20, 'x')); });
  expect_refused("the input of 'eater'", [&] { client_.start(eater, "a", latin_); });
  EXPECT_EQ(refusal([&] { client_.start(doubled, "a", 5'000'000'000); }),
            "the input of 'doubled': 5000000000 does not fit its type");
  EXPECT_TRUE(client_.list().runs.empty());
  // None of the request ids is used up.
  EXPECT_EQ(client_.start(greeter, "a").execution(), 1);
}

TEST_P(BadInput, OfAnEventReachesNobody) {
  client_.start(greeter, "a");
  expect_refused("name", [&] { client_.raise_event("a", Event<int>(""), 1); });
  expect_refused("delay", [&] { client_.raise_event("a", guest, "x", {.delay = -1s}); });
  expect_refused("buffer_for", [&] { client_.raise_event("a", guest, "x", {.buffer_for = -1s}); });
  expect_refused("the payload of event 'guest'", [&] { client_.raise_event("a", guest, latin_); });
  expect_refused("the payload of event 'guest'",
                 [&] { client_.raise_event("a", guest, std::string(3 << 20, 'x')); });
  EXPECT_EQ(refusal([&] { client_.raise_event("a", Event<unsigned>("number"), -1); }),
            "the payload of event 'number': -1 does not fit its type");
  expect_refused("delay", [&] { client_.raise_event("a", Event<void>("bell"), {.delay = -1s}); });
  run();
  EXPECT_EQ(client_.history("a").events.size(), 3U) << "started, status, subscribed";
}

TEST_P(BadInput, OfACancelChangesNothing) {
  client_.start(greeter, "a");
  for (const std::string& bad : {nul_, latin_, std::string(3 << 20, 'x')}) {
    expect_refused("reason", [&] { client_.cancel("a", bad); });
    expect_refused("reason", [&] { client_.terminate("a", bad); });
  }
  expect_refused("request_id", [&] { client_.cancel("a", "x", long_); });
  expect_refused("request_id", [&] { client_.terminate("a", "x", long_); });
  EXPECT_EQ(client_.status("a").status, ExecutionStatus::kRunning);
}

TEST_P(BadInput, OfAReadIsNamed) {
  client_.start(greeter, "a");
  expect_refused("limit", [&] { client_.list({}, {.limit = 0}); });
  expect_refused("limit", [&] { client_.list({}, {.limit = 10'001}); });
  expect_refused("after", [&] { client_.list({}, {.after = "x"}); });
  expect_refused("limit", [&] { client_.tree("a", {.limit = 0}); });
  expect_refused("max_depth", [&] { client_.tree("a", {.max_depth = -1}); });
  expect_refused("limit", [&] { client_.history("a", {.limit = 0}); });
  expect_refused("timeout", [&] { client_.wait("a", -1s); });
  expect_refused("max_runs", [&] { client_.remove_ended({.ids = {"a"}, .max_runs = 0}); });
  expect_refused("after",
                 [&] { client_.remove_ended({.completed_before = TimePoint{}, .after = "1"}); });
  expect_refused("keep_last", [&] { client_.prune("a", {.keep_last = -1}); });
}

TEST_P(BadInput, OfTheClientItself) {
  EXPECT_EQ(refusal([] { Client(nullptr); }), "store must not be null: open one with open(url)");
  expect_refused("call_timeout", [&] { client_.within(0s); });
  expect_refused("max_payload_bytes", [&] { Client(store_, {.max_payload_bytes = 0}); });
}

PERDURE_CLIENT_SUITE(BadInput);

}  // namespace

}  // namespace perdure::test::bad_input_test
