#include <limits>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// Reading histories: pages, order, times, and writing on behind a row that cannot be read.
namespace perdure::conformance {

class Histories : public Conformance {
 protected:
  /// `a` with ten events: `started` and nine recorded values.
  HistoryQuery ten_events() {
    start("a");
    const OrchestrationItem item = lock("a");
    TurnCommit decisions = turn(item);
    for (int i = 0; i < 9; ++i) {
      decisions.events.push_back(next_event(item, decisions, EventKind::kSideEffectRecorded));
    }
    commit(std::move(decisions));
    HistoryQuery query;
    query.instance = item.instance;
    query.execution = item.execution;
    return query;
  }

  HistoryPage page(const HistoryQuery& query) {
    auto pages = store().read_history({query});
    EXPECT_TRUE(pages.ok()) << pages;
    return std::move(pages->at(0)).value();
  }

  static std::vector<std::int64_t> ids(const HistoryPage& page) {
    std::vector<std::int64_t> all;
    for (const HistoryEvent& event : page.events) all.push_back(event.id.value);
    return all;
  }
};

TEST_P(Histories, AreReadPageByPageWithoutAGapOrARepeat) {
  HistoryQuery query = ten_events();
  query.limit = 3;
  std::vector<std::int64_t> all;
  int pages = 0;
  for (bool more = true; more; ++pages) {
    const HistoryPage part = page(query);
    ASSERT_LE(part.events.size(), 3u);
    for (const std::int64_t id : ids(part)) all.push_back(id);
    more = part.more;
    query.after = part.events.back().id;
  }
  EXPECT_EQ(pages, 4);
  EXPECT_EQ(all, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST_P(Histories, SayThatThereIsNoMoreWhenThePageJustFits) {
  HistoryQuery query = ten_events();
  query.limit = 10;
  EXPECT_EQ(page(query).events.size(), 10u);
  EXPECT_FALSE(page(query).more);
}

TEST_P(Histories, AreEmptyBehindTheLastEvent) {
  HistoryQuery query = ten_events();
  query.after = EventId{10};
  EXPECT_TRUE(page(query).events.empty());
  EXPECT_FALSE(page(query).more);
  query.after = EventId{1'000};
  EXPECT_TRUE(page(query).events.empty());
}

TEST_P(Histories, CarryTheTimeOfTheStoreWhereTheTurnGivesNone) {
  start("a");
  advance(1h);
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  HistoryEvent event = next_event(item, decisions, EventKind::kPatchMarked);
  event.at = TimePoint{};
  decisions.events.push_back(event);
  commit(std::move(decisions));
  const auto events = history("a");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_GE(events[1].at - events[0].at, Duration{1h});
}

TEST_P(Histories, KeepEveryColumnOfAnEvent) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  HistoryEvent event = next_event(item, decisions, EventKind::kActivityFailed);
  event.source = EventId{1};
  event.name = "näme";
  event.payload = "{\"a\": 1}";
  event.text = "text";
  event.number = -42;
  event.failure = {.type = "t", .message = "m", .retryable = false, .details = "[1]"};
  decisions.events.push_back(event);
  commit(std::move(decisions));
  HistoryEvent stored = history("a").at(1);
  stored.at = event.at;
  EXPECT_EQ(stored, event);
}

TEST_P(Histories, KeepTheTimeOfTheTurnThatIsGivenWithAnEvent) {
  start("a");
  const OrchestrationItem item = lock("a");
  TurnCommit decisions = turn(item);
  HistoryEvent timed = next_event(item, decisions, EventKind::kCustomStatusSet);
  timed.at = time_from_micros(1'234'567);
  decisions.events.push_back(timed);
  commit(std::move(decisions));

  const auto events = history("a");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].at, timed.at);
}

TEST_P(Histories, CanBeEndedBehindARowThatCannotBeRead) {
  start("a");
  const OrchestrationItem item = lock("a");
  RowRef row;
  row.table = RowRef::Table::kHistory;
  row.instance = item.instance;
  row.event = EventId{1};
  under_test().corrupt(row);
  TurnCommit decisions = turn(item);
  finish(decisions, item, ExecutionStatus::kFailed);
  commit(std::move(decisions));
  EXPECT_EQ(status("a"), ExecutionStatus::kFailed);
  HistoryQuery query;
  query.instance = item.instance;
  query.execution = item.execution;
  query.after = EventId{1};
  EXPECT_EQ(kinds(page(query).events), (std::vector{EventKind::kFailed}));
}

TEST_P(Histories, AreWholeWhenTheLimitIsTheLargestNumber) {
  HistoryQuery query = ten_events();
  query.limit = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(page(query).events.size(), 10u);
}

PERDURE_CONFORMANCE_SUITE(Histories);

}  // namespace perdure::conformance
