#include "tests/client/client_fixture.h"

namespace perdure::test::talk_test {

namespace {

/// Events, cancel and terminate.
using Talk = ClientTest;

inline constexpr Orchestration<std::int64_t()> bells{"bells"};
inline constexpr Event<void> bell{"bell"};

/// One ring for each execution; tells the number of the third.
Task<std::int64_t> run_bells(OrchestrationContext& ctx) {
  co_await ctx.wait_for(bell);
  if (ctx.execution() < 3) co_await ctx.continue_as_new(bells);
  co_return ctx.execution();
}

Registry bell_ringer() {
  Registry registry;
  registry.add(bells, run_bells);
  return registry;
}

TEST_P(Talk, EventsArriveInOrder) {
  const auto run = client_.start(greeter, "a");
  EXPECT_EQ(client_.raise_event("a", guest, "ann"), EventDelivered::kDelivered);
  this->run();
  EXPECT_EQ(run.status().custom_status, "waiting");
  EXPECT_EQ(client_.raise_event("a", guest, "bob"), EventDelivered::kDelivered);
  this->run();
  EXPECT_EQ(run.wait(kPatience), "ann and bob");
  EXPECT_EQ(client_.raise_event("a", guest, "cid"), EventDelivered::kEnded);
}

TEST_P(Talk, AnEventForNobodyIsKeptWhenAsked) {
  EXPECT_EQ(client_.raise_event("a", guest, "lost"), EventDelivered::kNotFound);
  EXPECT_EQ(client_.raise_event("a", guest, "ann", {.buffer_for = 1h}), EventDelivered::kBuffered);
  const auto run = client_.start(greeter, "a");
  client_.raise_event("a", guest, "bob");
  this->run();
  EXPECT_EQ(run.wait(kPatience), "ann and bob");
}

TEST_P(Talk, ADelayedEventWaitsForItsTime) {
  client_.start(greeter, "a");
  run();
  EXPECT_EQ(client_.raise_event("a", guest, "late", {.delay = 1h}), EventDelivered::kDelivered);
  run();
  EXPECT_EQ(client_.history("a").events.size(), 3U) << "started, status, subscribed";
  EXPECT_EQ(client_.queues().queues.at(0).runs_delayed, 1);
}

TEST_P(Talk, AnEventWithoutAPayloadIsTakenByItsWait) {
  EXPECT_EQ(client_.raise_event("a", bell), EventDelivered::kNotFound);
  EXPECT_EQ(client_.raise_event("a", bell, {.buffer_for = 1h}), EventDelivered::kBuffered);
  const auto run = client_.start(bells, "a");
  Engine ringer(store_, bell_ringer());
  ringer.run();
  EXPECT_EQ(client_.history("a", {.execution = 1}).events.back().kind, "continued_as_new");
  EXPECT_EQ(run.status().execution, 2) << "one ring, one execution more";
}

TEST_P(Talk, ARunWithoutInputContinuesAsNewWithoutOne) {
  const auto run = client_.start(bells, "a");
  Engine ringer(store_, bell_ringer());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client_.raise_event("a", bell), EventDelivered::kDelivered);
    ringer.run();
  }
  EXPECT_EQ(run.wait(kPatience), 3);
  EXPECT_EQ(client_.raise_event("a", bell), EventDelivered::kEnded);
}

TEST_P(Talk, CancelIsStoredAtOnceAndEndsTheRun) {
  const auto run = client_.start(greeter, "a");
  this->run();
  const CancelResult first = client_.cancel("a", "changed my mind");
  EXPECT_TRUE(first.changed);
  EXPECT_EQ(first.status, ExecutionStatus::kCanceling);
  const RunStatus canceling = run.status();
  EXPECT_EQ(canceling.status, ExecutionStatus::kCanceling);
  EXPECT_EQ(canceling.cancel_reason, "changed my mind");
  EXPECT_TRUE(canceling.cancel_requested_at.has_value());
  EXPECT_FALSE(canceling.canceled_at.has_value());
  EXPECT_FALSE(client_.cancel("a", "again").changed);
  this->run();
  const RunStatus end = client_.wait("a", kPatience);
  EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(end.cancel_reason, "changed my mind");
  EXPECT_TRUE(end.canceled_at.has_value());
  EXPECT_EQ(message_of<RunCanceled>([&] { run.wait(kPatience); }),
            "the run was canceled: changed my mind");
  EXPECT_EQ(run.outcome(kPatience).reason(), "changed my mind");
}

TEST_P(Talk, TerminateEndsAtOnceAndItsReasonIsTold) {
  const auto run = client_.start(greeter, "a");
  this->run();
  client_.cancel("a", "first");
  const CancelResult answer = client_.terminate("a", "second");
  EXPECT_TRUE(answer.changed);
  EXPECT_EQ(answer.status, ExecutionStatus::kTerminated);
  const RunStatus end = run.status();
  EXPECT_EQ(end.status, ExecutionStatus::kTerminated);
  EXPECT_EQ(end.cancel_reason, "second");
  EXPECT_FALSE(end.canceled_at.has_value());
  EXPECT_THROW(run.wait(kPatience), RunCanceled);
  EXPECT_FALSE(client_.terminate("a", "third").changed);
}

TEST_P(Talk, WithAnUnknownRunIsNotFound) {
  EXPECT_THROW(client_.cancel("nobody", "x"), NotFound);
  EXPECT_THROW(client_.terminate("nobody", "x"), NotFound);
  EXPECT_THROW(client_.status("nobody"), NotFound);
  EXPECT_THROW(client_.wait("nobody", kPatience), NotFound);
  EXPECT_THROW(client_.tree("nobody"), NotFound);
  EXPECT_THROW(client_.history("nobody"), NotFound);
  EXPECT_THROW(client_.history_json("nobody"), NotFound);
  EXPECT_THROW(client_.remove("nobody"), NotFound);
  EXPECT_THROW(client_.prune("nobody"), NotFound);
  client_.start(greeter, "a");
  EXPECT_THROW(client_.status("a", 2), NotFound);
}

TEST_P(Talk, ARunThatNobodyCanRunSaysWhy) {
  Registry older;
  older.add(greeter, [](OrchestrationContext& ctx) -> Task<std::string> {
    co_await ctx.timer(1h);
    co_return "x";
  });
  client_.start(greeter, "a");
  Engine(store_, older).run();
  client_.raise_event("a", guest, "ann");
  run();
  const RunStatus status = client_.status("a");
  EXPECT_EQ(status.blocked, "nondeterminism");
  EXPECT_NE(status.blocked_detail, "");
  EXPECT_TRUE(status.blocked_since.has_value());
  EXPECT_EQ(client_.list().runs.at(0).blocked, "nondeterminism");
  EXPECT_TRUE(contains(message_of<Unavailable>([&] { client_.wait("a", 0s); }), "nondeterminism"));
}

PERDURE_CLIENT_SUITE(Talk);

}  // namespace

}  // namespace perdure::test::talk_test
