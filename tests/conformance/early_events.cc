#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// External events: delivered in order, kept for an id that does not exist yet when asked to, and
/// never in anybody's way.
namespace perdure::conformance {

namespace {

using Names = std::vector<std::string>;

/// Names of the raised events, in order.
Names raised(const std::vector<Message>& messages) {
  Names names;
  for (const Message& message : messages) {
    if (message.kind == MessageKind::kEventRaised) names.push_back(message.name);
  }
  return names;
}

}  // namespace

class EarlyEvents : public Conformance {
 protected:
  RaiseEvent event(const std::string& id, const std::string& name) {
    RaiseEvent request;
    request.id = id;
    request.name = name;
    request.payload = "null";
    return request;
  }

  EventDelivery send(RaiseEvent request) {
    auto answer = store().raise_event(std::move(request));
    if (!answer.ok()) throw std::runtime_error("raise: " + answer.error().message);
    return *answer;
  }

  EventDelivery buffer(const std::string& id, const std::string& name, Duration keep = 1h) {
    RaiseEvent request = event(id, name);
    request.buffer_for = keep;
    return send(std::move(request));
  }
};

TEST_P(EarlyEvents, LiveInstanceGetsTheEvent) {
  start_and_run("a");

  EXPECT_EQ(raise("a", "paid", "{\"sum\":3}"), EventDelivery::kDelivered);

  const OrchestrationItem item = lock("a");
  ASSERT_EQ(kinds(item.messages), (std::vector<MessageKind>{MessageKind::kEventRaised}));
  EXPECT_EQ(item.messages[0].name, "paid");
  EXPECT_EQ(item.messages[0].payload, "{\"sum\":3}");
  EXPECT_EQ(item.messages[0].execution, ExecutionNo{0}) << "it belongs to the instance";
  EXPECT_EQ(item.messages[0].visible_at, now());
}

TEST_P(EarlyEvents, EventsOfOneInstanceKeepTheirOrder) {
  start_and_run("a");
  Names expected;
  for (int i = 0; i < 20; ++i) {
    const std::string name = i % 2 == 0 ? "even" : "odd";
    raise("a", name, std::to_string(i));
    expected.push_back(name);
  }

  const OrchestrationItem item = lock("a");

  EXPECT_EQ(raised(item.messages), expected);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(item.messages.at(static_cast<std::size_t>(i)).payload, std::to_string(i));
  }
}

TEST_P(EarlyEvents, UnknownIdIsNotFoundAndKeepsNothing) {
  EXPECT_EQ(raise("a", "lost"), EventDelivery::kNotFound);

  start("a");
  EXPECT_EQ(kinds(lock("a").messages), (std::vector<MessageKind>{MessageKind::kStart}));
}

TEST_P(EarlyEvents, BufferedEventsArriveBehindTheStartInOrder) {
  EXPECT_EQ(buffer("a", "one"), EventDelivery::kBuffered);
  advance(1s);
  EXPECT_EQ(buffer("a", "two"), EventDelivery::kBuffered);
  EXPECT_EQ(buffer("a", "one"), EventDelivery::kBuffered);
  advance(1s);
  start("a");
  raise("a", "three");

  const OrchestrationItem item = lock("a");

  ASSERT_FALSE(item.messages.empty());
  EXPECT_EQ(item.messages[0].kind, MessageKind::kStart);
  EXPECT_EQ(raised(item.messages), (Names{"one", "two", "one", "three"}));
}

TEST_P(EarlyEvents, BufferedEventKeepsItsPayload) {
  RaiseEvent request = event("a", "paid");
  request.payload = "{\"sum\":3}";
  request.buffer_for = 1min;
  send(std::move(request));
  start("a");

  const OrchestrationItem item = lock("a");

  ASSERT_EQ(item.messages.size(), 2u);
  EXPECT_EQ(item.messages[1].payload, "{\"sum\":3}");
}

TEST_P(EarlyEvents, BufferedEventIsDeliveredOnce) {
  buffer("a", "once");
  start("a");
  EXPECT_EQ(raised(lock("a").messages), (Names{"once"}));
  terminate("a");

  start("a");

  EXPECT_EQ(kinds(lock("a").messages), (std::vector<MessageKind>{MessageKind::kStart}));
}

TEST_P(EarlyEvents, BufferedEventGoesToItsIdOnly) {
  buffer("a", "for a");
  start("b");
  EXPECT_EQ(kinds(lock("b").messages), (std::vector<MessageKind>{MessageKind::kStart}));

  start("a");

  EXPECT_EQ(raised(lock("a").messages), (Names{"for a"}));
}

TEST_P(EarlyEvents, ExpiredEventsAreNotDelivered) {
  buffer("a", "short", 10s);
  buffer("a", "long", 1min);
  advance(11s);

  start("a");

  EXPECT_EQ(raised(lock("a").messages), (Names{"long"}));
}

TEST_P(EarlyEvents, DelayedStartIsNotHurriedByABufferedEvent) {
  buffer("a", "early");
  StartOrchestration request = start_request("a");
  request.delay = 10s;
  start(std::move(request));

  EXPECT_FALSE(try_lock());
  advance(10s);
  EXPECT_EQ(kinds(lock("a").messages),
            (std::vector<MessageKind>{MessageKind::kStart, MessageKind::kEventRaised}));
}

TEST_P(EarlyEvents, ChildGetsWhatWasBufferedForItsId) {
  buffer("child", "early");
  start("root");
  const OrchestrationItem item = lock("root");
  TurnCommit decisions = turn(item);
  schedule_child(decisions, item, "child");
  commit(std::move(decisions));

  EXPECT_EQ(kinds(lock("child").messages),
            (std::vector<MessageKind>{MessageKind::kStart, MessageKind::kEventRaised}));
}

TEST_P(EarlyEvents, EndedInstanceTakesNoEvents) {
  start("completed");
  end("completed", ExecutionStatus::kCompleted);
  start("failed");
  end("failed", ExecutionStatus::kFailed);
  start("canceled");
  cancel("canceled");
  start("terminated");
  terminate("terminated");
  for (const char* id : {"completed", "failed", "canceled", "terminated"}) {
    EXPECT_EQ(raise(id, "late"), EventDelivery::kEnded) << id;
    EXPECT_EQ(buffer(id, "late"), EventDelivery::kEnded) << "the id is known: " << id;
    start(id);
    EXPECT_EQ(kinds(lock(id).messages), (std::vector<MessageKind>{MessageKind::kStart})) << id;
  }
}

TEST_P(EarlyEvents, CancelingInstanceTakesEvents) {
  start_and_run("a");
  cancel("a");
  commit(turn(lock("a")));

  EXPECT_EQ(raise("a", "undone"), EventDelivery::kDelivered);

  EXPECT_EQ(raised(lock("a").messages), (Names{"undone"}));
}

TEST_P(EarlyEvents, DelayedEventComesWhenItIsDue) {
  start_and_run("a");
  RaiseEvent late = event("a", "late");
  late.delay = 10s;
  EXPECT_EQ(send(std::move(late)), EventDelivery::kDelivered);
  EXPECT_FALSE(try_lock());
  advance(5s);
  raise("a", "early");
  advance(5s);

  EXPECT_EQ(raised(lock("a").messages), (Names{"early", "late"}));
}

TEST_P(EarlyEvents, DelayOfABufferedEventHolds) {
  RaiseEvent late = event("a", "late");
  late.delay = 10s;
  late.buffer_for = 1h;
  EXPECT_EQ(send(std::move(late)), EventDelivery::kBuffered);
  start("a");
  const OrchestrationItem first = lock("a");
  EXPECT_EQ(kinds(first.messages), (std::vector<MessageKind>{MessageKind::kStart}));
  commit(turn(first));
  EXPECT_FALSE(try_lock());

  advance(10s);

  EXPECT_EQ(raised(lock("a").messages), (Names{"late"}));
}

TEST_P(EarlyEvents, RepeatedRequestDeliversOnce) {
  start_and_run("a");
  RaiseEvent request = event("a", "once");
  request.request_id = "r1";

  EXPECT_EQ(send(request), EventDelivery::kDelivered);
  EXPECT_EQ(send(request), EventDelivery::kDelivered);
  EXPECT_EQ(raised(lock("a").messages), (Names{"once"}));
  terminate("a");
  EXPECT_EQ(send(request), EventDelivery::kDelivered) << "the stored answer, not the state";
}

TEST_P(EarlyEvents, RepeatedRequestBuffersOnce) {
  RaiseEvent request = event("a", "once");
  request.buffer_for = 1h;
  request.request_id = "r1";
  EXPECT_EQ(send(request), EventDelivery::kBuffered);
  EXPECT_EQ(send(request), EventDelivery::kBuffered);
  start("a");
  EXPECT_EQ(send(request), EventDelivery::kBuffered);

  EXPECT_EQ(raised(lock("a").messages), (Names{"once"}));
}

TEST_P(EarlyEvents, RequestThatReachedNobodyMayBeSentAgain) {
  RaiseEvent request = event("a", "again");
  request.request_id = "r1";
  EXPECT_EQ(send(request), EventDelivery::kNotFound);
  start("a");
  EXPECT_EQ(send(request), EventDelivery::kDelivered);
  EXPECT_EQ(send(request), EventDelivery::kDelivered);

  EXPECT_EQ(raised(lock("a").messages), (Names{"again"}));
}

TEST_P(EarlyEvents, RequestIdOfAnotherCallIsRefused) {
  StartOrchestration request = start_request("a");
  request.request_id = "r1";
  start(std::move(request));
  RaiseEvent late = event("a", "late");
  late.request_id = "r1";

  EXPECT_EQ(refusal(store().raise_event(std::move(late))), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(raised(lock("a").messages).empty());
}

TEST_P(EarlyEvents, UnknownIdsNeverBlockOthers) {
  for (int i = 0; i < 200; ++i) {
    buffer("nobody " + std::to_string(i), "e");
    raise("nowhere " + std::to_string(i), "e");
  }
  start("a");
  raise("a", "mine");

  const auto items = lock_up_to(10);

  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].id, "a");
  EXPECT_EQ(raised(items[0].messages), (Names{"mine"}));
}

TEST_P(EarlyEvents, EventsOfATurnReachLiveInstancesAndAreDroppedElsewhere) {
  start_and_run("target");
  start("ended");
  end("ended", ExecutionStatus::kCompleted);
  start("sender");
  TurnCommit decisions = turn(lock("sender"));
  decisions.raised = {
      {"nobody", "e", "1"}, {"ended", "e", "2"}, {"target", "e", "3"}, {"target", "f", "4"}};

  EXPECT_TRUE(try_commit(std::move(decisions)).ok());

  const OrchestrationItem item = lock("target");
  EXPECT_EQ(raised(item.messages), (Names{"e", "f"}));
  EXPECT_EQ(item.messages.at(0).payload, "3");
  EXPECT_FALSE(try_lock());
  start("nobody");
  EXPECT_EQ(kinds(lock("nobody").messages), (std::vector<MessageKind>{MessageKind::kStart}));
}

TEST_P(EarlyEvents, BadIdsAndNamesAreRefused) {
  EXPECT_EQ(refusal(store().raise_event(event("", "e"))), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(store().raise_event(event("a", ""))), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(store().raise_event(event("\xff", "e"))), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(store().raise_event(event(std::string(kMaxIdBytes + 1, 'x'), "e"))),
            ErrorCode::kInvalidArgument);
}

PERDURE_CONFORMANCE_SUITE(EarlyEvents);

}  // namespace perdure::conformance
