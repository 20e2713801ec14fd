#include "tests/client/client_fixture.h"

namespace perdure::test::requests_test {

namespace {

/// Calls that are repeated with their request id.
using Requests = ClientTest;

TEST_P(Requests, AStartIsMadeOnceAndAnswersTheSame) {
  const auto first = client_.start(doubled, "", 1, {.request_id = "r"});
  const auto second = client_.start(doubled, "", 1, {.request_id = "r"});
  EXPECT_EQ(second.id(), first.id()) << "the id that was made the first time";
  EXPECT_EQ(second.execution(), 1);
  run();
  EXPECT_EQ(client_.start(doubled, "another", 9, {.request_id = "r"}).wait(kPatience), 2);
  EXPECT_EQ(client_.list().runs.size(), 1U);
}

TEST_P(Requests, AnEventIsRaisedOnce) {
  const auto run = client_.start(greeter, "a");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(client_.raise_event("a", guest, "ann", {.request_id = "r"}),
              EventDelivered::kDelivered);
  }
  this->run();
  EXPECT_EQ(run.status().status, ExecutionStatus::kRunning) << "it waits for the second guest";
}

TEST_P(Requests, ACancelAnswersAsTheFirstTime) {
  client_.start(greeter, "a");
  run();
  for (int i = 0; i < 2; ++i) {
    const CancelResult answer = client_.cancel("a", "why", "r");
    EXPECT_TRUE(answer.changed);
    EXPECT_EQ(answer.status, ExecutionStatus::kCanceling);
    run();
  }
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(client_.terminate("a", "why", "t").changed);
}

TEST_P(Requests, ADeleteSparesTheNextRunOfTheId) {
  client_.start(greeter, "a");
  EXPECT_EQ(client_.remove("a", {.force = true, .request_id = "r"}).runs, 1);
  client_.start(greeter, "a");
  EXPECT_EQ(client_.remove("a", {.force = true, .request_id = "r"}).runs, 1);
  EXPECT_EQ(client_.status("a").status, ExecutionStatus::kRunning);
}

TEST_P(Requests, OfAnotherKindAreRefused) {
  client_.start(greeter, "a", {.request_id = "r"});
  EXPECT_TRUE(contains(message_of<InvalidArgument>([&] { client_.cancel("a", "why", "r"); }),
                       "request_id 'r'"));
  EXPECT_THROW(client_.prune("a", {.request_id = "r"}), InvalidArgument);
}

TEST_P(Requests, WithoutAnIdAreCallsOfTheirOwn) {
  const auto run = client_.start(greeter, "a");
  client_.raise_event("a", guest, "ann");
  client_.raise_event("a", guest, "ann");
  this->run();
  EXPECT_EQ(run.wait(kPatience), "ann and ann");
}

PERDURE_CLIENT_SUITE(Requests);

}  // namespace

}  // namespace perdure::test::requests_test
