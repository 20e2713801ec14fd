#include "provider/rules/work_rule.h"

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include <gtest/gtest.h>

namespace perdure::rules {
namespace {

using std::chrono::seconds;
using Kind = WorkOutcome::Kind;

constexpr std::array kCauses{CancelCause::kRunCanceled,
                             CancelCause::kCallDropped,
                             CancelCause::kRunEnded,
                             CancelCause::kTerminated};
constexpr std::array kOnCancels{OnCancel::kTryCancel, OnCancel::kWait, OnCancel::kAbandon};
constexpr std::array kOutcomes{
    Kind::kCompleted, Kind::kFailed, Kind::kRetryAt, Kind::kCanceled, Kind::kGivenBack};
constexpr bool kUnclaimed = false;
constexpr bool kClaimed = true;

TEST(WorkRule, IsTestedWithEveryPolicyAndOwnerThatCanBeStored) {
  EXPECT_EQ(CodeTable<OnCancel>::rows().size(), kOnCancels.size());
  EXPECT_EQ(CodeTable<OwnerKind>::rows().size(), 2u);
}

// --- Cancel -------------------------------------------------------------------------------------

struct CancelRow {
  CancelCause cause;
  bool claimed;
  OnCancel on_cancel;
  std::string_view effects;
};

// Written down by hand. Columns: plain, marked before, shielded, shielded and marked before.
// k = keep, d = delete, m = mark, c = cut, e = end.
constexpr std::array kCancelMatrix{
    CancelRow{CancelCause::kRunCanceled, kUnclaimed, OnCancel::kTryCancel, "ddkk"},
    CancelRow{CancelCause::kRunCanceled, kUnclaimed, OnCancel::kWait, "eekk"},
    CancelRow{CancelCause::kRunCanceled, kUnclaimed, OnCancel::kAbandon, "ddkk"},
    CancelRow{CancelCause::kRunCanceled, kClaimed, OnCancel::kTryCancel, "ddkk"},
    CancelRow{CancelCause::kRunCanceled, kClaimed, OnCancel::kWait, "mkkk"},
    CancelRow{CancelCause::kRunCanceled, kClaimed, OnCancel::kAbandon, "cckk"},

    CancelRow{CancelCause::kCallDropped, kUnclaimed, OnCancel::kTryCancel, "dddd"},
    CancelRow{CancelCause::kCallDropped, kUnclaimed, OnCancel::kWait, "eeee"},
    CancelRow{CancelCause::kCallDropped, kUnclaimed, OnCancel::kAbandon, "dddd"},
    CancelRow{CancelCause::kCallDropped, kClaimed, OnCancel::kTryCancel, "dddd"},
    CancelRow{CancelCause::kCallDropped, kClaimed, OnCancel::kWait, "mkmk"},
    CancelRow{CancelCause::kCallDropped, kClaimed, OnCancel::kAbandon, "cccc"},

    CancelRow{CancelCause::kRunEnded, kUnclaimed, OnCancel::kTryCancel, "dddd"},
    CancelRow{CancelCause::kRunEnded, kUnclaimed, OnCancel::kWait, "dddd"},
    CancelRow{CancelCause::kRunEnded, kUnclaimed, OnCancel::kAbandon, "dddd"},
    CancelRow{CancelCause::kRunEnded, kClaimed, OnCancel::kTryCancel, "dddd"},
    CancelRow{CancelCause::kRunEnded, kClaimed, OnCancel::kWait, "mkmk"},
    CancelRow{CancelCause::kRunEnded, kClaimed, OnCancel::kAbandon, "cccc"},

    CancelRow{CancelCause::kTerminated, kUnclaimed, OnCancel::kTryCancel, "dddd"},
    CancelRow{CancelCause::kTerminated, kUnclaimed, OnCancel::kWait, "dddd"},
    CancelRow{CancelCause::kTerminated, kUnclaimed, OnCancel::kAbandon, "dddd"},
    CancelRow{CancelCause::kTerminated, kClaimed, OnCancel::kTryCancel, "dddd"},
    CancelRow{CancelCause::kTerminated, kClaimed, OnCancel::kWait, "dddd"},
    CancelRow{CancelCause::kTerminated, kClaimed, OnCancel::kAbandon, "dddd"},
};

std::string_view name(CancelCause cause) {
  switch (cause) {
    case CancelCause::kRunCanceled:
      return "run canceled";
    case CancelCause::kCallDropped:
      return "call dropped";
    case CancelCause::kRunEnded:
      return "run ended";
    case CancelCause::kTerminated:
      return "terminated";
  }
  return "?";
}

char letter(CancelEffect effect) {
  switch (effect) {
    case CancelEffect::kKeep:
      return 'k';
    case CancelEffect::kDelete:
      return 'd';
    case CancelEffect::kMark:
      return 'm';
    case CancelEffect::kCut:
      return 'c';
    case CancelEffect::kEnd:
      return 'e';
  }
  return '?';
}

TEST(CancelOfWork, FollowsTheMatrixOfCauseClaimPolicyShieldAndMark) {
  for (const CancelRow& row : kCancelMatrix) {
    std::string effects;
    for (const bool shielded : {false, true}) {
      for (const bool marked : {false, true}) {
        effects += letter(cancel_effect(row.cause, row.claimed, row.on_cancel, shielded, marked));
      }
    }
    EXPECT_EQ(effects, row.effects)
        << name(row.cause) << (row.claimed ? ", claimed, " : ", unclaimed, ") << row.on_cancel;
  }
}

TEST(CancelOfWork, HasARowForEveryCauseClaimAndPolicy) {
  std::set<std::tuple<CancelCause, bool, OnCancel>> rows;
  for (const CancelRow& row : kCancelMatrix) rows.emplace(row.cause, row.claimed, row.on_cancel);
  EXPECT_EQ(rows.size(), kCauses.size() * 2 * kOnCancels.size());
  EXPECT_EQ(rows.size(), kCancelMatrix.size()) << "a row stands there twice";
}

// --- Settlement ---------------------------------------------------------------------------------

struct SettlementRow {
  Kind outcome;
  bool marked;
  char row;               // d = deleted, r = tried again, g = given back
  std::string_view tell;  // to an activity, by on_cancel: c completed, f failed, x canceled, - none
};

// Written down by hand; columns in the order of kOnCancels.
constexpr std::array kSettlementMatrix{
    SettlementRow{Kind::kCompleted, false, 'd', "ccc"},
    SettlementRow{Kind::kFailed, false, 'd', "fff"},
    SettlementRow{Kind::kRetryAt, false, 'r', "---"},
    SettlementRow{Kind::kCanceled, false, 'd', "-x-"},
    SettlementRow{Kind::kGivenBack, false, 'g', "---"},
    SettlementRow{Kind::kCompleted, true, 'd', "ccc"},
    SettlementRow{Kind::kFailed, true, 'd', "fff"},
    SettlementRow{Kind::kRetryAt, true, 'd', "fff"},
    SettlementRow{Kind::kCanceled, true, 'd', "xxx"},
    SettlementRow{Kind::kGivenBack, true, 'd', "xxx"},
};

char row_letter(const Settlement& settlement) {
  switch (settlement.row) {
    case Settlement::Row::kDelete:
      return 'd';
    case Settlement::Row::kRetry:
      return 'r';
    case Settlement::Row::kGiveBack:
      return 'g';
  }
  return '?';
}

char tell_letter(const Settlement& settlement) {
  if (!settlement.tell) return '-';
  switch (*settlement.tell) {
    case MessageKind::kActivityCompleted:
      return 'c';
    case MessageKind::kActivityFailed:
      return 'f';
    case MessageKind::kActivityCanceled:
      return 'x';
    default:
      return '?';
  }
}

/// Row and message of one outcome for every policy: "ddd" and "ccc".
std::pair<std::string, std::string> settled(const SettlementRow& row, OwnerKind owner) {
  std::string rows;
  std::string told;
  for (const OnCancel on_cancel : kOnCancels) {
    const Settlement settlement = settle(row.outcome, owner, on_cancel, row.marked);
    rows += row_letter(settlement);
    told += tell_letter(settlement);
  }
  return {rows, told};
}

TEST(SettlementOfWork, FollowsTheMatrixOfOutcomePolicyAndMark) {
  for (const SettlementRow& row : kSettlementMatrix) {
    const auto [rows, told] = settled(row, OwnerKind::kActivity);
    EXPECT_EQ(rows, std::string(3, row.row)) << static_cast<int>(row.outcome) << row.marked;
    EXPECT_EQ(told, row.tell) << static_cast<int>(row.outcome) << row.marked;
  }
}

TEST(SettlementOfWork, WithoutAnOwnerEndsTheRowAndTellsNobody) {
  for (const SettlementRow& row : kSettlementMatrix) {
    const auto [rows, told] = settled(row, OwnerKind::kNobody);
    EXPECT_EQ(rows, "ddd") << static_cast<int>(row.outcome) << row.marked;
    EXPECT_EQ(told, "---") << static_cast<int>(row.outcome) << row.marked;
  }
}

TEST(SettlementOfWork, HasARowForEveryOutcomeWithAndWithoutAMark) {
  std::set<std::pair<Kind, bool>> rows;
  for (const SettlementRow& row : kSettlementMatrix) rows.emplace(row.outcome, row.marked);
  EXPECT_EQ(rows.size(), kOutcomes.size() * 2);
}

// --- Lapse --------------------------------------------------------------------------------------

TEST(LapseOfWork, FreesTheRowUntilTheLossesReachTheLimit) {
  EXPECT_EQ(lapse_effect(false, 1, 10, true), LapseEffect::kReady);
  EXPECT_EQ(lapse_effect(false, kSuspectLosses, 10, true), LapseEffect::kReady);
  EXPECT_EQ(lapse_effect(false, 9, 10, true), LapseEffect::kReady);
  EXPECT_EQ(lapse_effect(false, 10, 10, true), LapseEffect::kPoison);
  EXPECT_EQ(lapse_effect(false, 11, 10, true), LapseEffect::kPoison);
  EXPECT_EQ(lapse_effect(false, 1, 1, true), LapseEffect::kPoison);
}

TEST(LapseOfWork, NeverFailsARowThatWasLostInCompany) {
  for (const int losses : {1, 9, 10, 11, 1'000}) {
    EXPECT_EQ(lapse_effect(false, losses, 10, false), LapseEffect::kReady) << losses;
  }
}

TEST(LapseOfWork, EndsAMarkedRowAsCanceledHoweverManyItsLosses) {
  for (const int losses : {1, 9, 10, 11}) {
    EXPECT_EQ(lapse_effect(true, losses, 10, true), LapseEffect::kCanceled) << losses;
    EXPECT_EQ(lapse_effect(true, losses, 10, false), LapseEffect::kCanceled) << losses;
  }
}

TEST(TrialOfWork, BeginsWhenTheNextLossMayFailTheRow) {
  EXPECT_FALSE(is_on_trial(8, 10));
  EXPECT_TRUE(is_on_trial(9, 10));
  EXPECT_TRUE(is_on_trial(25, 10));
  EXPECT_FALSE(is_on_trial(kSuspectLosses - 1, kSuspectLosses)) << "no suspect yet";
  EXPECT_TRUE(is_on_trial(kSuspectLosses, kSuspectLosses));
}

TEST(TrialOfWork, LastsTwiceAsLongAfterEachLossInCompany) {
  using std::chrono::minutes;
  EXPECT_EQ(trial_time(9, 10), minutes(1));
  EXPECT_EQ(trial_time(10, 10), minutes(2));
  EXPECT_EQ(trial_time(12, 10), minutes(8));
  EXPECT_EQ(trial_time(13, 10), minutes(16));
  EXPECT_EQ(trial_time(1'000'000, 10), minutes(16)) << "the others are held up for no longer";
  EXPECT_EQ(trial_time(0, 10), minutes(1));
}

// --- Expiry -------------------------------------------------------------------------------------

struct ExpiryRow {
  seconds to_start;
  seconds to_close;
  seconds unclaimed;  // due after so long while nobody has claimed it; -1 = never
  seconds claimed;    // due after so long once somebody has
};

constexpr seconds kNever{-1};

constexpr std::array kExpiryTable{
    ExpiryRow{seconds(0), seconds(0), kNever, kNever},
    ExpiryRow{seconds(10), seconds(0), seconds(10), kNever},
    ExpiryRow{seconds(0), seconds(60), seconds(60), seconds(60)},
    ExpiryRow{seconds(10), seconds(60), seconds(10), seconds(60)},
    ExpiryRow{seconds(60), seconds(10), seconds(10), seconds(10)},
    ExpiryRow{seconds(10), seconds(10), seconds(10), seconds(10)},
};

constexpr TimePoint kBirth = time_from_micros(1'767'225'600'000'000);

std::optional<TimePoint> after_birth(seconds delay) {
  if (delay == kNever) return std::nullopt;
  return kBirth + delay;
}

TEST(ExpiryOfWork, IsTheEarlierLimitThatStillCounts) {
  for (const ExpiryRow& row : kExpiryTable) {
    WorkTimeouts timeouts;
    timeouts.schedule_to_start = row.to_start;
    timeouts.schedule_to_close = row.to_close;
    EXPECT_EQ(expiry(timeouts, kBirth, false), after_birth(row.unclaimed))
        << row.to_start.count() << " and " << row.to_close.count() << ", unclaimed";
    EXPECT_EQ(expiry(timeouts, kBirth, true), after_birth(row.claimed))
        << row.to_start.count() << " and " << row.to_close.count() << ", claimed";
  }
}

TEST(ExpiryOfWork, LeavesTheLimitsOfOneAttemptToItsWorker) {
  WorkTimeouts timeouts;
  timeouts.start_to_close = seconds(1);
  timeouts.heartbeat = seconds(1);
  EXPECT_EQ(expiry(timeouts, kBirth, false), std::nullopt);
  EXPECT_EQ(expiry(timeouts, kBirth, true), std::nullopt);
}

TEST(ExpiryOfWork, OfAnEndlessLimitIsForever) {
  WorkTimeouts timeouts;
  timeouts.schedule_to_start = Duration::max();
  timeouts.schedule_to_close = Duration::max();
  EXPECT_EQ(expiry(timeouts, kBirth, false), kForever);
  EXPECT_EQ(expiry(timeouts, kBirth, true), kForever);
}

}  // namespace
}  // namespace perdure::rules
