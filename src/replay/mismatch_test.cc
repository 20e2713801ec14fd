#include "replay/mismatch.h"

#include <gtest/gtest.h>

#include "replay/commands.h"

namespace perdure::replay {
namespace {

TEST(Mismatch, SaysPositionExpectedActualAndHint) {
  EXPECT_EQ(to_string(Mismatch{EventId{7}, "a timer", "its end", "Go back."}),
            "at event 7 history has a timer, the code gives its end. Go back.");
}

TEST(Mismatch, EveryKindHasADescription) {
  for (const auto& row : CodeTable<EventKind>::rows()) {
    HistoryEvent event;
    event.kind = row.value;
    event.source = EventId{3};
    event.name = "name";
    EXPECT_FALSE(describe(event).empty()) << row.name;
  }
  HistoryEvent answer;
  answer.kind = EventKind::kActivityCompleted;
  answer.source = EventId{3};
  EXPECT_EQ(describe(answer), "'activity_completed' for event 3");
}

}  // namespace
}  // namespace perdure::replay
