#include "replay/journal.h"

#include <gtest/gtest.h>

namespace perdure::replay {
namespace {

HistoryEvent event(std::int64_t id, EventKind kind, std::string name = {}) {
  HistoryEvent made;
  made.id = EventId{id};
  made.kind = kind;
  made.name = std::move(name);
  return made;
}

std::vector<HistoryEvent> history() {
  return {event(1, EventKind::kStarted), event(2, EventKind::kActivityScheduled, "charge")};
}

TEST(Journal, AppendsWithTheNextIdAndTheGivenTimeOnceItIsLive) {
  Journal journal(ArgumentCheck::kWarn);
  journal.load({event(1, EventKind::kStarted)});
  journal.take();
  EXPECT_EQ(journal.next_id(), EventId{2});
  journal.go_live();
  const auto first = journal.record(event(0, EventKind::kTimerCreated), TimePoint{Duration{5}});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->id, EventId{2});
  EXPECT_EQ(first->at, TimePoint{Duration{5}});
  EXPECT_EQ(journal.append(event(0, EventKind::kTimerFired)).id, EventId{3});
  EXPECT_EQ(journal.last_id(), EventId{3});
  EXPECT_EQ(journal.take_appended().size(), 2u);
  EXPECT_TRUE(journal.take_appended().empty()) << "taken once";
}

TEST(Journal, GivesBackWhatHistoryRecorded) {
  Journal journal(ArgumentCheck::kWarn);
  auto recorded = history();
  recorded[1].payload = "stored";
  journal.load(recorded);
  journal.take();
  const auto found = journal.record(event(0, EventKind::kActivityScheduled, "charge"), {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->payload, "stored");
  EXPECT_EQ(found->id, EventId{2});
  EXPECT_EQ(journal.peek(), nullptr);
  EXPECT_TRUE(journal.take_appended().empty());
}

TEST(Journal, AnotherCommandIsAMismatchForGood) {
  Journal journal(ArgumentCheck::kWarn);
  journal.load(history());
  journal.take();
  EXPECT_FALSE(journal.record(event(0, EventKind::kActivityScheduled, "ship"), {}));
  ASSERT_TRUE(journal.mismatch());
  EXPECT_EQ(journal.mismatch()->position, EventId{2});
  EXPECT_EQ(journal.mismatch()->expected, "a call of activity 'charge'");
  EXPECT_EQ(journal.mismatch()->actual, "a call of activity 'ship'");
  EXPECT_FALSE(journal.record(event(0, EventKind::kActivityScheduled, "charge"), {}))
      << "the right one comes too late";
  journal.set_mismatch({EventId{7}, "x", "y", "z"});
  EXPECT_EQ(journal.mismatch()->position, EventId{2}) << "the first is kept";
}

TEST(Journal, ACommandBehindTheEndOfHistoryIsAMismatch) {
  Journal journal(ArgumentCheck::kWarn);
  journal.load(history());
  journal.take();
  journal.take();
  EXPECT_FALSE(journal.record(event(0, EventKind::kTimerCreated), {}));
  EXPECT_EQ(journal.mismatch()->position, EventId{3});
  EXPECT_EQ(journal.mismatch()->expected, "nothing more");
}

TEST(Journal, OtherArgumentsAreTreatedAsItWasTold) {
  for (const ArgumentCheck check :
       {ArgumentCheck::kOff, ArgumentCheck::kWarn, ArgumentCheck::kStrict}) {
    Journal journal(check);
    journal.load(history());
    journal.take();
    HistoryEvent made = event(0, EventKind::kActivityScheduled, "charge");
    made.number = 99;
    EXPECT_EQ(journal.record(made, {}) != nullptr, check != ArgumentCheck::kStrict);
    EXPECT_EQ(journal.mismatch().has_value(), check == ArgumentCheck::kStrict);
    EXPECT_EQ(journal.take_warnings().size(), check == ArgumentCheck::kWarn ? 1u : 0u);
    EXPECT_TRUE(journal.take_warnings().empty());
  }
}

}  // namespace
}  // namespace perdure::replay
