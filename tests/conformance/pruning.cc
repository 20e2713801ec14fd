#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// Removing ended executions of an instance that stays.
namespace perdure::conformance {

class Pruning : public Conformance {
 protected:
  using Numbers = std::vector<std::int64_t>;

  ExecutionsPruned prune(const PruneExecutions& request) {
    auto answer = store().prune_executions(request);
    if (!answer.ok()) throw std::runtime_error("prune: " + answer.error().message);
    return std::move(answer).value();
  }

  /// A live instance whose executions 1 .. count - 1 have ended, ten seconds apart.
  void loop(const std::string& id, int count) {
    start(id);
    for (int i = 1; i < count; ++i) {
      end(id, ExecutionStatus::kContinuedAsNew);
      advance(10s);
    }
  }

  Numbers kept(const std::string& id) {
    auto page = store().list_executions({.id = id});
    if (!page.ok()) throw std::runtime_error("list_executions: " + page.error().message);
    Numbers numbers;
    for (const ExecutionInfo& execution : page->executions) {
      numbers.push_back(execution.execution.value);
    }
    return numbers;
  }
};

TEST_P(Pruning, KeepsTheNewest) {
  loop("loop", 4);
  PruneExecutions request{.id = "loop", .keep_last = 2};

  const ExecutionsPruned answer = prune(request);

  EXPECT_EQ(answer.executions, 2);
  EXPECT_EQ(answer.events, 4) << "two events of each execution";
  EXPECT_FALSE(answer.more);
  EXPECT_FALSE(answer.removing);
  EXPECT_EQ(kept("loop"), (Numbers{4, 3}));
  const InstanceKey key = info("loop").key;
  EXPECT_TRUE(history(key, ExecutionNo{1}).empty());
  EXPECT_TRUE(history(key, ExecutionNo{2}).empty());
  EXPECT_EQ(history(key, ExecutionNo{3}).size(), 2u);
  EXPECT_EQ(refusal(store().get_execution("loop", ExecutionNo{2})), ErrorCode::kNotFound);
  EXPECT_EQ(prune(request).executions, 0) << "again: nothing is left to do";
}

TEST_P(Pruning, NeverTakesTheCurrentExecution) {
  for (const std::int64_t keep : {0, 1}) {
    const std::string id = "loop" + std::to_string(keep);
    loop(id, 3);
    EXPECT_EQ(prune({.id = id, .keep_last = keep}).executions, 2);
    EXPECT_EQ(kept(id), (Numbers{3}));
    end(id, ExecutionStatus::kCompleted);
    advance(1s);
    EXPECT_EQ(prune({.id = id, .keep_last = keep, .completed_before = now()}).executions, 0);
    EXPECT_EQ(status(id), ExecutionStatus::kCompleted);
    EXPECT_FALSE(history(id).empty());
  }
}

TEST_P(Pruning, ThatKeepsMoreThanThereAreDoesNothing) {
  loop("loop", 3);
  EXPECT_EQ(prune({.id = "loop", .keep_last = 10}).executions, 0);
  EXPECT_EQ(kept("loop"), (Numbers{3, 2, 1}));
}

TEST_P(Pruning, ByAgeIsStrict) {
  const TimePoint begin = now();
  loop("loop", 4);

  PruneExecutions request{.id = "loop"};
  request.completed_before = begin + 10s;
  EXPECT_EQ(prune(request).executions, 1);

  EXPECT_EQ(kept("loop"), (Numbers{4, 3, 2}));
}

TEST_P(Pruning, NeedsAllThatIsSet) {
  const TimePoint begin = now();
  loop("loop", 5);
  PruneExecutions request{.id = "loop", .keep_last = 4};
  request.completed_before = begin + 100s;
  EXPECT_EQ(prune(request).executions, 1) << "old, but kept as one of the newest";
  request.keep_last = 1;
  request.completed_before = begin + 15s;
  EXPECT_EQ(prune(request).executions, 1);
  EXPECT_EQ(kept("loop"), (Numbers{5, 4, 3}));
}

TEST_P(Pruning, LetsARunningInstanceGoOn) {
  start_and_run("loop");
  poke("loop");
  end("loop", ExecutionStatus::kContinuedAsNew);
  const OrchestrationItem item = lock("loop");

  EXPECT_EQ(prune({.id = "loop"}).executions, 1);

  TurnCommit decisions = turn(item);
  finish(decisions, item, ExecutionStatus::kContinuedAsNew);
  commit(std::move(decisions));
  EXPECT_EQ(info("loop").current.execution, ExecutionNo{3}) << "numbers go on";
}

TEST_P(Pruning, TakesAwayWorkOfThePrunedThatStillRuns) {
  for (const OnCancel on_cancel : {OnCancel::kWait, OnCancel::kAbandon}) {
    const std::string id = "loop" + std::to_string(code(on_cancel));
    NewWork work;
    work.on_cancel = on_cancel;
    start_with_work(id, 1, work);
    const WorkItem old = claim();
    poke(id);
    end(id, ExecutionStatus::kContinuedAsNew);
    const OrchestrationItem item = lock(id);
    TurnCommit decisions = turn(item);
    schedule(decisions, item, work);
    commit(std::move(decisions));
    const WorkItem current = claim();
    ASSERT_NE(check(old), ClaimState::kGone);

    const ExecutionsPruned answer = prune({.id = id});

    EXPECT_EQ(answer.touched, (std::vector<TouchedClaim>{{old.id, old.lock, false}}));
    EXPECT_EQ(check(old), ClaimState::kGone);
    EXPECT_EQ(refusal(try_complete(old)), ErrorCode::kLockLost);
    EXPECT_EQ(check(current), ClaimState::kRenewed) << "work of the current execution stays";
    complete(current);
    EXPECT_EQ(kinds(lock(id).messages),
              (std::vector<MessageKind>{MessageKind::kActivityCompleted}));
  }
}

TEST_P(Pruning, MakesRootsOfTheChildrenOfThePruned) {
  start("loop");
  start_child_of("loop", "ended");
  poke("ended");
  end("ended", ExecutionStatus::kCompleted);
  start_child_of("loop", "free", ClosePolicy::kAbandon);
  poke("loop");
  end("loop", ExecutionStatus::kContinuedAsNew);
  start_child_of("loop", "current");
  ASSERT_EQ(refusal(store().delete_instance({.id = "ended"})), ErrorCode::kConflict);

  EXPECT_EQ(prune({.id = "loop"}).executions, 1);

  EXPECT_FALSE(info("ended").parent);
  EXPECT_FALSE(info("free").parent);
  EXPECT_TRUE(info("current").parent) << "that one belongs to the current execution";
  EXPECT_EQ(status("free"), ExecutionStatus::kRunning);
  EXPECT_TRUE(store().delete_instance({.id = "ended"}).ok());
  poke("free");
  end("free", ExecutionStatus::kCompleted);
  EXPECT_FALSE(try_lock()) << "nobody is told";
}

TEST_P(Pruning, WaitsForAnUnfinishedCascade) {
  start("loop");
  OrchestrationItem item = lock("loop");
  TurnCommit decisions = turn(item);
  for (int i = 0; i < 3; ++i) schedule_child(decisions, item, std::to_string(i));
  commit(std::move(decisions));
  for (const OrchestrationItem& child : lock_up_to(10)) commit(turn(child));
  StartOrchestration next = start_request("loop");
  next.on_conflict = OnConflict::kCancelExisting;
  start(next);
  TerminateOrchestration request;
  request.id = "loop";
  request.max_descendants = 1;
  ASSERT_TRUE(store().terminate_orchestration(request).ok());
  ASSERT_EQ(info("loop").current.execution, ExecutionNo{2});
  auto rest = store().carry_on_cascades({.limit = 1});
  ASSERT_TRUE(rest.ok());
  ASSERT_GT(rest->remaining, 0);

  EXPECT_EQ(prune({.id = "loop"}).executions, 0);

  for (int round = 0; round < 10 && rest->remaining > 0; ++round) {
    rest = store().carry_on_cascades();
    ASSERT_TRUE(rest.ok());
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(status(std::to_string(i)), ExecutionStatus::kTerminated) << i;
  }
  EXPECT_EQ(prune({.id = "loop"}).executions, 1);
}

TEST_P(Pruning, GoesOnWhereItsLimitStoppedIt) {
  loop("loop", 10);
  PruneExecutions request{.id = "loop"};
  request.limit = 5;

  ExecutionsPruned answer = prune(request);

  EXPECT_GT(answer.executions, 0);
  EXPECT_LT(answer.executions, 9);
  EXPECT_TRUE(answer.more);
  std::int64_t sum = answer.executions;
  for (int round = 0; round < 100 && answer.more; ++round) {
    answer = prune(request);
    sum += answer.executions;
  }
  EXPECT_EQ(sum, 9);
  EXPECT_EQ(kept("loop"), (Numbers{10}));
  bool removing = true;
  for (int round = 0; round < 100 && removing; ++round) {
    const auto rest = store().carry_on_removals({.limit = 3});
    ASSERT_TRUE(rest.ok());
    removing = rest->removing;
  }
  const InstanceKey key = info("loop").key;
  for (int i = 1; i < 10; ++i) EXPECT_TRUE(history(key, ExecutionNo{i}).empty()) << i;
  EXPECT_FALSE(history(key, ExecutionNo{10}).empty());
}

TEST_P(Pruning, LetsGoOfManyChildrenInPortions) {
  start("loop");
  const OrchestrationItem item = lock("loop");
  TurnCommit decisions = turn(item);
  for (int i = 0; i < 7; ++i) {
    schedule_child(decisions, item, std::to_string(i), ClosePolicy::kAbandon);
  }
  finish(decisions, item, ExecutionStatus::kContinuedAsNew);
  commit(std::move(decisions));
  PruneExecutions request{.id = "loop"};
  request.limit = 3;

  EXPECT_EQ(prune(request).executions, 0);
  EXPECT_TRUE(prune(request).more);
  EXPECT_EQ(prune(request).executions, 1);

  for (int i = 0; i < 7; ++i) EXPECT_FALSE(info(std::to_string(i)).parent) << i;
}

TEST_P(Pruning, TouchesNoOtherInstance) {
  loop("a", 3);
  commit(turn(lock("a")));
  loop("b", 3);
  prune({.id = "a"});
  EXPECT_EQ(kept("b"), (Numbers{3, 2, 1}));
}

TEST_P(Pruning, RefusesWhatItCannotMean) {
  loop("loop", 2);
  EXPECT_EQ(refusal(store().prune_executions({.id = "nobody"})), ErrorCode::kNotFound);
  PruneExecutions request{.id = "loop"};
  request.keep_last = -1;
  EXPECT_EQ(refusal(store().prune_executions(request)), ErrorCode::kInvalidArgument);
  request.keep_last = 1;
  request.limit = 0;
  EXPECT_EQ(refusal(store().prune_executions(request)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(kept("loop"), (Numbers{2, 1}));
}

PERDURE_CONFORMANCE_SUITE(Pruning);

}  // namespace perdure::conformance
