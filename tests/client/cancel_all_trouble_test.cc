#include <functional>
#include <utility>

#include "base/failpoint.h"
#include "provider/forwarding_provider.h"
#include "tests/client/client_fixture.h"

namespace perdure::test::cancel_all_trouble_test {

namespace {

using Ids = std::vector<std::string>;

/// Of calls that fail in the end; what succeeds on the way takes far less.
constexpr Duration kSoon = 3s;

/// A store that does something else at each cancel.
class Disturbed final : public ForwardingProvider {
 public:
  enum class What { kHandOn, kRefuse, kSwallow };
  using Before = std::function<What(const std::string& id)>;

  Disturbed(Provider& target, Before before)
      : ForwardingProvider(target), before_(std::move(before)) {}

  using ForwardingProvider::submit;
  void submit(CancelOrchestration request,
              Completion<CancelAnswer> done,
              CallOptions options) override {
    switch (before_(request.id)) {
      case What::kHandOn:
        return target().submit(std::move(request), std::move(done), options);
      case What::kRefuse:
        return done(unavailable("down"));
      case What::kSwallow:
        return;
    }
  }

 private:
  const Before before_;
};

using What = Disturbed::What;

/// Runs that come, end and go while a cancel of many is under way, and a store that fails then.
class CancelAllInTrouble : public ClientOnFile {
 protected:
  ~CancelAllInTrouble() override { failpoint::disarm_all(); }

  void start_greeters(int count) {
    for (int i = 0; i < count; ++i) client_.start(greeter, "a" + std::to_string(i));
    Engine(store_).run();
  }
  Client disturbed(Disturbed::Before before, Duration call_timeout = 30s) {
    return Client(std::make_shared<Disturbed>(*store_, std::move(before)),
                  {.call_timeout = call_timeout});
  }
  ExecutionStatus status(const std::string& id) { return client_.status(id).status; }

  const RunFilter all_{.name = "greeter"};
};

TEST_F(CancelAllInTrouble, RunsThatBeginMeanwhileAreLeftAlone) {
  start_greeters(3);
  int begun = 0;
  const Client client = disturbed([&](const std::string&) {
    client_.start(greeter, "new-" + std::to_string(begun++));
    return What::kHandOn;
  });
  EXPECT_EQ(client.cancel_all(all_, "x").ids, (Ids{"a0", "a1", "a2"}));
  ASSERT_EQ(begun, 3);
  for (int i = 0; i < begun; ++i) {
    EXPECT_EQ(status("new-" + std::to_string(i)), ExecutionStatus::kRunning);
  }
}

TEST_F(CancelAllInTrouble, RunsThatEndOrGoMeanwhileAreCounted) {
  start_greeters(4);
  const Client client = disturbed([&](const std::string& id) {
    if (id == "a0") {
      client_.terminate("a1", "sooner");
      client_.remove("a2", {.force = true});
    }
    return What::kHandOn;
  });
  const RunsCanceled done = client.cancel_all(all_, "x");
  EXPECT_EQ(done.ids, (Ids{"a0", "a3"}));
  EXPECT_EQ(done.canceled, 2);
  EXPECT_EQ(done.ended, 1);
  EXPECT_EQ(done.gone, 1);
  EXPECT_EQ(client_.status("a1").cancel_reason, "sooner");
}

TEST_F(CancelAllInTrouble, AnErrorTellsHowFarItGotAndTheNextCallGoesOn) {
  start_greeters(6);
  // Portions of 1, 2 and 4: of the third one the first run is reached.
  const Client client = disturbed(
      [](const std::string& id) { return id <= "a3" ? What::kHandOn : What::kRefuse; }, kSoon);
  try {
    (void)client.cancel_all(all_, "x");
    FAIL() << "nothing thrown";
  } catch (const CancelAllStopped& stopped) {
    EXPECT_EQ(stopped.done().canceled, 4);
    EXPECT_EQ(stopped.done().ids, (Ids{"a0", "a1", "a2", "a3"}));
    EXPECT_EQ(stopped.done().unknown, 0);
    const std::string message = stopped.what();
    EXPECT_TRUE(contains(message, "canceled so far: 4")) << message;
    EXPECT_TRUE(contains(message, "down")) << message;
    EXPECT_TRUE(contains(message, "call again")) << message;
  }
  EXPECT_EQ(status("a4"), ExecutionStatus::kRunning);
  EXPECT_EQ(status("a5"), ExecutionStatus::kRunning);

  const RunsCanceled rest = client_.cancel_all(all_, "x");
  EXPECT_EQ(rest.ids, (Ids{"a4", "a5"}));
  EXPECT_EQ(rest.canceling, 4);
}

TEST_F(CancelAllInTrouble, TroubleThatPassesIsWaitedOut) {
  start_greeters(5);
  int refused = 0;
  const Client client = disturbed([&](const std::string& id) {
    return id == "a2" && refused++ < 3 ? What::kRefuse : What::kHandOn;
  });
  EXPECT_EQ(client.cancel_all(all_, "x").canceled, 5);
  EXPECT_EQ(refused, 4);
}

TEST_F(CancelAllInTrouble, WhatIsNotAnsweredIsNotCountedAsDone) {
  start_greeters(3);
  const Client client = disturbed(
      [](const std::string& id) { return id == "a1" ? What::kSwallow : What::kHandOn; }, kSoon);
  try {
    (void)client.cancel_all(all_, "x");
    FAIL() << "nothing thrown";
  } catch (const CancelAllStopped& stopped) {
    EXPECT_EQ(stopped.done().ids, (Ids{"a0", "a2"}));
    EXPECT_EQ(stopped.done().unknown, 1);
    EXPECT_TRUE(contains(stopped.what(), "not known: 1")) << stopped.what();
  }
  EXPECT_EQ(client_.cancel_all(all_, "x").ids, (Ids{"a1"}));
}

TEST_F(CancelAllInTrouble, AnswersThatAreLostAreAskedForAgain) {
  start_greeters(7);
  // Committed, and the answer says that this is not known.
  const failpoint::Scoped lost("sqlite.answer.before",
                               {.kind = failpoint::Action::Kind::kFail,
                                .error = {ErrorCode::kUnavailable, "injected"},
                                .times = 2});
  const RunsCanceled done = client_.cancel_all(all_, "x");
  EXPECT_EQ(done.canceled, 7) << "as the lost answers said";
  EXPECT_EQ(done.canceling, 0);
}

/// A store whose lists fail.
class Unlisted final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  Result<InstancePage> list_instances(const ListInstances& request) override {
    if (--left < 0) return unavailable("no list");
    return target().list_instances(request);
  }
  int left = 0;
};

TEST_F(CancelAllInTrouble, AStoreThatCannotBeListedIsToldByBoth) {
  start_greeters(2);
  const auto store = std::make_shared<Unlisted>(*store_);
  const Client client(store, {.call_timeout = 20ms});
  EXPECT_TRUE(contains(message_of<Unavailable>([&] { client.preview_cancel_all(all_); }), "list"));
  EXPECT_THROW(client.cancel_all(all_, "x"), CancelAllStopped);
  store->left = 1;  // the first look succeeds, the second one fails
  EXPECT_TRUE(contains(message_of<CancelAllStopped>([&] { client.cancel_all(all_, "x"); }),
                       "canceled so far: 0"));
  EXPECT_EQ(status("a0"), ExecutionStatus::kRunning);
}

/// A store that says of each cancel how many descendants it reached, and keeps how many cancels it
/// got at once.
class Counting final : public ForwardingProvider {
 public:
  Counting(Provider& target, std::int64_t descendants)
      : ForwardingProvider(target), descendants_(descendants) {}

  using ForwardingProvider::submit;
  void submit(CancelOrchestration, Completion<CancelAnswer> done, CallOptions) override {
    waiting_.push_back(std::move(done));
  }
  bool has_writer_thread() const override { return false; }
  bool poll_once() override {
    if (waiting_.empty()) return false;
    portions.push_back(waiting_.size());
    for (auto& done : std::exchange(waiting_, {})) {
      done(CancelAnswer{.changed = true, .descendants = descendants_});
    }
    return true;
  }

  std::vector<std::size_t> portions;

 private:
  const std::int64_t descendants_;
  std::vector<Completion<CancelAnswer>> waiting_;
};

TEST_F(CancelAllInTrouble, PortionsAreSmallWhereTreesAreLarge) {
  start_greeters(20);
  const auto leaves = std::make_shared<Counting>(*store_, 0);
  EXPECT_EQ(Client(leaves).cancel_all(all_, "x").canceled, 20);
  EXPECT_EQ(leaves->portions, (std::vector<std::size_t>{1, 2, 4, 8, 5}));
  const auto trees = std::make_shared<Counting>(*store_, 1'001);
  EXPECT_EQ(Client(trees).cancel_all(all_, "x").canceled, 20);
  EXPECT_EQ(trees->portions, std::vector<std::size_t>(20, 1));
}

}  // namespace

}  // namespace perdure::test::cancel_all_trouble_test
