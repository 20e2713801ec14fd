#include <future>
#include <vector>

#include <perdure/client.h>

#include "tests/live/live_fixture.h"
#include "tests/live/log_lines.h"

/// Handlers of messages that run beside the end of their run, in great number, or for ever.
namespace perdure::test::messages_test {

namespace {

/// What handlers and test tell each other. Shared, since a handler may outlive a test.
struct Talk {
  Gate begun;  ///< an activity runs
  Gate done;   ///< it may end
  std::atomic<int> calls{0};
  Gate entered;  ///< an update blocks in its turn
  Gate door;     ///< it may go on
  std::atomic<int> to_block{1};
};

std::shared_ptr<Talk> talk;

struct Desk {
  std::vector<int> notes;
  bool closed = false;
  bool renewed = false;
};

constexpr Orchestration<int()> desk{"desk"};  ///< gives the number of its notes
constexpr Activity<int(int)> look_up{"look_up"};
constexpr Signal<int> note{"note"};
constexpr Signal<void> close_desk{"close"};
constexpr Signal<void> renew{"renew"};  ///< it continues as new, without its notes
constexpr Event<void> go{"go"};
constexpr Update<int(int)> file{"file"};        ///< by a call
constexpr Update<int(int)> hold{"hold"};        ///< until the event `go`
constexpr Update<int(int)> give_up{"give_up"};  ///< the same, ends with the run
constexpr Update<int(int)> block{"block"};      ///< blocks in its turn, the first time
constexpr Query<int()> count{"count"};

Task<int> run_desk(OrchestrationContext& ctx, Desk& state) {
  co_await ctx.until([&] { return state.closed || state.renewed; });
  if (state.renewed) co_await ctx.continue_as_new(desk);
  co_return static_cast<int>(state.notes.size());
}

Task<int> file_it(OrchestrationContext& ctx, Desk& state, int item) {
  const int found = co_await ctx.call(look_up, item);
  state.notes.push_back(found);
  co_return found;
}

Task<int> hold_it(OrchestrationContext& ctx, Desk& state, int item) {
  co_await ctx.wait_for(go);
  state.notes.push_back(item);
  co_return item;
}

int block_once(Desk& state, int item) {
  const std::shared_ptr<Talk> mine = talk;
  if (item == 0 && mine->to_block-- > 0) {
    mine->entered.open();
    EXPECT_TRUE(mine->door.wait());
  }
  state.notes.push_back(item);
  return static_cast<int>(state.notes.size());
}

class LiveMessages : public Live {
 protected:
  LiveMessages() {
    talk = talk_;
    registry_.add(desk, run_desk)
        .signal(note, [](Desk& state, int item) { state.notes.push_back(item); })
        .signal(close_desk, [](Desk& state) { state.closed = true; })
        .signal(renew, [](Desk& state) { state.renewed = true; })
        .update(file, file_it)
        .update(hold, hold_it)
        .update(give_up, hold_it, {.cancel_with_run = true})
        .update(block, block_once)
        .query(count, [](const Desk& state) { return static_cast<int>(state.notes.size()); });
    registry_.add(look_up, [talk = talk_](ActivityContext& ctx, int item) {
      ++talk->calls;
      talk->begun.open();
      EXPECT_TRUE(talk->done.wait());
      ctx.throw_if_canceled();
      return 10 * item;
    });
  }
  ~LiveMessages() override {
    talk_->done.open();
    talk_->door.open();
    runtime_.reset();
  }

  void wait_for_status(const std::string& id, ExecutionStatus status) {
    wait_for([&] { return info(id).status == status; }, std::string(to_string(status)));
  }
  std::vector<RunEvent> history(const std::string& id) const {
    return client_.history(id, {.limit = 100'000}).events;
  }
  int events(const std::string& id, const std::string& kind) const {
    int found = 0;
    for (const RunEvent& event : history(id)) found += event.kind == kind ? 1 : 0;
    return found;
  }

  const std::shared_ptr<Talk> talk_ = std::make_shared<Talk>();
  Client client_{store()};
  LogLines log_;
};

TEST_F(LiveMessages, MainReturnsWhileAnUpdateAwaitsAnActivityAndItsCallerGetsTheResult) {
  run();
  start(desk, "d");
  auto waiting = std::async(std::launch::async, [client = client_] {
    return client.update("d", file, 4, {.timeout = kHanging});
  });
  ASSERT_TRUE(talk_->begun.wait());
  client_.signal("d", close_desk);
  wait_for_status("d", ExecutionStatus::kCompleting);
  EXPECT_THROW(client_.update("d", file, 5), RunEnded);
  EXPECT_EQ(client_.query("d", count), 0);
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  talk_->done.open();
  EXPECT_EQ(waiting.get(), 40);
  EXPECT_EQ(end_of("d").status, ExecutionStatus::kCompleted);
  EXPECT_EQ(info("d").output, "0") << "as main said";
  EXPECT_EQ(client_.query("d", count), 1) << "what the handler did is there all the same";
  EXPECT_EQ(talk_->calls, 1);
}

TEST_F(LiveMessages, MainReturnsAndAnotherRuntimeEndsTheUpdate) {
  run();
  start(desk, "d");
  const auto handle = client_.start_update("d", hold, 4);
  client_.signal("d", close_desk);
  wait_for_status("d", ExecutionStatus::kCompleting);
  run();  // the first is stopped
  client_.raise_event("d", go);
  EXPECT_EQ(handle.wait(kHanging), 4);
  EXPECT_EQ(end_of("d").status, ExecutionStatus::kCompleted);
}

TEST_F(LiveMessages, AHandlerThatNeverEndsIsEndedByTheDrainTimeout) {
  RuntimeOptions impatient = options();
  impatient.handler_drain_timeout = 50ms;
  run(impatient);
  start(desk, "d");
  const auto first = client_.start_update("d", hold, 1);
  const auto second = client_.start_update("d", file, 2);
  ASSERT_TRUE(talk_->begun.wait());
  EXPECT_EQ(info("d").status, ExecutionStatus::kRunning) << "it counts from the end of main";
  client_.signal("d", close_desk);
  EXPECT_THROW(first.wait(kHanging), RunEnded);
  EXPECT_THROW(second.wait(kHanging), RunEnded);
  EXPECT_EQ(end_of("d").status, ExecutionStatus::kCompleted);
  EXPECT_EQ(info("d").output, "0");
  EXPECT_EQ(events("d", "drain_expired"), 1);
  EXPECT_EQ(events("d", "update_completed"), 0);
  talk_->done.open();
  start(desk, "e");
  EXPECT_EQ(client_.update("e", file, 3), 30) << "the worker has its place again";
  EXPECT_EQ(events("d", "activity_completed"), 0);
}

TEST_F(LiveMessages, AHandlerThatNeverEndsDoesNotHoldUpTheNextExecutionForEver) {
  RuntimeOptions impatient = options();
  impatient.handler_drain_timeout = 50ms;
  run(impatient);
  start(desk, "d");
  const auto held = client_.start_update("d", hold, 1);
  client_.signal("d", renew);
  client_.signal("d", note, 5);
  EXPECT_THROW(held.wait(kHanging), RunEnded);
  wait_for([&] { return client_.status("d").execution == 2; }, "the next execution");
  EXPECT_EQ(client_.query("d", count), 1);
  EXPECT_THROW(held.wait(0ms), RunEnded) << "also from now on";
}

TEST_F(LiveMessages, TheDrainTimeoutOutlivesTheRuntimeThatSetIt) {
  RuntimeOptions impatient = options();
  impatient.handler_drain_timeout = 100ms;
  run(impatient);
  start(desk, "d");
  const auto handle = client_.start_update("d", hold, 1);
  client_.signal("d", close_desk);
  wait_for([&] { return info("d").status != ExecutionStatus::kRunning; }, "the end of main");
  run();
  EXPECT_THROW(handle.wait(kHanging), RunEnded);
  EXPECT_EQ(end_of("d").status, ExecutionStatus::kCompleted);
}

TEST_F(LiveMessages, ACancelReachesMainAndThoseHandlersThatAskedForIt) {
  run();
  start(desk, "d");
  const auto filed = client_.start_update("d", file, 4);
  const auto held = client_.start_update("d", hold, 5);
  const auto given_up = client_.start_update("d", give_up, 6);
  ASSERT_TRUE(talk_->begun.wait());
  EXPECT_TRUE(client_.cancel("d", "enough").changed);
  try {
    given_up.wait(kHanging);
    FAIL() << "it went on";
  } catch (const UpdateFailed& failed) {
    EXPECT_EQ(failed.failure().type, "canceled");
  }
  EXPECT_THROW(client_.update("d", hold, 7), RunEnded);
  EXPECT_EQ(info("d").status, ExecutionStatus::kCanceling) << "the others go on";
  client_.raise_event("d", go);
  EXPECT_EQ(held.wait(kHanging), 5);
  talk_->done.open();
  EXPECT_EQ(filed.wait(kHanging), 40) << "its call was not canceled";
  EXPECT_EQ(end_of("d").status, ExecutionStatus::kCanceled);
  EXPECT_EQ(info("d").cancel_reason, "enough");
  EXPECT_EQ(client_.query("d", count), 2);
}

TEST_F(LiveMessages, ACanceledRunWaitsForItsHandlersUntilTheTimeForCleanupIsOver) {
  run();
  start(desk, "d");
  const auto held = client_.start_update("d", hold, 5);
  const Client hasty(store(), {.cancel_cleanup_timeout = 50ms});
  EXPECT_TRUE(hasty.cancel("d", "enough").changed);
  EXPECT_THROW(held.wait(kHanging), RunEnded);
  EXPECT_EQ(end_of("d").status, ExecutionStatus::kCanceled);
}

TEST_F(LiveMessages, TerminateWaitsForNoHandler) {
  run();
  start(desk, "d");
  const auto filed = client_.start_update("d", file, 4);
  ASSERT_TRUE(talk_->begun.wait());
  EXPECT_TRUE(client_.terminate("d", "now").changed);
  EXPECT_THROW(filed.wait(kHanging), RunEnded);
  talk_->done.open();
  runtime_->stop();
  EXPECT_EQ(info("d").status, ExecutionStatus::kTerminated);
}

TEST_F(LiveMessages, AKeptSignalWakesItsSleepingRunWhenCodeWithAHandlerIsDeployed) {
  start(desk, "d");
  client_.signal("d", close_desk);
  client_.signal("d", note, 1);
  Registry old;
  old.add(desk, run_desk).signal(note, [](Desk& state, int item) { state.notes.push_back(item); });
  runtime_ = std::make_unique<Runtime>(store(), old, options());
  wait_for([&] { return events("d", "signal_received") == 2; }, "the old code");
  EXPECT_EQ(info("d").status, ExecutionStatus::kRunning);
  runtime_->stop();
  run();
  EXPECT_EQ(end_of("d").output, "1");
}

/// A run that is told many things.
class LiveSignals : public LiveMessages {
 protected:
  /// Sends so many signals while the run takes them; the number of events of its history.
  std::size_t send(const std::string& id, int signals) {
    start(desk, id);
    for (int i = 0; i < signals; ++i) {
      RaiseEvent signal;
      signal.as_signal = true;
      signal.id = id;
      signal.name = std::string(note.name());
      signal.payload = std::to_string(i);
      submit(std::move(signal), i + 1 == signals);
    }
    EXPECT_TRUE(all_stored_.wait());
    client_.signal(id, close_desk);
    EXPECT_EQ(end_of(id).output, std::to_string(signals));
    return history(id).size();
  }
  /// Without waiting for its commit: the store keeps the order of one caller.
  void submit(RaiseEvent signal, bool last) {
    real_->submit(std::move(signal),
                  [this, last](Result<EventDelivery> answer) {
                    if (!answer.ok() || *answer != EventDelivery::kDelivered) ++lost_;
                    if (last) all_stored_.open();
                  },
                  {});
  }

  Gate all_stored_;
  std::atomic<int> lost_{0};
};

TEST_F(LiveSignals, TenThousandToOneRunAreTakenInOrderAndHistoryIsLinear) {
  constexpr int kMany = 10'000;
  constexpr std::size_t kOthers = 4;  // started, main_began, the signal that closes, completed
  run();
  EXPECT_EQ(send("many", kMany), kMany + kOthers);
  EXPECT_EQ(lost_, 0);
  int next = 0;
  for (const RunEvent& event : history("many")) {
    if (event.kind != "signal_received" || event.name != note.name()) continue;
    ASSERT_EQ(event.payload, std::to_string(next++)) << "event " << event.id;
  }
  EXPECT_EQ(next, kMany);
  EXPECT_EQ(client_.query("many", count, {.timeout = kHanging}), kMany)
      << "by a replay of them all";
}

TEST_F(LiveSignals, OfSeveralSendersKeepTheOrderOfEach) {
  constexpr int kSenders = 4;
  constexpr int kEach = 100;
  run();
  start(desk, "d");
  std::vector<std::future<void>> senders;
  for (int sender = 0; sender < kSenders; ++sender) {
    senders.push_back(std::async(std::launch::async, [client = client_, sender] {
      for (int i = 0; i < kEach; ++i) client.signal("d", note, 1'000 * sender + i);
    }));
  }
  for (auto& each : senders) each.get();
  EXPECT_EQ(client_.query("d", count, {.timeout = kHanging}), kSenders * kEach);
  std::vector<int> next(kSenders, 0);
  for (const RunEvent& event : history("d")) {
    if (event.kind != "signal_received") continue;
    const int value = std::stoi(event.payload);
    EXPECT_EQ(value % 1'000, next.at(static_cast<std::size_t>(value / 1'000))++);
  }
  EXPECT_EQ(next, std::vector<int>(kSenders, kEach));
}

TEST_F(LiveSignals, ThatWaitForARuntimeAreTakenInOrder) {
  constexpr int kMany = 1'000;
  start(desk, "d");
  for (int i = 0; i < kMany; ++i) client_.signal("d", note, i);
  client_.signal("d", close_desk);
  RuntimeOptions uncached = options();
  uncached.max_cached_orchestrations = 0;
  run(uncached);
  EXPECT_EQ(end_of("d").output, std::to_string(kMany));
  const auto events = history("d");
  ASSERT_EQ(events.size(), static_cast<std::size_t>(kMany) + 4);
}

/// A handler that blocks its thread.
class LiveBlockedUpdate : public LiveMessages {
 protected:
  static RuntimeOptions limited() {
    RuntimeOptions options = Live::options();
    options.orchestration_deadlock_timeout = 50ms;
    options.replay_check_fraction = 0.0;  // so that it is known how often code begins
    options.zombie_shutdown_timeout = 0ms;
    return options;
  }
};

TEST_F(LiveBlockedUpdate, HarmsNoNeighbour) {
  run(limited());
  for (const char* id : {"stuck", "left", "right"}) start(desk, id);
  EXPECT_EQ(client_.update("stuck", block, 1), 1);
  auto blocked = std::async(std::launch::async, [client = client_] {
    return client.update("stuck", block, 0, {.update_id = "b", .timeout = kHanging});
  });
  ASSERT_TRUE(talk_->entered.wait());
  wait_for([&] { return info("stuck").blocked == BlockedReason::kDeadlock; }, "the deadlock");
  for (int i = 1; i <= 10; ++i) {
    EXPECT_EQ(client_.update("left", block, i), i);
    client_.signal("right", note, i);
    EXPECT_EQ(client_.query("right", count), i);
  }
  EXPECT_THROW(client_.update("stuck", block, 2, {.update_id = "c", .timeout = 1ms}), Unavailable);
  EXPECT_THROW(client_.query("stuck", count, {.timeout = 1ms}), Unavailable);
  client_.signal("right", close_desk);
  EXPECT_EQ(end_of("right").output, "10");
  EXPECT_EQ(blocked.wait_for(0s), std::future_status::timeout);
  EXPECT_EQ(events("stuck", "update_accepted"), 1) << "nothing of the turn that was given up";

  talk_->door.open();
  EXPECT_EQ(blocked.get(), 2);
  EXPECT_EQ(client_.find_update<int>("stuck", "c").wait(kHanging), 3);
  EXPECT_EQ(client_.query("stuck", count), 3) << "each once";
  EXPECT_LE(talk_->to_block, -1) << "it was begun again";
  EXPECT_EQ(events("stuck", "update_completed"), 3);
}

}  // namespace

}  // namespace perdure::test::messages_test
