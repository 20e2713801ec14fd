#include "provider/rules/turn_rule.h"

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perdure::rules {
namespace {

using enum ExecutionStatus;
using testing::HasSubstr;

constexpr EventId kLast{4};
constexpr std::array kStatuses{kRunning,
                               kCompleting,
                               kFailing,
                               kCanceling,
                               kCompleted,
                               kFailed,
                               kCanceled,
                               kTerminated,
                               kContinuedAsNew};

/// An event that follows `kLast` and those that the commit has already.
void append(TurnCommit& commit, EventKind kind) {
  HistoryEvent event;
  event.id = EventId{kLast.value + 1 + static_cast<std::int64_t>(commit.events.size())};
  event.kind = kind;
  commit.events.push_back(event);
}

/// A commit that is well-formed for the given status: one event, and the end that belongs to it.
TurnCommit commit_to(ExecutionStatus status) {
  TurnCommit commit;
  commit.status = status;
  append(commit, EventKind::kActivityCompleted);
  if (is_terminal(status)) append(commit, terminal_event(status));
  if (status == kContinuedAsNew) commit.next.emplace();
  return commit;
}

/// From where a turn may reach the status in one step.
ExecutionStatus origin_of(ExecutionStatus status) {
  return status == kCanceled || status == kCanceling ? kCanceling : kRunning;
}

/// Refused as InvalidArgument, and the message has all of these parts.
void expect_refused(const Status& status, const std::vector<std::string>& parts) {
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  for (const std::string& part : parts) EXPECT_THAT(status.error().message, HasSubstr(part));
}

std::string name(ExecutionStatus status) {
  return std::string(to_string(status));
}

// --- Status -------------------------------------------------------------------------------------

// Written down by hand: rows are where the execution stands, columns what the turn commits, both in
// the order of kStatuses; x = accepted. No turn terminates or begins to cancel, and nothing follows
// an end.
constexpr std::array<std::string_view, kStatuses.size()> kTransitionMatrix{
    "xxx-xx--x",
    "-xx-xx--x",
    "--x--x---",
    "---x--x--",
    "---------",
    "---------",
    "---------",
    "---------",
    "---------",
};

TEST(TurnCheck, FollowsTheMatrixOfStatusChanges) {
  for (std::size_t from = 0; from < kStatuses.size(); ++from) {
    ASSERT_EQ(kTransitionMatrix[from].size(), kStatuses.size());
    for (std::size_t to = 0; to < kStatuses.size(); ++to) {
      SCOPED_TRACE(name(kStatuses[from]) + " to " + name(kStatuses[to]));
      const Status status = check(commit_to(kStatuses[to]), kStatuses[from], kLast);
      if (kTransitionMatrix[from][to] == 'x') {
        EXPECT_TRUE(status.ok()) << status;
      } else {
        expect_refused(status, {"from " + name(kStatuses[from]) + " to " + name(kStatuses[to])});
      }
    }
  }
}

TEST(TurnCheck, HasARowForEveryStatus) {
  const std::set<ExecutionStatus> rows(kStatuses.begin(), kStatuses.end());
  for (const auto& listed : CodeTable<ExecutionStatus>::rows()) {
    EXPECT_TRUE(rows.contains(listed.value)) << listed.name;
  }
}

// --- Events -------------------------------------------------------------------------------------

TEST(TurnCheck, AcceptsATurnThatDecidedNothing) {
  TurnCommit commit;
  EXPECT_TRUE(check(commit, kRunning, kLast).ok());
}

TEST(TurnCheck, AcceptsEventsThatFollowTheLastOne) {
  TurnCommit commit;
  for (int i = 0; i < 3; ++i) append(commit, EventKind::kTimerCreated);
  EXPECT_TRUE(check(commit, kRunning, kLast).ok());
}

TEST(TurnCheck, NamesTheEventIdThatIsWrongAndTheOneThatMustFollow) {
  struct Case {
    std::vector<std::int64_t> ids;
    const char* wrong;
    const char* expected;
  };
  const std::vector<Case> cases{
      {{4}, "event id 4 ", "where 5 "},     // taken
      {{6}, "event id 6 ", "where 5 "},     // a gap at the beginning
      {{5, 7}, "event id 7 ", "where 6 "},  // a gap further on
      {{5, 5}, "event id 5 ", "where 6 "},  // twice
      {{6, 5}, "event id 6 ", "where 5 "},  // the wrong order
      {{1}, "event id 1 ", "where 5 "},     // counted anew
      {{0}, "event id 0 ", "where 5 "},     // not set
      {{5, 6, -7}, "event id -7 ", "where 7 "},
  };
  for (const Case& wrong : cases) {
    TurnCommit commit;
    for (const std::int64_t id : wrong.ids) {
      append(commit, EventKind::kTimerCreated);
      commit.events.back().id = EventId{id};
    }
    expect_refused(check(commit, kRunning, kLast), {wrong.wrong, wrong.expected});
  }
}

TEST(TurnCheck, NamesATerminalEventThatIsNotTheLast) {
  TurnCommit commit;
  commit.status = kCompleted;
  append(commit, EventKind::kCompleted);
  append(commit, EventKind::kCompleted);
  expect_refused(check(commit, kRunning, kLast), {"terminal event 5 is not the last"});
}

TEST(TurnCheck, WantsWithEachStatusItsOwnLastEvent) {
  for (const ExecutionStatus to : kStatuses) {
    if (to == kTerminated) continue;
    for (const auto& kind : CodeTable<EventKind>::rows()) {
      SCOPED_TRACE(name(to) + " with " + std::string(kind.name));
      TurnCommit commit;
      commit.status = to;
      append(commit, EventKind::kTimerCreated);
      append(commit, kind.value);
      if (to == kContinuedAsNew) commit.next.emplace();
      const bool fits = is_terminal(to) ? kind.name == to_string(to) : !is_terminal(kind.value);
      const Status status = check(commit, origin_of(to), kLast);
      if (fits) {
        EXPECT_TRUE(status.ok()) << status;
      } else {
        expect_refused(status, {"status " + name(to), "last event"});
      }
    }
  }
}

TEST(TurnCheck, WantsATerminalEventForATerminalStatusEvenWithoutOtherEvents) {
  TurnCommit commit;
  commit.status = kCompleted;
  expect_refused(check(commit, kRunning, kLast), {"status completed", "last event"});
}

TEST(TurnCheck, WantsANextExecutionExactlyForContinuedAsNew) {
  for (const ExecutionStatus to : kStatuses) {
    if (to == kTerminated) continue;
    SCOPED_TRACE(name(to));
    TurnCommit commit = commit_to(to);
    if (commit.next) {
      commit.next.reset();
    } else {
      commit.next.emplace();
    }
    expect_refused(check(commit, origin_of(to), kLast), {"'next'", "continued_as_new"});
  }
}

// --- Work, timers, children ---------------------------------------------------------------------

void add_work(TurnCommit& commit, EventId event) {
  NewWork work;
  work.event = event;
  work.queue = "default";
  work.name = "charge";
  commit.work.push_back(work);
}

void add_timer(TurnCommit& commit, EventId event) {
  NewTimer timer;
  timer.event = event;
  commit.timers.push_back(timer);
}

void add_child(TurnCommit& commit, EventId event) {
  NewChild child;
  child.event = event;
  child.id = "order-7/1.5";
  child.name = "shipping";
  child.queue = "default";
  commit.children.push_back(child);
}

struct Command {
  const char* name;
  void (*add)(TurnCommit&, EventId);
};

constexpr std::array kCommands{
    Command{"work", add_work}, Command{"timer", add_timer}, Command{"child", add_child}};

/// Three events: 5, 6 and 7.
TurnCommit three_events() {
  TurnCommit commit;
  for (int i = 0; i < 3; ++i) append(commit, EventKind::kActivityScheduled);
  return commit;
}

TEST(TurnCheck, AcceptsCommandsOfEveryEventOfTheCommit) {
  for (const Command& command : kCommands) {
    TurnCommit commit = three_events();
    for (const std::int64_t event : {5, 6, 7}) command.add(commit, EventId{event});
    const Status status = check(commit, kRunning, kLast);
    EXPECT_TRUE(status.ok()) << command.name << status;
  }
}

TEST(TurnCheck, NamesTheCommandWhoseEventIsNotInTheCommit) {
  for (const Command& command : kCommands) {
    for (const std::int64_t event : {0, 1, 4, 8, -5}) {
      TurnCommit commit = three_events();
      command.add(commit, EventId{5});
      command.add(commit, EventId{event});
      expect_refused(check(commit, kRunning, kLast),
                     {std::string(command.name) + " of event " + std::to_string(event) + ","});
    }
  }
}

TEST(TurnCheck, NamesTheCommandOfACommitWithoutEvents) {
  for (const Command& command : kCommands) {
    for (const std::int64_t event : {0, 5}) {
      TurnCommit commit;
      command.add(commit, EventId{event});
      expect_refused(check(commit, kRunning, kLast), {std::string(command.name) + " of event"});
    }
  }
}

TEST(TurnCheck, NamesTheFieldOfWorkThatCannotBeAnId) {
  for (const auto& [field, member] :
       {std::pair{"work.queue", &NewWork::queue}, std::pair{"work.name", &NewWork::name}}) {
    for (const std::string& bad : {std::string(), std::string(256, 'x'), std::string("\xff")}) {
      TurnCommit commit = three_events();
      add_work(commit, EventId{5});
      add_work(commit, EventId{6});
      commit.work.back().*member = bad;
      expect_refused(check(commit, kRunning, kLast), {std::string(field) + " must "});
    }
  }
}

TEST(TurnCheck, NamesTheFieldOfAChildThatCannotBeAnId) {
  for (const auto& [field, member] : {std::pair{"child.id", &NewChild::id},
                                      std::pair{"child.name", &NewChild::name},
                                      std::pair{"child.queue", &NewChild::queue}}) {
    for (const std::string& bad : {std::string(), std::string(256, 'x'), std::string("\xff")}) {
      TurnCommit commit = three_events();
      add_child(commit, EventId{5});
      add_child(commit, EventId{6});
      commit.children.back().*member = bad;
      expect_refused(check(commit, kRunning, kLast), {std::string(field) + " must "});
    }
  }
}

TEST(TurnCheck, LetsAnythingBeCanceledWhetherItExistsOrNot) {
  TurnCommit commit;
  for (const std::int64_t event : {0, 3, 4, 99}) {
    commit.canceled_work.push_back(EventId{event});
    commit.canceled_timers.push_back(EventId{event});
    commit.canceled_children.push_back(EventId{event});
  }
  EXPECT_TRUE(check(commit, kRunning, kLast).ok());
}

// --- Replies and kept messages ------------------------------------------------------------------

Reply reply_to(RequestKind kind, RequestStage stage) {
  return {.kind = kind, .request = "r-1", .stage = stage, .payload = {}, .failure = {}};
}

TEST(TurnCheck, LetsAnUpdateGetOnAndAQueryBeAnsweredAtOnce) {
  for (const auto& stage : CodeTable<RequestStage>::rows()) {
    SCOPED_TRACE(stage.name);
    TurnCommit commit;
    commit.replies = {reply_to(RequestKind::kUpdate, stage.value)};
    EXPECT_EQ(check(commit, kRunning, kLast).ok(), stage.value != RequestStage::kWaiting);
    commit.replies = {reply_to(RequestKind::kQuery, stage.value)};
    EXPECT_EQ(check(commit, kRunning, kLast).ok(), is_final(stage.value));
  }
}

TEST(TurnCheck, NamesTheReplyThatSaysNothing) {
  TurnCommit commit;
  commit.replies = {reply_to(RequestKind::kQuery, RequestStage::kAnswered),
                    reply_to(RequestKind::kQuery, RequestStage::kAccepted)};
  expect_refused(check(commit, kRunning, kLast), {"query 'r-1'", "accepted"});
}

TEST(TurnCheck, RefusesRepliesToOtherKindsOfCalls) {
  for (const auto& row : CodeTable<RequestKind>::rows()) {
    if (row.value == RequestKind::kUpdate || row.value == RequestKind::kQuery) continue;
    TurnCommit commit;
    commit.replies = {reply_to(row.value, RequestStage::kAnswered)};
    expect_refused(check(commit, kRunning, kLast), {"neither an update nor a query"});
  }
}

TEST(TurnCheck, KeepsMessagesForANextExecutionAlone) {
  for (const ExecutionStatus to : kStatuses) {
    if (to == kTerminated) continue;
    SCOPED_TRACE(name(to));
    TurnCommit commit = commit_to(to);
    commit.kept_messages = {MessageId{1}};
    const Status status = check(commit, origin_of(to), kLast);
    if (to == kContinuedAsNew) {
      EXPECT_TRUE(status.ok()) << status;
    } else {
      expect_refused(status, {"'kept_messages'", "continued_as_new"});
    }
  }
}

TEST(EndedCheck, TakesATerminalStatusWithoutEventsForRepliesToWhatHasEnded) {
  for (const ExecutionStatus status : kStatuses) {
    TurnCommit commit = commit_to(status);
    EXPECT_FALSE(is_for_ended(commit)) << status;
    commit.events.clear();
    EXPECT_EQ(is_for_ended(commit), is_terminal(status)) << status;
  }
}

TurnCommit replies_alone() {
  TurnCommit commit;
  commit.status = kCompleted;
  commit.replies = {reply_to(RequestKind::kQuery, RequestStage::kAnswered)};
  return commit;
}

TEST(EndedCheck, AcceptsRepliesAndWhoWroteThem) {
  TurnCommit commit = replies_alone();
  commit.lock = {Epoch{1}, 2};
  commit.version = "1";
  commit.engine_version = "1.2.3";
  commit.cleanup_timeout = std::chrono::seconds(1);
  EXPECT_TRUE(check_replies_alone(commit).ok());
  commit.replies = {reply_to(RequestKind::kQuery, RequestStage::kWaiting)};
  expect_refused(check_replies_alone(commit), {"query 'r-1'", "waiting"});
}

TEST(EndedCheck, RefusesRepliesToAnythingButQueries) {
  TurnCommit commit = replies_alone();
  commit.status = ExecutionStatus::kContinuedAsNew;
  for (const RequestStage stage : {RequestStage::kAccepted, RequestStage::kAnswered}) {
    commit.replies = {reply_to(RequestKind::kQuery, RequestStage::kAnswered),
                      reply_to(RequestKind::kUpdate, stage)};
    expect_refused(check_replies_alone(commit), {"update 'r-1'", "queries alone"});
  }
  commit.replies = {reply_to(RequestKind::kSignal, RequestStage::kAnswered)};
  expect_refused(check_replies_alone(commit), {"signal", "queries alone"});
}

TEST(EndedCheck, NamesWhatElseIsDecided) {
  struct Case {
    const char* field;
    void (*set)(TurnCommit&);
  };
  const std::vector<Case> cases{
      {"events", [](TurnCommit& c) { append(c, EventKind::kTimerCreated); }},
      {"output", [](TurnCommit& c) { c.output = "1"; }},
      {"failure", [](TurnCommit& c) { c.failure.type = "boom"; }},
      {"custom_status", [](TurnCommit& c) { c.custom_status = ""; }},
      {"work", [](TurnCommit& c) { c.work.emplace_back(); }},
      {"work", [](TurnCommit& c) { c.canceled_work.emplace_back(); }},
      {"timers", [](TurnCommit& c) { c.timers.emplace_back(); }},
      {"timers", [](TurnCommit& c) { c.canceled_timers.emplace_back(); }},
      {"children", [](TurnCommit& c) { c.children.emplace_back(); }},
      {"children", [](TurnCommit& c) { c.canceled_children.emplace_back(); }},
      {"raised", [](TurnCommit& c) { c.raised.emplace_back(); }},
      {"drain_at", [](TurnCommit& c) { c.drain_at.emplace(); }},
      {"kept_messages", [](TurnCommit& c) { c.kept_messages.emplace_back(); }},
      {"next", [](TurnCommit& c) { c.next.emplace(); }},
  };
  for (const Case& wrong : cases) {
    TurnCommit commit = replies_alone();
    wrong.set(commit);
    expect_refused(check_replies_alone(commit), {"'" + std::string(wrong.field) + "'", "alone"});
  }
}

// --- Ends ---------------------------------------------------------------------------------------

TEST(TerminalEvent, HasTheNameOfItsStatus) {
  for (const ExecutionStatus status : kStatuses) {
    if (!is_terminal(status)) continue;
    EXPECT_EQ(to_string(terminal_event(status)), to_string(status));
    EXPECT_TRUE(is_terminal(terminal_event(status))) << status;
  }
}

TEST(TerminalEventDeathTest, RefusesAStatusThatEndsNothing) {
  for (const ExecutionStatus status : {kRunning, kCompleting, kFailing, kCanceling}) {
    EXPECT_DEATH((void)terminal_event(status), "not terminal") << status;
  }
}

TEST(ParentMessage, TellsHowTheChildEnded) {
  for (const ExecutionStatus status : {kCompleted, kFailed, kCanceled, kTerminated}) {
    EXPECT_EQ(to_string(parent_message(status)), "child_" + name(status));
  }
}

TEST(ParentMessageDeathTest, RefusesAStatusAfterWhichTheChildGoesOn) {
  for (const ExecutionStatus status :
       {kRunning, kCompleting, kFailing, kCanceling, kContinuedAsNew}) {
    EXPECT_DEATH((void)parent_message(status), "ends nothing") << status;
  }
}

TEST(StatusAfterCancel, IsCanceledAtOnceOnlyWithoutATurn) {
  EXPECT_EQ(status_after_cancel(false), kCanceled);
  EXPECT_EQ(status_after_cancel(true), kCanceling);
}

}  // namespace
}  // namespace perdure::rules
