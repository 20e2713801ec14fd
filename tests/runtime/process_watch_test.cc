#include "tests/runtime/process_steps.h"

namespace perdure::test::process_watch_test {

/// A peer that the watch sees only by its heartbeat: it lives in the provider of the test.
class Watch : public ProcessSteps {
 protected:
  /// One second of the observer: its own beat, then its look.
  static Step second(Observer& observer, SteadyTime now, bool store_changed = false) {
    const Step beaten = observer.life.poll_once(now);
    EXPECT_FALSE(beaten.trouble);
    return observer.watch.poll_once(now, store_changed);
  }
};

TEST_P(Watch, ReadsAndWritesNothingWhileAllAreIdle) {
  const auto peer = register_another();
  Observer self(store(), epoch());
  EXPECT_FALSE(second(self, at(0s)));
  EXPECT_EQ(self.store.lists, 1) << "it must learn who is there";
  for (int i = 1; i <= 100; ++i) EXPECT_FALSE(second(self, at(i * 1s)));
  EXPECT_EQ(self.store.statements(), 1);
  EXPECT_EQ(self.store.probes, 100) << "locks are looked at";
  EXPECT_TRUE(is_live(peer->epoch())) << "an idle one owes no heartbeat";
}

TEST_P(Watch, LooksAtNothingWhileItIsAlone) {
  Observer self(store(), epoch());
  for (int i = 0; i <= 100; ++i) EXPECT_FALSE(second(self, at(i * 1s)));
  EXPECT_EQ(self.store.statements(), 1);
  EXPECT_EQ(self.store.probes, 0);
}

TEST_P(Watch, ReadsTheListAgainWhenOthersChangedTheStoreButOncePerInterval) {
  Observer self(store(), epoch());
  second(self, at(0s));
  const auto peer = register_another();
  for (int i = 1; i < 100; ++i) self.watch.poll_once(at(i * 10ms), true);
  EXPECT_EQ(self.store.lists, 1);
  EXPECT_EQ(self.watch.due(), at(1s));
  self.watch.poll_once(at(1s), false);
  EXPECT_EQ(self.store.lists, 2) << "a change that came early is not forgotten";
  self.watch.poll_once(at(2s), false);
  EXPECT_EQ(self.store.lists, 2);
  EXPECT_EQ(self.store.probes, 1);
}

TEST_P(Watch, TakesOverAHolderThatFellSilent) {
  start("a");
  const auto peer = register_another();
  hold(*peer);
  beat(*peer);
  Observer self(store(), epoch());
  int seconds = 0;
  while (seconds < 30 && !second(self, at(seconds * 1s))) ++seconds;
  EXPECT_EQ(seconds, 5) << "worker_dead_after";
  EXPECT_FALSE(is_live(peer->epoch()));
  EXPECT_EQ(lock("a").losses, 1);
  EXPECT_GE(self.store.beats, 3) << "an idle observer beats to know that the store can be written";
  const int beats = self.store.beats;
  for (int i = 6; i < 20; ++i) EXPECT_FALSE(second(self, at(i * 1s)));
  EXPECT_EQ(self.store.beats - beats, 1) << "no more beats once the silence is over";
}

TEST_P(Watch, LetsAHolderLiveThatBeats) {
  start("a");
  const auto peer = register_another();
  const OrchestrationItem item = hold(*peer);
  Observer self(store(), epoch());
  for (int i = 0; i < 60; ++i) {
    if (i % 4 == 0) beat(*peer);  // later than it should, and in time
    EXPECT_FALSE(second(self, at(i * 1s))) << i;
  }
  EXPECT_TRUE(is_live(peer->epoch()));
  EXPECT_TRUE(try_commit(turn(item)).ok());
}

TEST_P(Watch, DoesNotBeatForAHolderThatBeats) {
  start("a");
  const auto peer = register_another();
  hold(*peer);
  Observer self(store(), epoch());
  for (int i = 0; i < 30; ++i) {
    beat(*peer);
    EXPECT_FALSE(second(self, at(i * 1s)));
  }
  EXPECT_EQ(self.store.beats, 0);
}

TEST_P(Watch, CountsTheSilenceFromTheTimeItHoldsSomething) {
  start("a");
  const auto peer = register_another();
  Observer self(store(), epoch());
  for (int i = 0; i < 100; ++i) second(self, at(i * 1s));
  hold(*peer);
  second(self, at(100s), true);
  for (int i = 101; i < 105; ++i) EXPECT_FALSE(second(self, at(i * 1s))) << i;
  EXPECT_TRUE(is_live(peer->epoch())) << "it was idle for long, not silent for long";
  EXPECT_TRUE(second(self, at(105s)));
}

TEST_P(Watch, ForgetsASilenceThatEndedWithWhatWasHeld) {
  start("a");
  const auto peer = register_another();
  const OrchestrationItem item = hold(*peer);
  Observer self(store(), epoch());
  for (int i = 0; i < 4; ++i) second(self, at(i * 1s));
  commit(turn(item));
  for (int i = 4; i < 60; ++i) EXPECT_FALSE(second(self, at(i * 1s)));
  EXPECT_TRUE(is_live(peer->epoch()));
}

TEST_P(Watch, TrustsNoSilenceWhileItCannotWriteItself) {
  start("a");
  const auto peer = register_another();
  hold(*peer);
  Observer self(store(), epoch());
  for (int i = 0; i < 60; ++i) {
    self.store.beat_error = unavailable("read-only");
    self.life.poll_once(at(i * 1s));
    EXPECT_FALSE(self.watch.poll_once(at(i * 1s), false)) << i;
  }
  EXPECT_TRUE(is_live(peer->epoch()));
  self.store.beat_error.reset();
  int seconds = 60;
  while (seconds < 90 && !second(self, at(seconds * 1s))) ++seconds;
  EXPECT_EQ(seconds, 62) << "three beats of its own";
}

TEST_P(Watch, TakesNobodyForDeadWhenItWasStoppedItself) {
  start("a");
  const auto peer = register_another();
  hold(*peer);
  Observer self(store(), epoch());
  self.holds = true;
  beat(*peer);
  second(self, at(0s));
  second(self, at(1s));
  // An hour of SIGSTOP for both; the peer needs a moment longer to come back.
  EXPECT_FALSE(second(self, at(1h)));
  EXPECT_FALSE(second(self, at(1h + 1s)));
  beat(*peer);
  EXPECT_FALSE(second(self, at(1h + 2s)));
  EXPECT_TRUE(is_live(peer->epoch()));
}

TEST_P(Watch, TakesOverOnceWhenTwoWatch) {
  start("a");
  const auto peer = register_another();
  const auto other = register_another();
  hold(*peer);
  Observer first(store(), epoch());
  Observer second_one(store(), other->epoch());
  first.holds = second_one.holds = true;
  for (int i = 0; i < 5; ++i) {
    second(first, at(i * 1s));
    second(second_one, at(i * 1s));
  }
  first.life.poll_once(at(5s));
  second_one.life.poll_once(at(5s));
  // Both have seen enough; the second looks at the very list that the first looked at.
  second_one.store.takeover_error = busy("the first is faster");
  EXPECT_TRUE(second_one.watch.poll_once(at(5s), false).trouble);
  EXPECT_TRUE(first.watch.poll_once(at(5s), false));
  const Step late = second(second_one, at(6s));
  EXPECT_FALSE(late);
  EXPECT_FALSE(late.trouble);
  EXPECT_EQ(lock("a").losses, 1);
}

TEST_P(Watch, GoesOnAfterTroubleOfTheStore) {
  start("a");
  const auto peer = register_another();
  hold(*peer);
  Observer self(store(), epoch());
  self.store.list_error = unavailable("down");
  EXPECT_TRUE(self.watch.poll_once(at(0s), false).trouble);
  EXPECT_EQ(self.watch.due(), at(1s));
  for (int i = 1; i < 6; ++i) EXPECT_FALSE(second(self, at(i * 1s)).trouble);
  self.life.poll_once(at(6s));
  self.store.takeover_error = busy("later");
  const Step refused = self.watch.poll_once(at(6s), false);
  ASSERT_TRUE(refused.trouble);
  EXPECT_EQ(refused.trouble->code, ErrorCode::kBusy);
  EXPECT_TRUE(second(self, at(7s)));
  EXPECT_FALSE(is_live(peer->epoch()));
}

TEST_P(Watch, TellsThatItsOwnRegistrationHasEnded) {
  Observer self(store(), epoch());
  second(self, at(0s));
  ASSERT_TRUE(store().take_over({.epoch = epoch()}).ok());
  const Step step = self.watch.poll_once(at(1s), true);
  ASSERT_TRUE(step.trouble);
  EXPECT_EQ(step.trouble->code, ErrorCode::kLockLost);
}

PERDURE_CONFORMANCE_SUITE(Watch);

/// Peers that are processes of their own, or providers of their own.
class SharedWatch : public Watch {
 protected:
  /// Looks each second until the watch has taken somebody over; answers how many.
  static int seconds_until_takeover(Observer& observer, SteadyTime from) {
    int seconds = 1;
    while (seconds < 1'000 && !second(observer, from + seconds * 1s)) ++seconds;
    return seconds;
  }
};

TEST_P(SharedWatch, TakesOverAKilledProcessAtTheNextLook) {
  start_with_work("a", 2);
  start("b");
  const auto peer = under_test().second_process();
  const Epoch dead = peer->register_process();
  ASSERT_EQ(peer->claim_work(2, conformance::kLock).size(), 2u);
  ASSERT_EQ(peer->lock_instances(1, conformance::kLock).size(), 1u);
  Observer self(store(), epoch());
  EXPECT_FALSE(second(self, at(0s)));
  peer->kill();
  EXPECT_EQ(seconds_until_takeover(self, at(0s)), 1);
  EXPECT_FALSE(is_live(dead));
  EXPECT_EQ(claim_up_to(10).size(), 2u);
  EXPECT_EQ(lock("b").losses, 1);
}

TEST_P(SharedWatch, FindsAKilledProcessThatHeldNothingWithoutAStatement) {
  const auto peer = under_test().second_process();
  const Epoch dead = peer->register_process();
  Observer self(store(), epoch());
  EXPECT_FALSE(second(self, at(0s)));
  EXPECT_FALSE(second(self, at(1s)));
  ASSERT_EQ(self.store.lists, 1);
  peer->kill();
  EXPECT_EQ(seconds_until_takeover(self, at(1s)), 1);
  EXPECT_EQ(self.store.lists, 1);
  EXPECT_EQ(self.store.takeovers, 1);
  EXPECT_FALSE(is_live(dead));
}

TEST_P(SharedWatch, FindsAProcessThatDiedBeforeItWasSeen) {
  const auto peer = under_test().second_process();
  const Epoch dead = peer->register_process();
  peer->kill();
  Observer self(store(), epoch());
  EXPECT_TRUE(second(self, at(0s)));
  EXPECT_FALSE(is_live(dead));
}

TEST_P(SharedWatch, TakesOverAStoppedProcessByItsSilenceAndItsWritesAreRefused) {
  start("a");
  const auto peer = under_test().second_process();
  const Epoch stopped = peer->register_process();
  ASSERT_EQ(peer->lock_instances(1, conformance::kLock).size(), 1u);
  Observer self(store(), epoch());
  EXPECT_FALSE(second(self, at(0s)));
  peer->stop();
  EXPECT_EQ(seconds_until_takeover(self, at(0s)), 5);
  EXPECT_FALSE(is_live(stopped));
  end("a", ExecutionStatus::kCompleted);
  peer->resume();
  EXPECT_EQ(peer->commit_turn("a"), ErrorCode::kLockLost);
  EXPECT_EQ(peer->heartbeat(), ErrorCode::kLockLost);
}

TEST_P(SharedWatch, TakesOverAProviderThatWasDestroyed) {
  auto second_store = under_test().second_provider();
  const Epoch gone = second_store->register_process({.host = "test", .pid = 1}).value();
  Observer self(store(), epoch());
  EXPECT_FALSE(second(self, at(0s)));
  second_store.reset();
  EXPECT_EQ(seconds_until_takeover(self, at(0s)), 1);
  EXPECT_FALSE(is_live(gone));
}

TEST_P(SharedWatch, TakesOverOnceWhenTwoProcessesWatch) {
  start_with_work("a", 1);
  const auto second_store = under_test().second_provider();
  const Epoch observer = second_store->register_process({.host = "test", .pid = 1}).value();
  const auto peer = under_test().second_process();
  peer->register_process();
  ASSERT_EQ(peer->claim_work(1, conformance::kLock).size(), 1u);
  Observer first(store(), epoch());
  Observer other(*second_store, observer);
  second(first, at(0s));
  second(other, at(0s));
  peer->kill();
  // The lock is seen as released by both before either acts.
  other.store.takeover_error = busy("the first is faster");
  EXPECT_TRUE(second(other, at(1s)).trouble);
  EXPECT_TRUE(second(first, at(1s)));
  const Step late = second(other, at(2s));
  EXPECT_FALSE(late);
  EXPECT_FALSE(late.trouble);
  EXPECT_EQ(claim().losses, 1);
}

TEST_P(SharedWatch, IsNotHeldUpByOneThatCannotBeTakenOver) {
  const auto first = under_test().second_process();
  const auto second_one = under_test().second_process();
  first->register_process();
  const Epoch later = second_one->register_process();
  Observer self(store(), epoch());
  second(self, at(0s));
  first->kill();
  second_one->kill();
  self.store.takeover_error = unavailable("just this one");
  const Step step = second(self, at(1s));
  EXPECT_TRUE(step);
  EXPECT_TRUE(step.trouble);
  EXPECT_FALSE(is_live(later));
}

PERDURE_SHARED_CONFORMANCE_SUITE(SharedWatch);

}  // namespace perdure::test::process_watch_test
