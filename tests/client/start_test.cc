#include "tests/client/client_fixture.h"

namespace perdure::test::start_test {

namespace {

using Start = ClientTest;

TEST_P(Start, StoresTheRunAsItWasAskedFor) {
  const auto run = client_.start(
      doubled, "a", 21, {.version = "7", .queue = "q", .delay = 1h, .run_timeout = 2h});
  EXPECT_EQ(run.id(), "a");
  EXPECT_EQ(run.execution(), 1);
  const RunStatus status = run.status();
  EXPECT_EQ(status.id, "a");
  EXPECT_EQ(status.name, "doubled");
  EXPECT_EQ(status.version, "7");
  EXPECT_EQ(status.queue, "q");
  EXPECT_EQ(status.status, ExecutionStatus::kRunning);
  EXPECT_EQ(status.blocked, "");
  EXPECT_TRUE(status.output.is_null());
  ASSERT_TRUE(status.deadline.has_value());
  EXPECT_GE(*status.deadline - store_->clock().now(), 2h) << "from the delayed start on";
  const QueueStates queues = client_.queues();
  ASSERT_EQ(queues.queues.size(), 1U);
  EXPECT_EQ(queues.queues[0].queue, "q");
  EXPECT_EQ(queues.queues[0].runs_delayed, 1);
  EXPECT_EQ(client_.history("a").events.at(0).payload, "21");
}

TEST_P(Start, RunsAndGivesTheResult) {
  const auto run = client_.start(doubled, "a", 21);
  EXPECT_EQ(client_.queues().queues.at(0).runs_ready, 1);
  this->run();
  EXPECT_EQ(run.wait(kPatience), 42);
  EXPECT_EQ(run.outcome(0s).value(), 42);
  EXPECT_EQ(run.status().output, 42);
  EXPECT_TRUE(run.status().completed_at.has_value());
  EXPECT_TRUE(client_.queues().queues.empty());
}

TEST_P(Start, MakesAnIdWhenNoneIsGiven) {
  const auto first = client_.start(doubled, "", 1);
  const auto second = client_.start(doubled, "", 2);
  EXPECT_NE(first.id(), second.id());
  run();
  EXPECT_EQ(first.wait(kPatience), 2);
  EXPECT_EQ(client_.find<int>(second.id()).wait(kPatience), 4);
}

TEST_P(Start, OnALiveIdFailsOrUsesIt) {
  client_.start(greeter, "a");
  EXPECT_TRUE(contains(message_of<Conflict>([&] { client_.start(greeter, "a"); }), "'a'"));
  const auto same = client_.start(greeter, "a", {.on_conflict = OnConflict::kUseExisting});
  EXPECT_EQ(same.execution(), 1);
  EXPECT_EQ(client_.list().runs.size(), 1U);
}

TEST_P(Start, ThatCancelsTheLiveOneGivesTheNewRun) {
  const auto old = client_.start(greeter, "a");
  run();
  const auto next = client_.start(doubled, "a", 4, {.on_conflict = OnConflict::kCancelExisting});
  EXPECT_EQ(next.execution(), 2);
  EXPECT_EQ(client_.status("a").status, ExecutionStatus::kCanceling) << "it cleans up first";
  EXPECT_THROW(next.wait(0s), Unavailable) << "it has not begun";
  run();
  EXPECT_EQ(next.wait(kPatience), 8);
  EXPECT_EQ(old.outcome(kPatience).kind(), Outcome<std::string>::Kind::kCanceled);
  EXPECT_EQ(client_.status("a", 1).status, ExecutionStatus::kCanceled);
}

TEST_P(Start, OnAnEndedIdGoesByItsPolicy) {
  client_.start(doubled, "a", 1);
  run();
  EXPECT_THROW(client_.start(doubled, "a", 2, {.on_reuse = OnReuse::kReject}), Conflict);
  EXPECT_THROW(client_.start(doubled, "a", 2, {.on_reuse = OnReuse::kOnlyFailed}), Conflict);
  const auto again = client_.start(doubled, "a", 3);
  EXPECT_EQ(again.execution(), 2);
  run();
  EXPECT_EQ(again.wait(kPatience), 6);
}

Registry greeter_of(std::string_view version) {
  Registry registry;
  registry.add(greeter, run_greeter, version);
  return registry;
}

TEST_P(Start, WithAVersionRunsInWhateverFormTheCodeIsRegistered) {
  for (const char* version : {"1", "1.0", "1.0.0", "01.0"}) {
    client_.start(greeter, version, {.version = version});
    client_.raise_event(version, guest, "Ann");
    client_.raise_event(version, guest, "Bob");
  }
  client_.start(greeter, "another", {.version = "1.0.1"});
  Engine(store_, greeter_of("1")).run();
  for (const char* id : {"1", "1.0", "1.0.0", "01.0"}) {
    EXPECT_EQ(client_.status(id).output, "Ann and Bob") << id;
  }
  EXPECT_EQ(client_.status("1.0").version, "1.0") << "as it was asked for";
  EXPECT_EQ(client_.status("01.0").version, "1.0");
  EXPECT_TRUE(client_.status("another").custom_status.is_null()) << "it has had no turn";
}

TEST_P(Start, WithoutAVersionIsServedInEveryFormOfTheOneThatItTook) {
  client_.start(greeter, "a");
  Engine(store_, greeter_of("1.02")).run();
  EXPECT_EQ(client_.status("a").version, "1.2");
  client_.raise_event("a", guest, "Ann");
  Engine(store_, greeter_of("1.2.0")).run();
  client_.raise_event("a", guest, "Bob");
  Engine(store_, greeter_of("1.02")).run();
  EXPECT_EQ(client_.status("a").output, "Ann and Bob");
  EXPECT_EQ(client_.status("a").version, "1.2");
}

TEST_P(Start, OfAnOlderReleaseIsServedByTheTextThatIsRegistered) {
  StartOrchestration older;
  older.id = "a";
  older.name = "greeter";
  older.version = "1.02";
  older.input = "null";
  ASSERT_TRUE(store_->start_orchestration(std::move(older)).ok());
  client_.raise_event("a", guest, "Ann");
  client_.raise_event("a", guest, "Bob");
  Engine(store_, greeter_of("1.02")).run();
  EXPECT_EQ(client_.status("a").output, "Ann and Bob");
}

PERDURE_CLIENT_SUITE(Start);

}  // namespace

}  // namespace perdure::test::start_test
