#include "tests/client/messages_fixture.h"

/// Questions to runs, live and ended.
namespace perdure::test::queries_test {

namespace {

using namespace messages;

class Queries : public Served<ClientTest> {
 protected:
  /// Asks a run that has ended, by this runtime and by one that has nothing of it in memory.
  void expect_known(const std::string& id, const std::vector<int>& has) {
    for (int i = 0; i < 2; ++i) {
      const auto before = history(id);
      EXPECT_EQ(client_.query(id, taken), has) << id;
      EXPECT_EQ(client_.query(id, total_and, 1000), client_.query(id, total) + 1000) << id;
      EXPECT_EQ(history(id), before) << "no trace of it";
      stop_serving();
      serve();
    }
  }
};

TEST_P(Queries, AreAnsweredWhileMainWaits) {
  serve();
  begun("a", 5);
  EXPECT_EQ(client_.query("a", total), 5);
  EXPECT_EQ(client_.query("a", total_and, 10), 15);
  client_.signal("a", put, 7);
  EXPECT_EQ(client_.query("a", total), 12) << "what was told before is known";
  EXPECT_EQ(client_.query("a", taken), (std::vector<int>{5, 7}));
}

TEST_P(Queries, LeaveNoTrace) {
  serve();
  begun("a", 5);
  const auto before = history("a");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(client_.query("a", total), 5);
  EXPECT_EQ(failure_of<QueryFailed>([&] { client_.query("a", sick); }), "dizzy");
  EXPECT_THROW(client_.query("a", no_query), UnknownHandler);
  EXPECT_EQ(history("a"), before);
  EXPECT_EQ(client_.status("a").blocked, "");
}

TEST_P(Queries, MayBeTheFirstThatARunHears) {
  serve();
  client_.start(till, "a", 5);
  EXPECT_EQ(client_.query("a", total), 5) << "main has begun when it is answered";
}

TEST_P(Queries, OfManyAreAllAnswered) {
  serve();
  for (int i = 0; i < 4; ++i) begun(std::to_string(i), i);
  close("0", "done");
  client_.wait("0", kPatience);
  std::vector<std::future<int>> asking;
  for (int i = 0; i < 40; ++i) {
    asking.push_back(std::async(std::launch::async, [client = client_, i] {
      return client.query(std::to_string(i % 4), total_and, 100 * i, {.timeout = kPatience});
    }));
  }
  for (int i = 0; i < 40; ++i) EXPECT_EQ(asking.at(i).get(), 100 * i + i % 4);
}

TEST_P(Queries, TellOfARunThatHasCompleted) {
  serve();
  begun("a", 5);
  client_.update("a", order, 4);
  close("a", "done");
  EXPECT_EQ(client_.wait("a", kPatience).status, ExecutionStatus::kCompleted);
  expect_known("a", {5, 8});
}

TEST_P(Queries, TellOfARunThatHasFailed) {
  serve();
  begun("a", 5);
  client_.signal("a", put, 6);
  close("a", "fail");
  EXPECT_EQ(client_.wait("a", kPatience).status, ExecutionStatus::kFailed);
  expect_known("a", {5, 6});
}

TEST_P(Queries, TellOfARunThatWasCanceled) {
  serve();
  begun("a", 5);
  client_.signal("a", put, 6);
  EXPECT_EQ(client_.query("a", total), 11);
  client_.cancel("a", "why");
  EXPECT_EQ(client_.wait("a", kPatience).status, ExecutionStatus::kCanceled);
  expect_known("a", {5, 6});
}

TEST_P(Queries, TellOfARunThatWasTerminated) {
  serve();
  begun("a", 5);
  client_.update("a", order, 3);
  client_.start_update("a", ponder, 100);
  client_.terminate("a", "why");
  EXPECT_EQ(client_.wait("a", kPatience).status, ExecutionStatus::kTerminated);
  expect_known("a", {5, 6});
}

TEST_P(Queries, OfARunThatContinuedAsNewAreForItsLastExecution) {
  serve();
  begun("a", 5);
  client_.signal("a", put, 6);
  close("a", "again");
  wait_until([&] { return client_.status("a").execution == 2; }, "the next execution");
  EXPECT_EQ(client_.query("a", taken), (std::vector<int>{11}));
  client_.signal("a", put, 1);
  close("a", "again");
  wait_until([&] { return client_.status("a").execution == 3; }, "the third");
  close("a", "done");
  EXPECT_EQ(client_.find<int>("a").wait(kPatience), 12);
  expect_known("a", {12});
}

TEST_P(Queries, WaitForTheNextExecution) {
  serve();
  begun("a", 5);
  stop_serving();
  close("a", "again");
  EXPECT_THROW(client_.query("a", total, {.timeout = 1ms}), Unavailable);
  auto asking = std::async(std::launch::async, [client = client_] {
    return client.query("a", taken, {.timeout = kPatience});
  });
  serve();
  EXPECT_EQ(asking.get(), (std::vector<int>{5}));
}

TEST_P(Queries, OfARunWithoutAFirstTurnHaveNoAnswer) {
  client_.start(till, "a", 5);
  client_.terminate("a", "at once");
  serve();
  EXPECT_EQ(message_of<RunEnded>([&] { client_.query("a", total); }),
            "the run ended before its code had begun");
}

TEST_P(Queries, ThatFailSayHow) {
  serve();
  begun("a", 5);
  EXPECT_EQ(failure_of<QueryFailed>([&] { client_.query("a", sick); }), "dizzy");
  EXPECT_EQ(client_.query("a", total), 5);
  close("a", "done");
  client_.wait("a", kPatience);
  EXPECT_EQ(failure_of<QueryFailed>([&] { client_.query("a", sick); }), "dizzy");
  EXPECT_EQ(client_.query("a", total), 5);
}

TEST_P(Queries, ThatNobodyServesTimeOut) {
  client_.start(till, "a", 5);
  const std::string message =
      message_of<Unavailable>([&] { client_.query("a", total, {.timeout = 20ms}); });
  EXPECT_TRUE(contains(message, "of run 'a' was not taken within 20 ms: is there a worker"))
      << message;
  client_.terminate("a", "why");
  EXPECT_THROW(client_.query("a", total, {.timeout = 20ms}), Unavailable);
}

TEST_P(Queries, WaitForARuntime) {
  serve();
  begun("live", 5);
  begun("ended", 6);
  close("ended", "done");
  client_.wait("ended", kPatience);
  stop_serving();
  std::vector<std::future<int>> asking;
  for (const char* id : {"live", "ended"}) {
    asking.push_back(std::async(std::launch::async, [client = client_, id] {
      return client.query(id, total, {.timeout = kPatience});
    }));
  }
  serve();
  EXPECT_EQ(asking.at(0).get(), 5);
  EXPECT_EQ(asking.at(1).get(), 6);
}

TEST_P(Queries, AreAnsweredWhenTheRunEndsMeanwhile) {
  serve();
  begun("a", 5);
  stop_serving();
  auto asking = std::async(std::launch::async, [client = client_] {
    return client.query("a", total, {.timeout = kPatience});
  });
  client_.terminate("a", "meanwhile");  // whichever comes first
  serve();
  EXPECT_EQ(asking.get(), 5);
}

TEST_P(Queries, OfARunThatIsRemovedMeanwhileAreNotFound) {
  client_.start(till, "a", 5);
  auto asking = std::async(std::launch::async, [client = client_] {
    return client.query("a", total, {.timeout = kPatience});
  });
  client_.remove("a", {.force = true});
  EXPECT_THROW(asking.get(), NotFound);
}

/// Main of other code: it cannot have led to the same history.
Task<int> run_other(OrchestrationContext& ctx, int begin, Till& state) {
  state.taken.push_back(begin);
  co_await ctx.call(twice, begin);
  co_return 0;
}

TEST_P(Queries, OfARunWhoseCodeHasChangedSaySo) {
  serve();
  begun("a", 5);
  close("a", "done");
  client_.wait("a", kPatience);
  stop_serving();
  Registry other;
  other.add(till, run_other)
      .signal(close_as, [](Till&, std::string) {})
      .query(total, [](const Till& state) { return state.sum(); });
  serve(other);
  EXPECT_EQ(failure_of<QueryFailed>([&] { client_.query("a", total); }), "nondeterminism");
  EXPECT_EQ(client_.status("a").status, ExecutionStatus::kCompleted);
  EXPECT_EQ(client_.status("a").blocked, "");
}

PERDURE_CLIENT_SUITE(Queries);

}  // namespace

}  // namespace perdure::test::queries_test
