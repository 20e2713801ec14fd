#include "replay/commands.h"

#include <gtest/gtest.h>

#include "model/codes.h"

namespace perdure::replay {
namespace {

HistoryEvent event(EventKind kind, std::string name = {}) {
  HistoryEvent made;
  made.kind = kind;
  made.name = std::move(name);
  return made;
}

TEST(Commands, EveryKindIsACommandOrComesFromOutside) {
  // The second list is spelled out: a new kind must be put into one of the two.
  const EventKind from_outside[] = {
      EventKind::kStarted,        EventKind::kTerminated,       EventKind::kCancelRequested,
      EventKind::kCleanupExpired, EventKind::kMainBegan,        EventKind::kActivityCompleted,
      EventKind::kActivityFailed, EventKind::kActivityCanceled, EventKind::kTimerFired,
      EventKind::kEventReceived,  EventKind::kChildCompleted,   EventKind::kChildFailed,
      EventKind::kChildCanceled,  EventKind::kChildTerminated,  EventKind::kChildStartFailed,
      EventKind::kUndoCompleted,  EventKind::kUndoFailed,       EventKind::kSignalReceived,
      EventKind::kUpdateAccepted, EventKind::kDrainExpired,
  };
  for (const auto& row : CodeTable<EventKind>::rows()) {
    const bool outside = std::find(std::begin(from_outside), std::end(from_outside), row.value) !=
                         std::end(from_outside);
    EXPECT_EQ(is_command(row.value), !outside) << row.name;
  }
}

TEST(Commands, KindNameAndSourceMakeACommand) {
  const HistoryEvent recorded = event(EventKind::kActivityScheduled, "charge");
  EXPECT_TRUE(same_command(recorded, recorded));
  EXPECT_FALSE(same_command(recorded, event(EventKind::kActivityScheduled, "ship")));
  EXPECT_FALSE(same_command(recorded, event(EventKind::kChildScheduled, "charge")));
  HistoryEvent other_source = recorded;
  other_source.source = EventId{9};
  EXPECT_FALSE(same_command(recorded, other_source));
  HistoryEvent other_time = recorded;
  other_time.at = TimePoint{Duration{5}};
  other_time.id = EventId{9};
  EXPECT_TRUE(same_command(recorded, other_time));
}

TEST(Commands, AChildsIdAndAScopesNumberBelongToTheCommand) {
  for (const EventKind kind : {EventKind::kChildScheduled, EventKind::kDetachedStarted}) {
    HistoryEvent recorded = event(kind, "child");
    HistoryEvent made = recorded;
    made.text = "other id";
    EXPECT_FALSE(same_command(recorded, made));
  }
  HistoryEvent scope = event(EventKind::kScopeCanceled);
  HistoryEvent other = scope;
  other.number = 2;
  EXPECT_FALSE(same_command(scope, other));
}

TEST(Commands, ArgumentsAreWhatMayDiffer) {
  const auto differs = [](EventKind kind, auto change) {
    const HistoryEvent recorded = event(kind, "name");
    HistoryEvent made = recorded;
    change(made);
    return same_command(recorded, made) && !same_arguments(recorded, made);
  };
  const auto number = [](HistoryEvent& made) { made.number = 1; };
  const auto text = [](HistoryEvent& made) { made.text = "x"; };
  const auto payload = [](HistoryEvent& made) { made.payload = "1"; };
  EXPECT_TRUE(differs(EventKind::kActivityScheduled, number)) << "hash of the input";
  EXPECT_TRUE(differs(EventKind::kActivityScheduled, text)) << "queue";
  EXPECT_FALSE(differs(EventKind::kActivityScheduled, payload)) << "the hash stands for it";
  EXPECT_TRUE(differs(EventKind::kTimerCreated, number)) << "due time";
  EXPECT_TRUE(differs(EventKind::kChildScheduled, number));
  EXPECT_TRUE(differs(EventKind::kDetachedStarted, payload));
  EXPECT_TRUE(differs(EventKind::kCustomStatusSet, payload));
  EXPECT_TRUE(differs(EventKind::kCompleted, payload));
  EXPECT_TRUE(differs(EventKind::kContinuedAsNew, payload));
  EXPECT_TRUE(differs(EventKind::kUndoOwed, payload)) << "policy";
  EXPECT_TRUE(differs(EventKind::kUndoOwed, text)) << "queue";
  EXPECT_TRUE(differs(EventKind::kScopeCanceled, text)) << "reason";
  EXPECT_TRUE(differs(EventKind::kUpdateCompleted, payload));
  const auto failure = [](HistoryEvent& made) { made.failure.type = "x"; };
  EXPECT_TRUE(differs(EventKind::kFailed, failure));
  EXPECT_TRUE(differs(EventKind::kUpdateFailed, failure));
  EXPECT_FALSE(differs(EventKind::kSideEffectRecorded, payload)) << "recorded, never made again";
}

TEST(Commands, HashesNeverChange) {
  // FNV-1a, 64 bits: the published values.
  EXPECT_EQ(hash_of(""), static_cast<std::int64_t>(0xCBF29CE484222325ULL));
  EXPECT_EQ(hash_of("a"), static_cast<std::int64_t>(0xAF63DC4C8601EC8CULL));
  EXPECT_EQ(hash_of("foobar"), static_cast<std::int64_t>(0x85944171F73967E8ULL));
}

}  // namespace
}  // namespace perdure::replay
