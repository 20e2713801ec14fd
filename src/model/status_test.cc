#include "model/status.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace perdure {
namespace {

using enum ExecutionStatus;

constexpr std::array kAll{kRunning,
                          kCompleting,
                          kFailing,
                          kCanceling,
                          kCompleted,
                          kFailed,
                          kCanceled,
                          kTerminated,
                          kContinuedAsNew};

// Written down by hand, apart from the table: rows are `from`, columns `to`, both in the order of
// kAll; x = allowed, s = staying, - = forbidden.
constexpr std::array<std::string_view, kAll.size()> kMatrix{
    // run completing failing canceling | completed failed canceled terminated continued
    "sxxxxxxxx",
    "-sxxxx-xx",
    "--sx-x-x-",
    "---s--xx-",
    "---------",
    "---------",
    "---------",
    "---------",
    "---------",
};

TEST(StatusTransitions, AreThoseOfTheMatrix) {
  for (std::size_t from = 0; from < kAll.size(); ++from) {
    ASSERT_EQ(kMatrix[from].size(), kAll.size());
    for (std::size_t to = 0; to < kAll.size(); ++to) {
      EXPECT_EQ(is_allowed(kAll[from], kAll[to]), kMatrix[from][to] != '-')
          << kAll[from] << " to " << kAll[to];
    }
  }
}

TEST(StatusTransitions, AreListedOnceAndWithoutStaying) {
  std::set<std::pair<ExecutionStatus, ExecutionStatus>> listed;
  for (const StatusTransition& transition : status_transitions()) {
    EXPECT_NE(transition.from, transition.to);
    EXPECT_TRUE(listed.emplace(transition.from, transition.to).second)
        << transition.from << " to " << transition.to << " twice";
  }
  std::size_t expected = 0;
  for (const std::string_view row : kMatrix) {
    expected += static_cast<std::size_t>(std::count(row.begin(), row.end(), 'x'));
  }
  EXPECT_EQ(listed.size(), expected);
}

TEST(StatusTransitions, TheMatrixHasARowForEveryStatus) {
  ASSERT_EQ(CodeTable<ExecutionStatus>::rows().size(), kAll.size());
  for (const auto& row : CodeTable<ExecutionStatus>::rows()) {
    EXPECT_NE(std::find(kAll.begin(), kAll.end(), row.value), kAll.end()) << row.name;
  }
}

TEST(StatusTransitions, LeaveNoTerminalStatus) {
  for (const ExecutionStatus from :
       {kCompleted, kFailed, kCanceled, kTerminated, kContinuedAsNew}) {
    EXPECT_TRUE(is_terminal(from)) << from;
    for (const ExecutionStatus to : kAll) EXPECT_FALSE(is_allowed(from, to)) << from << to;
  }
}

TEST(StatusTransitions, LeadEveryLiveStatusToAnEndAndToTermination) {
  for (const ExecutionStatus from : {kRunning, kCompleting, kFailing, kCanceling}) {
    EXPECT_FALSE(is_terminal(from)) << from;
    EXPECT_TRUE(is_allowed(from, kTerminated)) << from;
  }
}

TEST(StatusTransitions, LetACancelReachEveryLiveStatus) {
  for (const ExecutionStatus from : {kRunning, kCompleting, kFailing, kCanceling}) {
    EXPECT_TRUE(is_allowed(from, kCanceling)) << from;
  }
}

TEST(StatusTransitions, EndAStoredCancelOnlyAsCanceledOrTerminated) {
  std::set<ExecutionStatus> ends;
  for (const ExecutionStatus to : kAll) {
    if (to != kCanceling && is_allowed(kCanceling, to)) ends.insert(to);
  }
  EXPECT_EQ(ends, (std::set{kCanceled, kTerminated}));
}

TEST(StatusTransitions, ForbidStatusesThatAreUnknown) {
  const auto unknown = static_cast<ExecutionStatus>(99);
  EXPECT_FALSE(is_allowed(unknown, unknown));
  EXPECT_FALSE(is_allowed(unknown, kCompleted));
  EXPECT_FALSE(is_allowed(kRunning, unknown));
}

}  // namespace
}  // namespace perdure
