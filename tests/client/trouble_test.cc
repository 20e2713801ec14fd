#include "base/failpoint.h"
#include "provider/forwarding_provider.h"
#include "tests/client/client_fixture.h"

namespace perdure::test::trouble_test {

namespace {

using failpoint::Action;

/// A store that fails, is held by others, or does not answer.
class Trouble : public ClientOnFile {
 protected:
  ~Trouble() override { failpoint::disarm_all(); }

  static Action fails(ErrorCode code, int times) {
    return {.kind = Action::Kind::kFail, .error = {code, "injected"}, .times = times};
  }

  /// Another user of the file, who stands still inside a write transaction until it is released.
  std::future<void> hold_the_file() {
    failpoint::arm("sqlite.begin.after", {.kind = Action::Kind::kPause});
    auto holding = std::async(std::launch::async, [path = path_] {
      Client(open("sqlite:" + path)).start(greeter, "of-the-other");
    });
    EXPECT_TRUE(failpoint::wait_until_paused("sqlite.begin.after", 60s));
    return holding;
  }

  static void wait_for_tries(int more) {
    const int seen = failpoint::hits("sqlite.begin.before");
    while (failpoint::hits("sqlite.begin.before") < seen + more) std::this_thread::yield();
  }
};

TEST_F(Trouble, OfTheStoreIsWaitedOut) {
  const failpoint::Scoped down("sqlite.begin.before", fails(ErrorCode::kUnavailable, 5));
  client_.start(greeter, "a");
  EXPECT_EQ(client_.status("a").status, ExecutionStatus::kRunning);
  EXPECT_GE(failpoint::hits("sqlite.begin.before"), 6);
}

TEST_F(Trouble, AStoreThatIsBackInTimeIsEnough) {
  auto holding = hold_the_file();
  auto starting = std::async(std::launch::async,
                             [client = client_] { return client.start(greeter, "a").id(); });
  wait_for_tries(5);
  EXPECT_EQ(starting.wait_for(0s), std::future_status::timeout);
  failpoint::release("sqlite.begin.after");
  EXPECT_EQ(starting.get(), "a");
  holding.get();
  EXPECT_EQ(client_.list().runs.size(), 2U);
}

TEST_F(Trouble, ReadsDoNotWaitForAWriterWhoStandsStill) {
  client_.start(greeter, "a");
  auto holding = hold_the_file();
  EXPECT_EQ(client_.status("a").status, ExecutionStatus::kRunning);
  EXPECT_EQ(client_.list().runs.size(), 1U);
  EXPECT_EQ(client_.history("a").events.size(), 1U);
  failpoint::release("sqlite.begin.after");
  holding.get();
}

TEST_F(Trouble, IsToldWhenTimeRunsOutAndNothingWasChanged) {
  auto holding = hold_the_file();
  const std::string message =
      message_of<Unavailable>([&] { client_.within(50ms).start(greeter, "a"); });
  EXPECT_TRUE(contains(message, "nothing was changed")) << message;
  EXPECT_TRUE(contains(message, "50 ms")) << message;
  failpoint::release("sqlite.begin.after");
  holding.get();
  EXPECT_THROW(client_.status("a"), NotFound);
}

TEST_F(Trouble, AnAnswerThatIsLostIsAskedForAgain) {
  const auto run = client_.start(greeter, "a");
  {
    // Committed, and the answer says that this is not known.
    const failpoint::Scoped lost("sqlite.answer.before", fails(ErrorCode::kUnavailable, 1));
    EXPECT_EQ(client_.raise_event("a", guest, "ann"), EventDelivered::kDelivered);
  }
  {
    const failpoint::Scoped lost("sqlite.answer.before", fails(ErrorCode::kUnavailable, 2));
    EXPECT_EQ(client_.start(doubled, "", 1).execution(), 1);
  }
  EXPECT_EQ(client_.list().runs.size(), 2U);
  Engine(store_).run();
  EXPECT_EQ(run.status().status, ExecutionStatus::kRunning) << "one guest has come, not two";
  {
    const failpoint::Scoped lost("sqlite.answer.before", fails(ErrorCode::kUnavailable, 1));
    EXPECT_TRUE(client_.cancel("a", "why").changed) << "as the lost answer said";
  }
  {
    const failpoint::Scoped lost("sqlite.answer.before", fails(ErrorCode::kUnavailable, 1));
    EXPECT_EQ(client_.remove("a", {.force = true}).runs, 1);
  }
}

TEST_F(Trouble, AnUnknownOutcomeSaysSoAndHowToGoOn) {
  std::string message;
  {
    const failpoint::Scoped lost("sqlite.answer.before", fails(ErrorCode::kUnavailable, -1));
    message = message_of<Unavailable>(
        [&] { client_.within(3s).start(doubled, "a", 1, {.request_id = "mine"}); });
  }
  EXPECT_TRUE(contains(message, "it is not known whether the call took place")) << message;
  EXPECT_TRUE(contains(message, "repeat it with request_id 'mine'")) << message;
  EXPECT_EQ(client_.start(doubled, "a", 1, {.request_id = "mine"}).execution(), 1);
  EXPECT_EQ(client_.list().runs.size(), 1U);
}

/// A store whose answers never come.
class Silent final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  using ForwardingProvider::submit;
  void submit(CancelOrchestration, Completion<CancelAnswer>, CallOptions) override {}
};

TEST_F(Trouble, AStoreThatNeverAnswersDoesNotHoldTheCaller) {
  client_.start(greeter, "a");
  const Client client(std::make_shared<Silent>(*store_), {.call_timeout = 20ms});
  const std::string message = message_of<Unavailable>([&] { client.cancel("a", "why"); });
  EXPECT_TRUE(contains(message, "it is not known whether the call took place")) << message;
  EXPECT_TRUE(contains(message, "request_id 'auto-")) << message;
}

/// Counts the looks at a run, some of which fail.
class Watched final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  Result<InstanceInfo> get_instance(const std::string& id) override {
    if (++looks <= failing) return unavailable("down");
    return target().get_instance(id);
  }
  std::atomic<int> looks{0};
  int failing = 0;
};

TEST_F(Trouble, AWaitLooksOnlyWhenSomethingHasChanged) {
  client_.start(greeter, "a");
  const auto watched = std::make_shared<Watched>(*store_);
  EXPECT_THROW(Client(watched).wait("a", 400ms), Unavailable);
  EXPECT_EQ(watched->looks, 1);
}

TEST_F(Trouble, AWaitSitsOutTroubleWithTheStore) {
  client_.start(greeter, "a");
  client_.terminate("a", "over");
  const auto watched = std::make_shared<Watched>(*store_);
  watched->failing = 5;
  EXPECT_EQ(Client(watched).wait("a", kPatience).cancel_reason, "over");
  EXPECT_EQ(watched->looks, 6);
}

}  // namespace

}  // namespace perdure::test::trouble_test
