#include <functional>
#include <future>
#include <string>
#include <vector>

#include <perdure/client.h>

#include "tests/live/live_fixture.h"
#include "tests/live/log_lines.h"

/// Updates and queries whose runtime has trouble: with the store, or with their code.
namespace perdure::test::messages_trouble_test {

namespace {

/// What handlers and test tell each other. Shared, since a handler may outlive a test.
struct Talk {
  Gate door;                     ///< a query that blocks may go on
  std::atomic<int> to_block{0};  ///< so many more queries
};

std::shared_ptr<Talk> talk;

struct Sum {
  int value = 0;
  bool closed = false;
};

constexpr Orchestration<int()> adder{"adder"};
constexpr Orchestration<int()> reporter{"reporter"};
constexpr Activity<int(std::string)> report{"report"};
constexpr Update<int(int)> add{"add"};
constexpr Signal<void> close_it{"close"};
constexpr Query<int()> sum{"sum"};
constexpr Query<int()> stare{"stare"};

Task<int> run_adder(OrchestrationContext& ctx, Sum& state) {
  co_await ctx.until([&] { return state.closed; });
  co_return state.value;
}

/// Its activity talks to it.
Task<int> run_reporter(OrchestrationContext& ctx, Sum& state) {
  const std::string id = ctx.instance_id();
  const int told = co_await ctx.call(report, id);
  co_return 1000 * told + state.value;
}

int add_it(Sum& state, int more) {
  return state.value += more;
}

int stare_at(const Sum& state) {
  const std::shared_ptr<Talk> mine = talk;
  if (mine->to_block-- > 0) {
    EXPECT_TRUE(mine->door.wait());
  }
  return state.value;
}

template <class Main>
void add_to(Registry& registry, const Orchestration<int()>& orchestration, Main main) {
  registry.add(orchestration, main)
      .update(add, add_it)
      .signal(close_it, [](Sum& state) { state.closed = true; })
      .query(sum, [](const Sum& state) { return state.value; })
      .query(stare, stare_at);
}

class LiveMessageTrouble : public Live {
 protected:
  LiveMessageTrouble() {
    talk = talk_;
    add_to(registry_, adder, run_adder);
    add_to(registry_, reporter, run_reporter);
    registry_.add(report, [client = client_](const std::string& id) {
      int told = 0;
      for (int i = 1; i <= 5; ++i) told = client.update(id, add, i, {.timeout = kHanging});
      EXPECT_EQ(client.query(id, sum, {.timeout = kHanging}), told);
      return told;
    });
  }
  ~LiveMessageTrouble() override {
    talk_->door.open();
    runtime_.reset();
  }

  static RuntimeOptions limited() {
    RuntimeOptions options = Live::options();
    options.orchestration_deadlock_timeout = 50ms;
    options.replay_check_fraction = 0.0;
    options.zombie_shutdown_timeout = 0ms;
    return options;
  }
  /// A run that has ended with this sum.
  void ended(const std::string& id, int value) {
    start(adder, id);
    EXPECT_EQ(client_.update(id, add, value), value);
    client_.signal(id, close_it);
    EXPECT_EQ(end_of(id).output, std::to_string(value));
  }

  /// Of the failure that the query ends with; empty: it is answered.
  static std::string failure_type(const std::function<void()>& query) {
    try {
      query();
      return {};
    } catch (const QueryFailed& error) {
      return error.failure().type;
    }
  }

  const std::shared_ptr<Talk> talk_ = std::make_shared<Talk>();
  Client client_{store()};
  LogLines log_;
};

TEST_F(LiveMessageTrouble, AnActivityTalksToItsOwnRun) {
  run();
  start(reporter, "r");
  EXPECT_EQ(end_of("r").output, "15015");
}

TEST_F(LiveMessageTrouble, TurnsWhoseAnswerIsLostAreNotDoneTwice) {
  run();
  start(adder, "a");
  for (int i = 1; i <= 20; ++i) {
    store_.acks_to_lose = 1;
    EXPECT_EQ(client_.update("a", add, 1, {.timeout = kHanging}), i);
  }
  wait_for([&] { return store_.acks_to_lose == 0; }, "the last loss");
  EXPECT_EQ(client_.query("a", sum, {.timeout = kHanging}), 20);
}

TEST_F(LiveMessageTrouble, AStoreThatIsDownForAWhileDelaysUpdates) {
  run();
  start(adder, "a");
  EXPECT_EQ(client_.update("a", add, 1), 1);
  store_.down = true;
  auto waiting = std::async(std::launch::async, [client = client_] {
    return client.update("a", add, 2, {.timeout = kHanging});
  });
  const int asked = store_.asked;
  wait_for([&] { return store_.asked > asked + 10; }, "tries");
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  store_.down = false;
  EXPECT_EQ(waiting.get(), 3);
}

/// A store that does not take the next commits of turns.
class Refusing final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  using ForwardingProvider::submit;
  void submit(AckOrchestrationItems request,
              Completion<Batch<TurnCommitted>> done,
              CallOptions options) override {
    if (to_refuse.load() > 0 && to_refuse.fetch_sub(1) > 0) return done(unavailable("not now"));
    target().submit(std::move(request), std::move(done), options);
  }
  std::atomic<int> to_refuse{0};
};

TEST_F(LiveMessageTrouble, AQueryIsAnsweredAlthoughItsFirstCommitFails) {
  const auto refusing = std::make_shared<Refusing>(*real_);
  runtime_ = std::make_unique<Runtime>(refusing, registry_, options());
  start(adder, "live");
  EXPECT_EQ(client_.update("live", add, 3), 3);
  ended("ended", 4);
  refusing->to_refuse = 1;
  EXPECT_EQ(client_.query("live", sum), 3);
  EXPECT_EQ(refusing->to_refuse, 0);
  refusing->to_refuse = 1;
  EXPECT_EQ(client_.query("ended", sum), 4) << "within the time of a query";
  EXPECT_EQ(refusing->to_refuse, 0);
  runtime_.reset();
}

TEST_F(LiveMessageTrouble, AQueryThatBlockedAndExpiredIsNotRunAgain) {
  run(limited());
  start(adder, "a");
  EXPECT_EQ(client_.update("a", add, 3), 3);
  talk_->to_block = 1000;
  EXPECT_THROW(client_.query("a", stare, {.timeout = 200ms}), Unavailable);
  wait_for([&] { return real_->get_stats("a").value().queued_messages == 0; }, "its message to go");
  const int left = talk_->to_block;
  talk_->door.open();
  EXPECT_EQ(client_.update("a", add, 4, {.timeout = kHanging}), 7);
  EXPECT_EQ(client_.query("a", sum, {.timeout = kHanging}), 7);
  EXPECT_EQ(talk_->to_block, left) << "nobody waits for it any more";
}

TEST_F(LiveMessageTrouble, AQueryThatBlocksHarmsNoNeighbour) {
  run(limited());
  start(adder, "live");
  EXPECT_EQ(client_.update("live", add, 3), 3);
  ended("ended", 4);
  talk_->to_block = 2;
  std::vector<std::future<int>> asking;
  for (const char* id : {"live", "ended"}) {
    // The first is not answered, and must have begun by then.
    const Duration timeout = id == std::string("live") ? Duration(3s) : Duration(kHanging);
    asking.push_back(std::async(std::launch::async, [client = client_, id, timeout] {
      return client.query(id, stare, {.timeout = timeout});
    }));
  }
  wait_for([&] { return talk_->to_block <= 0; }, "both");
  start(adder, "beside");
  for (int i = 1; i <= 10; ++i) {
    EXPECT_EQ(client_.update("beside", add, 1), i);
    EXPECT_EQ(client_.query("beside", sum), i);
  }
  EXPECT_THROW(asking[0].get(), Unavailable) << "the run is blocked, and may go on";
  EXPECT_EQ(failure_type([&] { asking[1].get(); }), "deadlock") << "nothing can be waited for";
  EXPECT_EQ(failure_type([&] { client_.query("ended", sum); }), "deadlock")
      << "its code is not run again before it has returned";
  EXPECT_EQ(client_.status("ended").blocked, "");
  EXPECT_EQ(client_.status("ended").status, ExecutionStatus::kCompleted);
  talk_->door.open();
  EXPECT_EQ(client_.query("live", sum, {.timeout = kHanging}), 3);
  wait_for([&] { return failure_type([&] { client_.query("ended", sum); }).empty(); },
           "the thread to return");
  EXPECT_EQ(client_.query("ended", sum), 4);
}

}  // namespace

}  // namespace perdure::test::messages_trouble_test
