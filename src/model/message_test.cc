#include "model/message.h"

#include <set>

#include <gtest/gtest.h>

namespace perdure {
namespace {

using enum MessageKind;

TEST(Message, BelongsToAnExecutionWhenItIsItsStartAnAnswerATimerADeadlineOrAWake) {
  const std::set<MessageKind> bound{kStart,
                                    kActivityCompleted,
                                    kActivityFailed,
                                    kActivityCanceled,
                                    kTimerFired,
                                    kChildCompleted,
                                    kChildFailed,
                                    kChildCanceled,
                                    kChildTerminated,
                                    kChildStartFailed,
                                    kCleanupDeadline,
                                    kRunDeadline,
                                    kDrainDeadline,
                                    kWake};
  for (const auto& row : CodeTable<MessageKind>::rows()) {
    EXPECT_EQ(belongs_to_execution(row.value), bound.contains(row.value)) << row.name;
  }
}

TEST(Message, IsCarriedOverWhenItIsForTheInstance) {
  for (const MessageKind kind : {kEventRaised, kSignal, kUpdate, kQuery, kCancel}) {
    EXPECT_FALSE(belongs_to_execution(kind)) << kind;
  }
}

}  // namespace
}  // namespace perdure
