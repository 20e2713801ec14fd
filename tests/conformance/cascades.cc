#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/conformance.h"

/// More descendants than one commit reaches: the rest is stored and carried on by anyone.
namespace perdure::conformance {

class Cascades : public Conformance {
 protected:
  /// Locks every instance that is ready.
  std::map<std::string, OrchestrationItem> lock_all() {
    std::map<std::string, OrchestrationItem> items;
    for (OrchestrationItem& item : lock_up_to(100)) items.emplace(item.id, std::move(item));
    return items;
  }

  /// A root with `count` children "0", "1" .., all with a turn behind them.
  void family(int count) {
    start("root");
    const OrchestrationItem item = lock("root");
    TurnCommit decisions = turn(item);
    for (int i = 0; i < count; ++i) schedule_child(decisions, item, std::to_string(i));
    commit(std::move(decisions));
    for (const auto& [id, child] : lock_all()) commit(turn(child));
  }

  int children_in(ExecutionStatus wanted, int count) {
    int found = 0;
    for (int i = 0; i < count; ++i) found += status(std::to_string(i)) == wanted ? 1 : 0;
    return found;
  }

  CancelAnswer cancel_within(std::int64_t max_descendants) {
    CancelOrchestration request;
    request.id = "root";
    request.reason = "all of you";
    request.max_descendants = max_descendants;
    auto answer = store().cancel_orchestration(std::move(request));
    if (!answer.ok()) throw std::runtime_error("cancel: " + answer.error().message);
    return std::move(answer).value();
  }

  CascadesCarriedOn carry_on(std::int64_t limit) {
    CarryOnCascades request;
    request.limit = limit;
    auto answer = store().carry_on_cascades(std::move(request));
    if (!answer.ok()) throw std::runtime_error("carry on: " + answer.error().message);
    return std::move(answer).value();
  }

  /// Carries on until no cascade is left; answers how many descendants that reached.
  std::int64_t carry_on_to_the_end(std::int64_t limit) {
    std::int64_t reached = 0;
    for (int round = 0; round < 100; ++round) {
      const CascadesCarriedOn answer = carry_on(limit);
      EXPECT_LE(answer.reached, limit);
      reached += answer.reached;
      if (answer.remaining == 0) return reached;
    }
    ADD_FAILURE() << "the cascade never ends";
    return reached;
  }
};

TEST_P(Cascades, CancelBeyondTheLimitIsStoredAndCarriedOn) {
  family(7);

  const CancelAnswer answer = cancel_within(2);

  EXPECT_EQ(answer.descendants, 2);
  EXPECT_TRUE(answer.cascading);
  EXPECT_EQ(children_in(ExecutionStatus::kCanceling, 7), 2);
  const CascadesCarriedOn once = carry_on(2);
  EXPECT_EQ(once.reached, 2);
  EXPECT_EQ(once.remaining, 1);
  EXPECT_EQ(children_in(ExecutionStatus::kCanceling, 7), 4);
  EXPECT_EQ(carry_on_to_the_end(2), 3);
  EXPECT_EQ(children_in(ExecutionStatus::kCanceling, 7), 7);
  EXPECT_EQ(info("6").current.cancel_reason, "all of you");
}

TEST_P(Cascades, TerminateBeyondTheLimitIsCarriedOn) {
  family(5);
  TerminateOrchestration request;
  request.id = "root";
  request.max_descendants = 2;
  auto answer = store().terminate_orchestration(std::move(request));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->descendants, 2);
  EXPECT_TRUE(answer->cascading);

  EXPECT_EQ(carry_on_to_the_end(1), 3);

  EXPECT_EQ(children_in(ExecutionStatus::kTerminated, 5), 5);
  EXPECT_EQ(history("4").back().kind, EventKind::kTerminated);
}

TEST_P(Cascades, ReachLaterGenerations) {
  family(3);
  for (const char* id : {"0", "1", "2"}) {
    poke(id);
    start_child_of(id, std::string(id) + "/child");
  }

  const CancelAnswer answer = cancel_within(2);

  EXPECT_EQ(answer.descendants + carry_on_to_the_end(2), 6);
  EXPECT_EQ(children_in(ExecutionStatus::kCanceling, 3), 3);
  for (const char* id : {"0/child", "1/child", "2/child"}) {
    EXPECT_EQ(status(id), ExecutionStatus::kCanceling) << id;
  }
}

TEST_P(Cascades, ReachLaterGenerationsOfTerminatedChildren) {
  family(3);
  for (const char* id : {"0", "1", "2"}) {
    poke(id);
    start_child_of(id, std::string(id) + "/child");
  }
  TerminateOrchestration request;
  request.id = "root";
  request.max_descendants = 1;
  const auto answer = store().terminate_orchestration(std::move(request));
  ASSERT_TRUE(answer.ok());

  EXPECT_EQ(answer->descendants + carry_on_to_the_end(1), 6);

  EXPECT_EQ(children_in(ExecutionStatus::kTerminated, 3), 3);
  for (const char* id : {"0/child", "1/child", "2/child"}) {
    EXPECT_EQ(status(id), ExecutionStatus::kTerminated) << id << " has no live parent any more";
  }
}

TEST_P(Cascades, AreToldAgainToARepeatedRequest) {
  family(3);
  CancelOrchestration request;
  request.id = "root";
  request.max_descendants = 1;
  request.request_id = "r1";
  const auto first = store().cancel_orchestration(request);
  const auto second = store().cancel_orchestration(request);

  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(first->cascading);
  EXPECT_TRUE(second->cascading);
  EXPECT_EQ(second->descendants, first->descendants);
  EXPECT_EQ(children_in(ExecutionStatus::kCanceling, 3), 1) << "a repetition reaches nobody";
}

TEST_P(Cascades, OutliveTheProcessThatBeganThem) {
  family(5);
  cancel_within(2);
  const auto other = register_another();
  ASSERT_TRUE(store().take_over({.epoch = epoch()}).ok());

  EXPECT_EQ(carry_on_to_the_end(2), 3);

  EXPECT_EQ(children_in(ExecutionStatus::kCanceling, 5), 5);
}

TEST_P(Cascades, AnswerTheClaimsTheyTouched) {
  family(4);
  for (int i = 0; i < 4; ++i) {
    poke(std::to_string(i));
    const OrchestrationItem item = lock(std::to_string(i));
    TurnCommit decisions = turn(item);
    schedule(decisions, item);
    commit(std::move(decisions));
  }
  const auto claims = claim_up_to(4);
  ASSERT_EQ(claims.size(), 4u);

  const CancelAnswer begun = cancel_within(1);
  const CascadesCarriedOn rest = carry_on(100);

  EXPECT_EQ(begun.touched.size(), 1u);
  EXPECT_EQ(rest.touched.size(), 3u);
  for (const WorkItem& claimed : claims) EXPECT_EQ(check(claimed), ClaimState::kGone);
}

TEST_P(Cascades, SpareWhatEndedBeforeTheyCame) {
  family(3);
  cancel_within(1);
  std::string ended;
  for (const char* id : {"0", "1", "2"}) {
    if (status(id) == ExecutionStatus::kRunning) ended = id;
  }
  poke(ended);
  auto ready = lock_all();
  TurnCommit decisions = turn(ready.at(ended));
  finish(decisions, ready.at(ended), ExecutionStatus::kCompleted);
  commit(std::move(decisions));

  EXPECT_EQ(carry_on_to_the_end(10), 1);

  EXPECT_EQ(status(ended), ExecutionStatus::kCompleted);
  EXPECT_EQ(children_in(ExecutionStatus::kCanceling, 3), 2);
}

TEST_P(Cascades, CarryOnWithoutACascadeDoesNothing) {
  family(2);

  const CascadesCarriedOn answer = carry_on(10);

  EXPECT_EQ(answer.reached, 0);
  EXPECT_EQ(answer.remaining, 0);
  EXPECT_EQ(children_in(ExecutionStatus::kRunning, 2), 2);
}

TEST_P(Cascades, KeepTheCleanupTimeOfTheirCancel) {
  family(2);
  CancelOrchestration request;
  request.id = "root";
  request.max_descendants = 0;
  request.cleanup_timeout = 10s;
  ASSERT_TRUE(store().cancel_orchestration(request).ok());
  EXPECT_EQ(carry_on_to_the_end(100), 2);
  for (const auto& [id, item] : lock_all()) commit(turn(item));
  advance(9s);
  EXPECT_TRUE(lock_all().empty());
  advance(1s);
  EXPECT_EQ(lock_all().size(), 3u) << "the cleanup deadlines of all three";
}

TEST_P(Cascades, ReachBelowAnIdThatIsUsedAgain) {
  start("root");
  start_child_of("root", "middle");
  poke("middle");
  OrchestrationItem item = lock("middle");
  TurnCommit decisions = turn(item);
  for (const char* id : {"0", "1"}) schedule_child(decisions, item, id);
  schedule_child(decisions, item, "2", ClosePolicy::kCancel, true);
  commit(std::move(decisions));
  for (const auto& [id, child] : lock_all()) commit(turn(child));
  TerminateOrchestration request;
  request.id = "root";
  request.max_descendants = 1;
  ASSERT_TRUE(store().terminate_orchestration(request).ok());
  ASSERT_EQ(status("middle"), ExecutionStatus::kTerminated);
  start("middle");
  carry_on_to_the_end(100);
  EXPECT_EQ(children_in(ExecutionStatus::kRunning, 3), 0);
  EXPECT_EQ(status("middle"), ExecutionStatus::kRunning);
}

TEST_P(Cascades, SpareChildrenOfTheCleanup) {
  family(5);
  cancel_within(2);
  std::vector<std::string> cleaning;
  for (const auto& [id, item] : lock_all()) {
    TurnCommit decisions = turn(item);
    schedule_child(decisions, item, id + "/cleanup", ClosePolicy::kCancel, true);
    commit(std::move(decisions));
    cleaning.push_back(id + "/cleanup");
  }
  ASSERT_EQ(cleaning.size(), 3u) << "the root and two children have heard of the cancel";
  for (const auto& [id, child] : lock_all()) commit(turn(child));

  EXPECT_EQ(carry_on_to_the_end(2), 3);

  EXPECT_EQ(children_in(ExecutionStatus::kCanceling, 5), 5);
  for (const std::string& id : cleaning) EXPECT_EQ(status(id), ExecutionStatus::kRunning) << id;
}

TEST_P(Cascades, OfAnEndReachChildrenUnderAShield) {
  constexpr int kReachedAtOnce = 1'000;
  constexpr int kChildren = kReachedAtOnce + 3;
  start("root");
  const OrchestrationItem item = lock("root");
  TurnCommit decisions = turn(item);
  for (int i = 0; i < kChildren; ++i) {
    schedule_child(decisions, item, std::to_string(i), ClosePolicy::kCancel, true);
  }
  finish(decisions, item, ExecutionStatus::kCompleted);
  commit(std::move(decisions));
  EXPECT_EQ(children_in(ExecutionStatus::kCanceled, kChildren), kReachedAtOnce);

  EXPECT_EQ(carry_on_to_the_end(100), kChildren - kReachedAtOnce);

  EXPECT_EQ(children_in(ExecutionStatus::kCanceled, kChildren), kChildren);
}

PERDURE_CONFORMANCE_SUITE(Cascades);

}  // namespace perdure::conformance
