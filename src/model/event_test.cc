#include "model/event.h"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include "model/status.h"

namespace perdure {
namespace {

TEST(HistoryEvent, IsTerminalForTheLastEventsOfAnExecution) {
  const std::set<EventKind> terminal{EventKind::kCompleted,
                                     EventKind::kFailed,
                                     EventKind::kCanceled,
                                     EventKind::kTerminated,
                                     EventKind::kContinuedAsNew};
  for (const auto& row : CodeTable<EventKind>::rows()) {
    EXPECT_EQ(is_terminal(row.value), terminal.contains(row.value)) << row.name;
  }
}

TEST(HistoryEvent, HasATerminalKindForEveryTerminalStatusUnderTheSameName) {
  std::set<std::string_view> statuses;
  for (const auto& row : CodeTable<ExecutionStatus>::rows()) {
    if (is_terminal(row.value)) statuses.insert(row.name);
  }
  std::set<std::string_view> kinds;
  for (const auto& row : CodeTable<EventKind>::rows()) {
    if (is_terminal(row.value)) kinds.insert(row.name);
  }
  EXPECT_EQ(kinds, statuses);
}

TEST(HistoryEvent, IsEqualOnlyWhenEveryFieldIs) {
  const HistoryEvent event{
      .id = EventId{2}, .kind = EventKind::kActivityFailed, .source = EventId{1}};
  HistoryEvent other = event;
  EXPECT_EQ(event, other);
  other.failure.details = "{}";
  EXPECT_NE(event, other);
  other = event;
  other.at = time_from_micros(1);
  EXPECT_NE(event, other);
}

}  // namespace
}  // namespace perdure
