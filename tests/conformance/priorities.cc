#include <string>
#include <tuple>
#include <vector>

#include "tests/conformance/conformance.h"

namespace perdure::conformance {

/// An urgent run takes its turns before others that wait; what it starts is as urgent.
class Priorities : public Conformance {
 protected:
  using Ids = std::vector<std::string>;

  OrchestrationStarted start_with(const std::string& id,
                                  int priority,
                                  const std::string& name = kFlow,
                                  OnConflict on_conflict = OnConflict::kFail) {
    StartOrchestration request = start_request(id);
    request.name = name;
    request.priority = priority;
    request.on_conflict = on_conflict;
    return start(request);
  }

  std::vector<OrchestrationItem> fetched(std::size_t count,
                                         std::vector<ServedOrchestration> served = {
                                             {kFlow, kVersion}}) {
    FetchOrchestrationItems request = fetch_request(count);
    request.served = std::move(served);
    auto answer = store().fetch_orchestration_items(std::move(request));
    EXPECT_TRUE(answer.ok()) << answer;
    return answer.ok() ? answer->items : std::vector<OrchestrationItem>{};
  }

  static Ids ids(const std::vector<OrchestrationItem>& items) {
    Ids result;
    for (const OrchestrationItem& item : items) result.push_back(item.id);
    return result;
  }
};

TEST_P(Priorities, ComeBeforeAge) {
  start_with("low", -100);
  advance(1s);
  start_with("plain 1", 0);
  advance(1s);
  start_with("plain 2", 0);
  advance(1s);
  start_with("high 1", 7);
  advance(1s);
  start_with("highest", 100);
  advance(1s);
  start_with("high 2", 7);

  EXPECT_EQ(ids(fetched(2)), (Ids{"highest", "high 1"}));
  const auto rest = fetched(10);
  EXPECT_EQ(ids(rest), (Ids{"high 2", "plain 1", "plain 2", "low"}));
  EXPECT_EQ(rest.front().priority, 7);
  EXPECT_EQ(rest.back().priority, -100);
}

TEST_P(Priorities, AreMergedOverTheNamesServed) {
  start_with("a 0", 0, "alpha");
  start_with("a 5", 5, "alpha");
  start_with("b 9", 9, "beta");
  advance(1s);
  start_with("b 5", 5, "beta");

  EXPECT_EQ(ids(fetched(3, {{"alpha", kVersion}, {"beta", kVersion}})), (Ids{"b 9", "a 5", "b 5"}));
}

TEST_P(Priorities, OfRunsThatAreNotDueHoldUpNobody) {
  StartOrchestration asleep = start_request("asleep");
  asleep.priority = 50;
  asleep.delay = 1h;
  start(asleep);
  start_with("awake", -50);

  const auto first = store().fetch_orchestration_items(fetch_request(1));
  ASSERT_TRUE(first.ok()) << first;
  EXPECT_EQ(ids(first->items), Ids{"awake"});
  const auto none = store().fetch_orchestration_items(fetch_request(1));
  ASSERT_TRUE(none.ok()) << none;
  EXPECT_TRUE(none->items.empty());
  ASSERT_TRUE(none->next_at);
  EXPECT_LE(*none->next_at, now() + 1h);
}

TEST_P(Priorities, AreAskedForTheNextDueTimeWhicheverItIs) {
  for (const auto& [id, priority, delay] :
       {std::tuple("late", 9, 3h), std::tuple("soon", -9, 1h), std::tuple("then", 0, 2h)}) {
    StartOrchestration request = start_request(id);
    request.priority = priority;
    request.delay = delay;
    start(request);
  }

  const auto answer = store().fetch_orchestration_items(fetch_request(1));
  ASSERT_TRUE(answer.ok()) << answer;
  EXPECT_EQ(answer->next_at, now() + 1h);
}

TEST_P(Priorities, StayThroughContinueAsNew) {
  start_with("a", 3);
  OrchestrationItem item = lock("a");
  EXPECT_EQ(item.priority, 3);
  TurnCommit decided = turn(item);
  finish(decided, item, ExecutionStatus::kContinuedAsNew);
  commit(decided);

  start_with("between", 2);
  const auto next = fetched(2);
  EXPECT_EQ(ids(next), (Ids{"a", "between"}));
  EXPECT_EQ(next.front().priority, 3);
  EXPECT_EQ(next.front().execution, ExecutionNo{2});
}

TEST_P(Priorities, OfAChildAreWhatItsStartSays) {
  start("parent");
  const OrchestrationItem item = lock("parent");
  TurnCommit decided = turn(item);
  schedule_child(decided, item, "child", ClosePolicy::kCancel);
  decided.children[0].priority = 8;
  commit(decided);

  EXPECT_EQ(lock("child").priority, 8);
}

TEST_P(Priorities, BelongToTheRunAndNotToItsId) {
  start_with("a", 9);
  terminate("a");
  start_with("a", -9);
  EXPECT_EQ(lock("a").priority, -9);

  // The start that waits for the end of another run keeps its own.
  const auto second = start_with("a", 4, kFlow, OnConflict::kCancelExisting);
  if (second.outcome == StartOutcome::kPending) terminate("a");
  start_with("between", 3);
  const auto next = fetched(2);
  EXPECT_EQ(ids(next), (Ids{"a", "between"}));
  EXPECT_EQ(next.front().priority, 4);
}

TEST_P(Priorities, OutOfRangeAreRefusedAndNothingIsStored) {
  for (const int priority : {-101, 101, 2'000'000'000}) {
    StartOrchestration request = start_request("a");
    request.priority = priority;
    const auto refused = store().start_orchestration(request);
    EXPECT_EQ(refused.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(refused.error().message.find("priority must be -100 to 100"), std::string::npos)
        << refused.error();
    EXPECT_EQ(store().get_instance("a").code(), ErrorCode::kNotFound);
  }
}

PERDURE_CONFORMANCE_SUITE(Priorities);

}  // namespace perdure::conformance
