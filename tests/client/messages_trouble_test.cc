#include "base/failpoint.h"
#include "provider/forwarding_provider.h"
#include "tests/client/messages_fixture.h"

/// Updates and queries over a store that fails or is shared.
namespace perdure::test::messages_trouble_test {

namespace {

using namespace messages;
using failpoint::Action;

class MessageTrouble : public Served<ClientOnFile> {
 protected:
  ~MessageTrouble() override { failpoint::disarm_all(); }

  static Action fails(ErrorCode code, int times) {
    return {.kind = Action::Kind::kFail, .error = {code, "injected"}, .times = times};
  }
};

/// A store that loses answers to requests after they were committed, and counts.
class Lossy final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  using ForwardingProvider::submit;
  void submit(MakeRequest request, Completion<RequestState> done, CallOptions options) override {
    ++made;
    target().submit(
        std::move(request),
        [this, done = std::move(done)](Result<RequestState> answer) {
          if (answer.ok() && to_lose-- > 0) answer = commit_unknown("lost");
          done(std::move(answer));
        },
        options);
  }
  Result<RequestState> get_request(const RequestQuery& query) override {
    ++looks;
    if (failing-- > 0) return unavailable("down");
    return target().get_request(query);
  }
  std::atomic<int> made{0};
  std::atomic<int> looks{0};
  std::atomic<int> to_lose{0};  ///< so many answers
  std::atomic<int> failing{0};  ///< so many looks
};

TEST_F(MessageTrouble, AnAnswerThatIsLostIsAskedForAgainAndAppliedOnce) {
  serve();
  begun("a", 5);
  const auto lossy = std::make_shared<Lossy>(*store_);
  lossy->to_lose = 3;
  EXPECT_EQ(Client(lossy).update("a", add, 1), 6);
  EXPECT_EQ(lossy->made, 4) << "with the same id";
  EXPECT_EQ(client_.query("a", taken), (std::vector<int>{5, 1}));
  EXPECT_EQ(count("a", "update_accepted"), 1);
  lossy->to_lose = 3;
  EXPECT_EQ(Client(lossy).query("a", total), 6);
}

TEST_F(MessageTrouble, OfTheStoreIsWaitedOut) {
  client_.start(till, "a", 5);
  auto updating = [&] {
    // Nobody else writes: the failures are those of this call.
    const failpoint::Scoped down("sqlite.begin.before", fails(ErrorCode::kUnavailable, 3));
    const failpoint::Scoped lost("sqlite.answer.before", fails(ErrorCode::kUnavailable, 2));
    auto update = std::async(std::launch::async, [client = client_] {
      return client.update("a", add, 1, {.update_id = "u", .timeout = kPatience});
    });
    wait_until([] { return failpoint::hits("sqlite.answer.before") >= 3; }, "the third answer");
    return update;
  }();
  serve();
  EXPECT_EQ(updating.get(), 1) << "before main";
  EXPECT_EQ(client_.query("a", total), 6);
  EXPECT_EQ(count("a", "update_accepted"), 1);
}

TEST_F(MessageTrouble, AnUnknownOutcomeNamesTheUpdate) {
  serve();
  begun("a", 5);
  const auto lossy = std::make_shared<Lossy>(*store_);
  lossy->to_lose = 1'000'000;
  const Client client(lossy, {.call_timeout = 20ms});
  const std::string message =
      message_of<Unavailable>([&] { client.update("a", add, 1, {.update_id = "mine"}); });
  EXPECT_TRUE(contains(message, "it is not known whether the call took place")) << message;
  EXPECT_TRUE(contains(message, "'mine'")) << message;
  EXPECT_EQ(client_.update("a", add, 1, {.update_id = "mine"}), 6);
  EXPECT_EQ(client_.query("a", total), 6);
}

TEST_F(MessageTrouble, OfReadsIsSatOutByAWait) {
  serve();
  begun("a", 5);
  const auto lossy = std::make_shared<Lossy>(*store_);
  lossy->failing = 5;
  EXPECT_EQ(Client(lossy).update("a", add, 1, {.timeout = kPatience}), 6);
  EXPECT_GE(lossy->looks, 6);
}

TEST_F(MessageTrouble, AWaitLooksOnlyWhenSomethingHasChanged) {
  client_.start(till, "a", 5);
  const auto watched = std::make_shared<Lossy>(*store_);
  const Client watching(watched);
  EXPECT_THROW(watching.update("a", add, 1, {.timeout = 400ms}), Unavailable);
  EXPECT_EQ(watched->looks, 1);
  watched->looks = 0;
  EXPECT_THROW(watching.query("a", total, {.timeout = 400ms}), Unavailable);
  EXPECT_EQ(watched->looks, 1);
}

TEST_F(MessageTrouble, AWaitIsWokenByItsOwnRunAlone) {
  serve();
  begun("a", 5);
  client_.start_update("a", ponder, 1, {.update_id = "u"});
  const auto watched = std::make_shared<Lossy>(*store_);
  auto waiting = std::async(std::launch::async, [client = Client(watched)] {
    return client.find_update<int>("a", "u").wait(kPatience);
  });
  wait_until([&] { return watched->looks == 1; }, "the first look");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(client_.start(doubled, "other-" + std::to_string(i), i).wait(kPatience), 2 * i);
  }
  EXPECT_EQ(watched->looks, 1);
  client_.signal("a", release);
  EXPECT_EQ(waiting.get(), 6);
  EXPECT_EQ(watched->looks, 2);
}

TEST_F(MessageTrouble, AnotherUserOfTheFileSeesAndServesTheSame) {
  const Client other(open("sqlite:" + path_));
  serve();
  begun("a", 5);
  client_.start_update("a", ponder, 1, {.update_id = "u"});
  auto waiting = std::async(std::launch::async,
                            [&] { return other.find_update<int>("a", "u").wait(kPatience); });
  other.signal("a", put, 10);
  EXPECT_EQ(other.update("a", add, 100), 115);
  EXPECT_EQ(other.query("a", total), 115);
  other.signal("a", release);
  EXPECT_EQ(waiting.get(), 116);
  EXPECT_EQ(other.update("a", ponder, 1, {.update_id = "u"}), 116);
  other.signal("a", close_as, "done");
  EXPECT_EQ(other.find<int>("a").wait(kPatience), 116);
  EXPECT_EQ(other.query("a", total), 116) << "of an ended run";
  EXPECT_THROW(other.update("a", add, 1), RunEnded);
}

TEST_F(MessageTrouble, AStoreThatIsOpenedAgainHasTheAnswers) {
  serve();
  begun("a", 5);
  EXPECT_EQ(client_.update("a", add, 1, {.update_id = "u"}), 6);
  client_.start_update("a", ponder, 1, {.update_id = "v"});
  stop_serving();
  client_ = Client(open("sqlite:" + path_));
  store_ = open("sqlite:" + path_);
  serve();
  EXPECT_EQ(client_.find_update<int>("a", "u").wait(kPatience), 6);
  client_.signal("a", release);
  EXPECT_EQ(client_.find_update<int>("a", "v").wait(kPatience), 7) << "by a replay";
}

}  // namespace

}  // namespace perdure::test::messages_trouble_test
