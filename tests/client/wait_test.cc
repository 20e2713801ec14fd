#include "tests/client/client_fixture.h"

namespace perdure::test::wait_test {

namespace {

/// Lets the waits of others begin, and counts the looks at the run.
class Wait : public ClientTest {
 protected:
  /// A wait on a thread of its own.
  std::future<RunStatus> wait_aside(const std::string& id) {
    return std::async(std::launch::async,
                      [client = client_, id] { return client.wait(id, kPatience); });
  }
};

TEST_P(Wait, IsWokenByTheEndOfTheRun) {
  client_.start(greeter, "a");
  run();
  auto waiting = wait_aside("a");
  client_.raise_event("a", guest, "ann");
  run();
  client_.raise_event("a", guest, "bob");
  run();
  const RunStatus end = waiting.get();
  EXPECT_EQ(end.status, ExecutionStatus::kCompleted);
  EXPECT_EQ(end.output, "ann and bob");
}

TEST_P(Wait, IsWokenByATerminate) {
  client_.start(greeter, "a");
  auto waiting = wait_aside("a");
  client_.terminate("a", "enough");
  EXPECT_EQ(waiting.get().cancel_reason, "enough");
}

TEST_P(Wait, SurvivesAnInterruption) {
  client_.start(greeter, "a");
  auto waiting = wait_aside("a");
  for (int i = 0; i < 100; ++i) store_->interrupt_waits();
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  client_.terminate("a", "enough");
  EXPECT_EQ(waiting.get().status, ExecutionStatus::kTerminated);
}

TEST_P(Wait, ManyAtOnceAreAllWoken) {
  std::vector<std::future<RunStatus>> waiting;
  for (int i = 0; i < 20; ++i) {
    client_.start(doubled, std::to_string(i % 5), i % 5, {.on_conflict = OnConflict::kUseExisting});
    waiting.push_back(wait_aside(std::to_string(i % 5)));
  }
  run();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(waiting.at(i).get().output, 2 * (i % 5)) << i;
}

TEST_P(Wait, GoesOnWhenTheRunContinuesAsNew) {
  const auto run = client_.start(countdown, "a", 2);
  auto waiting = wait_aside("a");
  for (int i = 0; i < 2; ++i) {
    client_.raise_event("a", guest, "next");
    this->run();
  }
  EXPECT_EQ(waiting.get().output, 103);
  EXPECT_EQ(run.wait(kPatience), 103);
  EXPECT_EQ(client_.status("a").execution, 3);
  EXPECT_EQ(client_.status("a", 1).status, ExecutionStatus::kContinuedAsNew);
}

TEST_P(Wait, PassesOverExecutionsThatWerePruned) {
  const auto run = client_.start(countdown, "a", 1);
  client_.raise_event("a", guest, "next");
  this->run();
  EXPECT_EQ(client_.prune("a").executions, 1);
  EXPECT_EQ(run.wait(kPatience), 102);
}

TEST_P(Wait, OfARunIsNotMisledByTheNextOneOfItsId) {
  const auto first = client_.start(doubled, "a", 1);
  run();
  const auto second = client_.start(greeter, "a");
  EXPECT_EQ(first.wait(kPatience), 2);
  EXPECT_THROW(second.wait(0s), Unavailable);
  EXPECT_THROW(client_.wait("a", 0s), Unavailable) << "by its id: whatever is current";
}

TEST_P(Wait, OfARunThatWasDeletedIsNotMisledByANewOneUnderItsId) {
  const auto first = client_.start(doubled, "a", 1);
  run();
  client_.remove("a");
  const auto second = client_.start(doubled, "a", 4);
  run();
  ASSERT_EQ(first.execution(), second.execution());
  EXPECT_THROW(first.wait(kPatience), NotFound);
  EXPECT_THROW(static_cast<void>(first.outcome(kPatience)), NotFound);
  EXPECT_EQ(second.wait(kPatience), 8);
  EXPECT_EQ(client_.find<int>("a").wait(kPatience), 8) << "by its id: whatever is current";
}

TEST_P(Wait, EndsWhenItsTimeHasPassed) {
  const auto run = client_.start(greeter, "a");
  const std::string message = message_of<Unavailable>([&] { run.wait(30ms); });
  EXPECT_EQ(message, "run 'a' has not ended within 30 ms: it is running; wait again");
}

TEST_P(Wait, IsNotFoundWhenTheRunIsDeletedMeanwhile) {
  client_.start(greeter, "a");
  auto waiting = wait_aside("a");
  // The wait has looked at the run when it is deleted, or finds nobody: the same to its caller.
  client_.remove("a", {.force = true});
  EXPECT_THROW(waiting.get(), NotFound);
}

TEST_P(Wait, TellsHowARunFailed) {
  const auto run = client_.start(broken, "a");
  this->run();
  try {
    run.wait(kPatience);
    FAIL() << "it has failed";
  } catch (const RunFailed& error) {
    EXPECT_EQ(error.failure().type, "no_luck");
  }
  const auto outcome = run.outcome(kPatience);
  EXPECT_EQ(outcome.failure().message, "it was not to be");
  EXPECT_EQ(run.status().failure.type, "no_luck");
}

TEST_P(Wait, SaysWhenTheResultHasAnotherType) {
  client_.start(doubled, "a", 1);
  run();
  try {
    client_.find<std::string>("a").wait(kPatience);
    FAIL() << "it is a number";
  } catch (const Failed& error) {
    EXPECT_EQ(error.failure().type, kBadInputFailure);
    EXPECT_TRUE(contains(error.what(), "the result of run 'a'")) << error.what();
  }
}

TEST_P(Wait, AndStartWorkFromInsideAnActivity) {
  constexpr Activity<int(int)> nested{"nested"};
  constexpr Orchestration<int(int)> outer{"outer"};
  Registry registry;
  registry.add(outer, [](OrchestrationContext& ctx, int value) -> Task<int> {
    constexpr Activity<int(int)> inner{"nested"};
    co_return co_await ctx.call(inner, value);
  });
  registry.add(nested, [client = client_](int value) {
    const auto run = client.start(greeter, "made-inside");
    client.terminate("made-inside", "that was all");
    return run.outcome(kPatience).ok() ? 0 : value;
  });
  const auto run = client_.start(outer, "a", 5);
  Engine(store_, registry).run();
  EXPECT_EQ(run.wait(kPatience), 5);
  EXPECT_EQ(client_.status("made-inside").cancel_reason, "that was all");
}

PERDURE_CLIENT_SUITE(Wait);

}  // namespace

}  // namespace perdure::test::wait_test
