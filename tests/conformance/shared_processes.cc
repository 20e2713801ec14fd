#include <algorithm>
#include <future>
#include <set>
#include <stdexcept>
#include <unistd.h>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

namespace perdure::conformance {

/// Several processes on one store, with real ones that are killed and stopped. The tests that need
/// processes are all here.
class SharedProcesses : public Conformance {
 protected:
  std::unique_ptr<Peer> spawn_peer() {
    auto peer = under_test().second_process();
    if (!peer) throw std::runtime_error("a shared store must have a second process");
    return peer;
  }

  std::unique_ptr<Provider> open_again() {
    auto provider = under_test().second_provider();
    if (!provider) throw std::runtime_error("a shared store must open twice");
    return provider;
  }

  Epoch register_on(Provider& provider) {
    RegisterProcess request;
    request.host = "test";
    request.pid = ::getpid();
    request.queues = {kQueue};
    const auto given = provider.register_process(std::move(request));
    if (!given.ok()) throw std::runtime_error("register: " + given.error().message);
    return *given;
  }

  ProcessInfo process(Epoch which) {
    const auto listed = store().list_processes();
    if (!listed.ok()) throw std::runtime_error("list: " + listed.error().message);
    for (const ProcessInfo& process : *listed) {
      if (process.epoch == which) return process;
    }
    throw std::runtime_error("the process is not listed");
  }

  std::vector<Epoch> released(const std::vector<Epoch>& epochs) {
    const auto answer = store().released_processes(epochs);
    if (!answer.ok()) throw std::runtime_error("released: " + answer.error().message);
    return *answer;
  }

  /// Looks until the process is shown as released. A store across a network may need a moment to
  /// hear of a death.
  bool is_seen_as_released(Epoch which) {
    for (int look = 0; look < 1'000; ++look) {
      if (process(which).lock_released && released({epoch(), which}) == std::vector{which}) {
        return true;
      }
      Interest pause;
      pause.after = store().change_mark();
      pause.bound = 20ms;
      store().wait_for_change(pause);
    }
    return false;
  }

  ProcessEnded take_over(Epoch whose) {
    const auto ended = store().take_over({.epoch = whose});
    if (!ended.ok()) throw std::runtime_error("takeover: " + ended.error().message);
    return *ended;
  }

  void finish_turn(const OrchestrationItem& item) {
    TurnCommit last = turn(item);
    finish(last, item, ExecutionStatus::kCompleted);
    commit(std::move(last));
  }

  Interest ready_instances() {
    Interest interest;
    interest.after = store().change_mark();
    interest.orchestration_queues = {kQueue};
    interest.bound = 60s;
    return interest;
  }
};

TEST_P(SharedProcesses, SeeCommitsOfEachOther) {
  const auto second = open_again();
  start("a");
  const auto seen = second->get_instance("a");
  ASSERT_TRUE(seen.ok()) << seen.error();
  EXPECT_EQ(seen->key, info("a").key);
  cancel("a");
  EXPECT_EQ(second->get_instance("a")->current.status, ExecutionStatus::kCanceled);

  const auto peer = spawn_peer();
  peer->start_instance("b");
  EXPECT_EQ(status("b"), ExecutionStatus::kRunning);
  EXPECT_EQ(kinds(lock("b").messages), (std::vector{MessageKind::kStart}));
}

TEST_P(SharedProcesses, HaveEpochsOfTheirOwn) {
  const auto peer = spawn_peer();
  const auto another = spawn_peer();
  const Epoch first = peer->register_process();
  const Epoch second = another->register_process();
  EXPECT_NE(first, epoch());
  EXPECT_NE(second, epoch());
  EXPECT_NE(first, second);
  EXPECT_EQ(process(first).pid, peer->pid());
  EXPECT_EQ(process(second).pid, another->pid());
}

TEST_P(SharedProcesses, GetNewEpochsWhenAProviderIsOpenedAgain) {
  std::set<Epoch> given{epoch()};
  for (int round = 0; round < 3; ++round) {
    const auto again = open_again();
    const Epoch fresh = register_on(*again);
    EXPECT_TRUE(given.insert(fresh).second) << fresh;
    ASSERT_TRUE(again->release_process({.epoch = fresh}).ok());
  }
}

TEST_P(SharedProcesses, NeverLockTheSameInstance) {
  for (int i = 0; i < 6; ++i) start("a" + std::to_string(i));
  const auto peer = spawn_peer();
  peer->register_process();
  const auto theirs = peer->lock_instances(4, kLock);
  EXPECT_EQ(theirs.size(), 4u);
  std::set<std::string> all(theirs.begin(), theirs.end());
  for (const OrchestrationItem& item : lock_up_to(10)) EXPECT_TRUE(all.insert(item.id).second);
  EXPECT_EQ(all.size(), 6u);
  EXPECT_TRUE(peer->lock_instances(10, kLock).empty());
}

TEST_P(SharedProcesses, NeverClaimTheSameWork) {
  start_with_work("a", 6);
  const auto peer = spawn_peer();
  peer->register_process();
  const auto theirs = peer->claim_work(4, kLock);
  EXPECT_EQ(theirs.size(), 4u);
  std::set<WorkId> all(theirs.begin(), theirs.end());
  for (const WorkItem& item : claim_up_to(10)) {
    EXPECT_TRUE(all.insert(item.id).second);
    complete(item);
  }
  EXPECT_EQ(all.size(), 6u);
  for (const WorkId id : theirs) EXPECT_EQ(peer->complete_work(id), std::nullopt);
  EXPECT_EQ(lock("a").messages.size(), 6u);
}

TEST_P(SharedProcesses, ShareTheWorkOfOneQueueWithoutDoingAnyTwice) {
  constexpr int kInstances = 60;
  for (int i = 0; i < kInstances; ++i) start("a" + std::to_string(i));
  const auto peer = spawn_peer();
  peer->register_process();
  auto theirs = std::async(std::launch::async, [&peer] { return peer->drain_instances(); });
  int mine = 0;
  for (auto items = lock_up_to(4); !items.empty(); items = lock_up_to(4)) {
    for (const OrchestrationItem& item : items) {
      finish_turn(item);
      ++mine;
    }
  }
  EXPECT_EQ(mine + theirs.get(), kInstances);
  for (int i = 0; i < kInstances; ++i) {
    EXPECT_EQ(status("a" + std::to_string(i)), ExecutionStatus::kCompleted);
  }
}

TEST_P(SharedProcesses, AreShownAsDeadWhenTheyWereKilled) {
  const auto victim = spawn_peer();
  const auto bystander = spawn_peer();
  const Epoch dead = victim->register_process();
  const Epoch alive = bystander->register_process();
  EXPECT_FALSE(process(dead).lock_released);
  victim->kill();
  EXPECT_TRUE(is_seen_as_released(dead));
  EXPECT_FALSE(process(alive).lock_released);
  EXPECT_FALSE(process(epoch()).lock_released);
  EXPECT_EQ(released({alive, dead, epoch()}), std::vector{dead});
  take_over(dead);
  EXPECT_TRUE(released({alive, dead, epoch()}).empty()) << "one that has ended is not shown";
}

TEST_P(SharedProcesses, AreShownAsDeadWhenTheirProviderWasDestroyed) {
  auto second = open_again();
  const Epoch leaving = register_on(*second);
  EXPECT_FALSE(process(leaving).lock_released);
  second.reset();
  EXPECT_TRUE(is_seen_as_released(leaving));
}

TEST_P(SharedProcesses, AreNotShownAsDeadWhileTheyLive) {
  const auto peer = spawn_peer();
  const Epoch alive = peer->register_process();
  for (int look = 0; look < 5; ++look) {
    EXPECT_FALSE(process(alive).lock_released);
    advance(1h);
    EXPECT_EQ(peer->heartbeat(), std::nullopt) << "looking must not take its lock away";
  }
  EXPECT_EQ(process(alive).heartbeat, 5);
}

TEST_P(SharedProcesses, AreNotShownAsDeadWhileTheyAreStopped) {
  const auto peer = spawn_peer();
  const Epoch stopped = peer->register_process();
  peer->stop();
  for (int look = 0; look < 5; ++look) {
    EXPECT_FALSE(process(stopped).lock_released);
    EXPECT_TRUE(released({stopped}).empty());
  }
  start("a");
  finish_turn(lock("a"));  // a stopped process holds nobody up
  peer->resume();
  EXPECT_EQ(peer->heartbeat(), std::nullopt);
}

TEST_P(SharedProcesses, TakeOverWhatAKilledOneHeldAtOnce) {
  start_with_work("a", 2);
  start("b");
  const auto peer = spawn_peer();
  const Epoch dead = peer->register_process();
  ASSERT_EQ(peer->claim_work(2, kLock).size(), 2u);
  ASSERT_EQ(peer->lock_instances(1, kLock), std::vector<std::string>{"b"});
  peer->kill();
  ASSERT_TRUE(is_seen_as_released(dead));
  EXPECT_FALSE(try_claim().has_value()) << "its claims stand until somebody takes over";
  const ProcessEnded ended = take_over(dead);
  EXPECT_TRUE(ended.changed);
  EXPECT_EQ(ended.freed_claims, 2);
  EXPECT_EQ(ended.freed_locks, 1);
  const auto work = claim_up_to(10);
  ASSERT_EQ(work.size(), 2u);
  for (const WorkItem& item : work) {
    EXPECT_EQ(item.losses, 1);
    complete(item);
  }
  for (const OrchestrationItem& item : lock_up_to(10)) {
    EXPECT_EQ(item.losses, item.id == "b" ? 1 : 0);
    finish_turn(item);
  }
  EXPECT_EQ(status("a"), ExecutionStatus::kCompleted);
  EXPECT_EQ(status("b"), ExecutionStatus::kCompleted);
}

TEST_P(SharedProcesses, LoseNothingWhenAKilledOneIsNotTakenOver) {
  start_with_work("a", 1);
  start("b");
  raise("b", "event");
  const auto peer = spawn_peer();
  peer->register_process();
  ASSERT_EQ(peer->lock_instances(1, kLock), std::vector<std::string>{"b"});
  ASSERT_EQ(peer->claim_work(1, kLock).size(), 1u);
  peer->kill();
  EXPECT_FALSE(try_lock().has_value());
  advance(kLock + 1s);
  const OrchestrationItem item = lock("b");
  EXPECT_EQ(item.losses, 1);
  EXPECT_EQ(kinds(item.messages), (std::vector{MessageKind::kStart, MessageKind::kEventRaised}));
  finish_turn(item);
  const WorkItem work = claim();
  EXPECT_EQ(work.losses, 1);
  complete(work);
  EXPECT_EQ(kinds(lock("a").messages), (std::vector{MessageKind::kActivityCompleted}));
}

TEST_P(SharedProcesses, RefuseATurnThatWasStoppedPastItsLock) {
  start("a");
  const auto peer = spawn_peer();
  peer->register_process();
  ASSERT_EQ(peer->lock_instances(1, kLock), std::vector<std::string>{"a"});
  peer->stop();
  advance(kLock + 1s);
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(item.losses, 1);
  finish_turn(item);
  peer->resume();
  EXPECT_EQ(peer->commit_turn("a"), ErrorCode::kLockLost);
  EXPECT_EQ(status("a"), ExecutionStatus::kCompleted);
  EXPECT_EQ(info("a").current.last_turn, item.lock);
}

TEST_P(SharedProcesses, RefuseTheResultOfWorkThatWasStoppedPastItsLease) {
  start_with_work("a", 1);
  const auto peer = spawn_peer();
  peer->register_process();
  const auto theirs = peer->claim_work(1, kLock);
  ASSERT_EQ(theirs.size(), 1u);
  peer->stop();
  advance(kLock + 1s);
  const WorkItem work = claim();
  EXPECT_EQ(work.id, theirs[0]);
  peer->resume();
  EXPECT_EQ(peer->complete_work(theirs[0]), ErrorCode::kLockLost) << "another holds it";
  complete(work, "\"ours\"");
  EXPECT_EQ(peer->complete_work(theirs[0]), ErrorCode::kLockLost) << "it is settled";
  const OrchestrationItem item = lock("a");
  ASSERT_EQ(item.messages.size(), 1u);
  EXPECT_EQ(item.messages[0].payload, "\"ours\"");
}

TEST_P(SharedProcesses, RefuseEverythingOfOneThatWasTakenOverUntilItRegistersAnew) {
  start_with_work("a", 1);
  start("b");
  const auto peer = spawn_peer();
  const Epoch old = peer->register_process();
  const auto work = peer->claim_work(1, kLock);
  ASSERT_EQ(work.size(), 1u);
  ASSERT_EQ(peer->lock_instances(1, kLock), std::vector<std::string>{"b"});
  peer->stop();
  EXPECT_TRUE(take_over(old).changed);
  peer->resume();
  EXPECT_EQ(peer->heartbeat(), ErrorCode::kLockLost);
  EXPECT_EQ(peer->commit_turn("b"), ErrorCode::kLockLost);
  EXPECT_EQ(peer->complete_work(work[0]), ErrorCode::kLockLost);
  const Epoch anew = peer->register_process();
  EXPECT_NE(anew, old);
  EXPECT_EQ(peer->heartbeat(), std::nullopt);
  EXPECT_EQ(peer->claim_work(10, kLock), work);
  EXPECT_EQ(peer->complete_work(work[0]), std::nullopt);
}

TEST_P(SharedProcesses, CancelWorkThatAnotherOneRuns) {
  start_with_work("a", 1);
  const auto peer = spawn_peer();
  const Epoch theirs = peer->register_process();
  const auto work = peer->claim_work(1, kLock);
  ASSERT_EQ(work.size(), 1u);
  const CancelAnswer answer = cancel("a");
  ASSERT_EQ(answer.touched.size(), 1u);
  EXPECT_EQ(answer.touched[0].id, work[0]);
  EXPECT_EQ(answer.touched[0].lock.epoch, theirs);
  EXPECT_EQ(peer->complete_work(work[0]), ErrorCode::kLockLost);
}

TEST_P(SharedProcesses, WakeEachOther) {
  const auto peer = spawn_peer();
  peer->register_process();
  Interest interest = ready_instances();
  peer->start_instance("a");
  EXPECT_EQ(store().wait_for_change(interest).reason, Wake::Reason::kForeign);
  interest = ready_instances();
  auto waiting =
      std::async(std::launch::async, [&] { return store().wait_for_change(interest).reason; });
  peer->start_instance("b");
  EXPECT_EQ(waiting.get(), Wake::Reason::kForeign);
}

TEST_P(SharedProcesses, WakeEachOtherWithinOneProcess) {
  const auto second = open_again();
  const Interest interest = ready_instances();
  ASSERT_TRUE(second->start_orchestration(start_request("a")).ok());
  EXPECT_EQ(store().wait_for_change(interest).reason, Wake::Reason::kForeign);
}

TEST_P(SharedProcesses, AnswerWhatIsQueuedWhenAProviderIsDestroyed) {
  Answers<OrchestrationStarted> answers;
  auto second = open_again();
  for (int i = 0; i < 20; ++i) {
    second->submit(start_request("a" + std::to_string(i)), answers.next(), {});
  }
  second.reset();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ASSERT_EQ(answers.times(i), 1) << i;
    const auto refused = refusal(answers.at(i));
    const auto stored = refusal(store().get_instance("a" + std::to_string(i)));
    if (refused) {
      EXPECT_EQ(*refused, ErrorCode::kUnavailable);
      EXPECT_EQ(stored, ErrorCode::kNotFound);
    } else {
      EXPECT_EQ(stored, std::nullopt);
    }
  }
}

PERDURE_SHARED_CONFORMANCE_SUITE(SharedProcesses);

}  // namespace perdure::conformance
