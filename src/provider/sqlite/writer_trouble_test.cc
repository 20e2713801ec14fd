#include <latch>
#include <thread>

#include <sqlite3.h>

#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/writer_test.h"

namespace perdure::sqlite {
namespace {

using std::chrono::milliseconds;

/// Long enough to begin waiting, and soon over.
constexpr milliseconds kSoon{50};

class WriterInTrouble : public WriterFixture {};

TEST_F(WriterInTrouble, AnswersBusyWhenTheDeadlinePassesWhileAnotherHoldsTheFile) {
  start(false);
  other_->exec("BEGIN IMMEDIATE");
  const auto late = submit({insert(1), insert(2)}, {.deadline = steady_now() + kSoon});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(late->text(), "Busy Busy");
  EXPECT_NE(late->wait()[0]->message.find("nothing was written"), std::string::npos);
  other_->exec("ROLLBACK");
  const auto next = submit({insert(3)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(next->text(), "ok");
  EXPECT_EQ(stored(), (Values{3}));
}

TEST_F(WriterInTrouble, AnswersEachJobAtItsOwnDeadlineAndGoesOnWithTheOthers) {
  start(true, 1);
  other_->exec("BEGIN IMMEDIATE");
  const auto patient = submit({insert(1)});
  const auto late = submit({insert(2)}, {.deadline = steady_now() + kSoon});
  EXPECT_EQ(late->text(), "Busy");
  EXPECT_FALSE(patient->arrived());
  other_->exec("ROLLBACK");
  EXPECT_EQ(patient->text(), "ok");
  EXPECT_EQ(stored(), (Values{1}));
}

TEST_F(WriterInTrouble, TakesUrgentJobsFirstThatCameWhileItWaitedForTheFile) {
  start(true, 1);
  other_->exec("BEGIN IMMEDIATE");
  const auto ordinary = submit({insert(1)});
  const auto late = submit({}, {.deadline = steady_now() + milliseconds(1)});
  static_cast<void>(late->wait());
  const auto urgent = submit({[](WriteContext& context) {
                               Query row = context.db.query_text("SELECT count(*) FROM t");
                               row.next();
                               EXPECT_EQ(row.integer(0), 0);
                             }},
                             {.urgent = true});
  other_->exec("ROLLBACK");
  EXPECT_EQ(urgent->text(), "ok");
  EXPECT_EQ(ordinary->text(), "ok");
}

TEST_F(WriterInTrouble, WritesNothingOfAJobWhoseDeadlineHasPassedInTheQueue) {
  start(false);
  const auto late = submit({insert(1)}, {.deadline = steady_now()});
  const auto next = submit({insert(2)});
  while (writer_->poll_once()) {
  }
  EXPECT_EQ(late->text(), "Busy");
  EXPECT_EQ(next->text(), "ok");
  EXPECT_EQ(stored(), (Values{2}));
}

TEST_F(WriterInTrouble, KeepsDeadlinesWhileEntriesAreDoneAgainOneByOne) {
  start(false);
  bool again = false;
  const auto hold = [&](WriteContext&) {
    if (std::exchange(again, true)) return;
    throw SqliteError(SQLITE_FULL, "hold", "once");
  };
  // From the failure on, another connection has the file.
  const auto one = submit({hold}, {.deadline = steady_now() + kSoon});
  const auto two = submit({insert(1)}, {.deadline = steady_now() + kSoon});
  failpoint::arm("sqlite.begin.before", fail_with(ErrorCode::kBusy, -1, 1));
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(one->text(), "Busy");
  EXPECT_EQ(two->text(), "Busy");
  EXPECT_EQ(stored(), (Values{}));
}

TEST_F(WriterInTrouble, ABeginThatFailsIsAnswered) {
  start(false);
  for (const char* point : {"sqlite.begin.before", "sqlite.begin.after"}) {
    const failpoint::Scoped armed(point, fail_with(ErrorCode::kUnavailable));
    const auto refused = submit({insert(1)});
    EXPECT_TRUE(writer_->poll_once());
    EXPECT_EQ(refused->text(), "Unavailable") << point;
  }
  const auto next = submit({insert(2)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(next->text(), "ok");
  EXPECT_EQ(stored(), (Values{2}));
}

TEST_F(WriterInTrouble, ABeginThatIsBusyIsTriedAgain) {
  start(false);
  const failpoint::Scoped before("sqlite.begin.before", fail_with(ErrorCode::kBusy, 2));
  const failpoint::Scoped after("sqlite.begin.after", fail_with(ErrorCode::kBusy, 2));
  const auto outcome = submit({insert(1)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(outcome->text(), "ok");
  EXPECT_EQ(stored(), (Values{1}));
}

TEST_F(WriterInTrouble, AnEntryThatFailsOnceIsDoneAgain) {
  start(false);
  for (const char* point : {"sqlite.entry.before", "sqlite.entry.after"}) {
    other_->exec("DELETE FROM t");
    const failpoint::Scoped armed(point, fail_with(ErrorCode::kUnavailable, 1, 1));
    const auto outcome = submit({insert(1), insert(2)});
    EXPECT_TRUE(writer_->poll_once());
    EXPECT_EQ(outcome->text(), "ok ok") << point;
    EXPECT_EQ(stored(), (Values{1, 2})) << point;
  }
}

TEST_F(WriterInTrouble, AnEntryThatFailsAgainFailsAlone) {
  start(false);
  const failpoint::Scoped armed("sqlite.entry.after", fail_with(ErrorCode::kCorrupt, 2));
  const auto outcome = submit({insert(1), insert(2)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(outcome->text(), "Corrupt ok");
  EXPECT_EQ(stored(), (Values{2}));
}

TEST_F(WriterInTrouble, ACommitThatFailsOneByOneFailsItsEntryOnly) {
  start(false);
  const failpoint::Scoped entry("sqlite.entry.before", fail_with(ErrorCode::kUnavailable));
  const failpoint::Scoped commit("sqlite.commit.before", fail_with(ErrorCode::kUnavailable));
  const auto outcome = submit({insert(1), insert(2)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(outcome->text(), "Unavailable ok");
  EXPECT_EQ(stored(), (Values{2}));
}

TEST_F(WriterInTrouble, WhatMayHaveBeenCommittedIsPublished) {
  int failures = 1;
  start({.thread = false, .reopen = [&] {
           if (failures-- > 0) throw SqliteError(SQLITE_CANTOPEN, "open", "gone");
           return open();
         }});
  const ChangeMark mark = hub_.mark(0);
  const std::int64_t foreign = writer_->foreign_version();
  const failpoint::Scoped armed("sqlite.commit.after", fail_with(ErrorCode::kUnavailable));
  const auto unknown = submit({[](WriteContext& context) {
    context.topics.work("q");
    insert(1)(context);
  }});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(unknown->text(), "CommitUnknown");
  const Interest interest{.after = mark, .work_queues = {"q"}, .bound = milliseconds(0)};
  EXPECT_EQ(hub_.wait(interest, {}).reason, Wake::Reason::kChanged);
  submit({insert(2)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_GT(writer_->foreign_version(), foreign) << "nobody watched while the store was closed";
}

TEST_F(WriterInTrouble, ACommitThatIsBusyIsTriedAgain) {
  start(false);
  const failpoint::Scoped armed("sqlite.commit.before", fail_with(ErrorCode::kBusy, 3));
  const auto outcome = submit({insert(1)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(outcome->text(), "ok");
  EXPECT_EQ(stored(), (Values{1}));
  EXPECT_EQ(reopened_, 0);
}

TEST_F(WriterInTrouble, ACommitThatStaysBusyIsRolledBackAtTheDeadline) {
  start(false);
  const failpoint::Scoped armed("sqlite.commit.before", fail_with(ErrorCode::kBusy, -1));
  const auto outcome = submit({insert(1)}, {.deadline = steady_now() + kSoon});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(outcome->text(), "Busy");
  EXPECT_EQ(stored(), (Values{}));
  EXPECT_EQ(reopened_, 0);
}

TEST_F(WriterInTrouble, AnswersThatAreLostAreUnknown) {
  start(false);
  const failpoint::Scoped armed("sqlite.answer.before", fail_with(ErrorCode::kUnavailable));
  const auto outcome = submit({insert(1)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(outcome->text(), "CommitUnknown");
  EXPECT_EQ(stored(), (Values{1}));
}

TEST_F(WriterInTrouble, AStoreThatCannotBeOpenedAgainIsTriedWithEachGroup) {
  int failures = 2;
  start({.thread = false, .reopen = [&] {
           if (failures-- > 0) throw SqliteError(SQLITE_CANTOPEN, "open", "gone");
           return open();
         }});
  const failpoint::Scoped armed("sqlite.commit.before", fail_with(ErrorCode::kUnavailable));
  const std::vector<std::string> expected = {"CommitUnknown", "Unavailable", "ok"};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto outcome = submit({insert(static_cast<std::int64_t>(i))});
    static_cast<void>(writer_->foreign_version());
    EXPECT_TRUE(writer_->poll_once());
    EXPECT_EQ(outcome->text(), expected[i]);
  }
  EXPECT_EQ(stored(), (Values{2}));
}

TEST_F(WriterInTrouble, ItsEndAnswersQueuedJobs) {
  start(false);
  const auto one = submit({insert(1), insert(2)});
  const auto two = submit({insert(3)}, {.urgent = true});
  writer_.reset();
  EXPECT_EQ(one->text(), "Unavailable Unavailable");
  EXPECT_EQ(two->text(), "Unavailable");
  EXPECT_EQ(stored(), (Values{}));
}

TEST_F(WriterInTrouble, ItsEndAnswersJobsThatCompletionsSubmit) {
  start(false);
  const auto second = std::make_shared<Outcome>();
  const auto submit_second = [second, writer = writer_.get()](const Outcome::Answers&) {
    writer->submit(std::make_unique<TestJob>(
        std::vector<Entry>{insert(2)},
        [second](Outcome::Answers answers) { second->put(std::move(answers)); }));
  };
  writer_->submit(std::make_unique<TestJob>(std::vector<Entry>{insert(1)}, submit_second));
  writer_.reset();
  EXPECT_EQ(second->text(), "Unavailable");
}

TEST_F(WriterInTrouble, ItsEndDoesNotWaitForTheOneThatHoldsTheFile) {
  start(true);
  other_->exec("BEGIN IMMEDIATE");
  const auto one = submit({insert(1)});
  const auto late = submit({insert(2)}, {.deadline = steady_now() + kSoon});
  EXPECT_EQ(late->text(), "Busy") << "the writer does not wait for the file";
  writer_.reset();
  EXPECT_EQ(one->text(), "Unavailable");
}

TEST_F(WriterInTrouble, ItsEndDoesNotWaitForTheFileToDoEntriesAgain) {
  start(true);
  // From the failure on, another connection has the file.
  failpoint::arm("sqlite.begin.before", fail_with(ErrorCode::kBusy, -1, 1));
  std::latch failed(1);
  const auto one = submit({[&](WriteContext&) {
    failed.count_down();
    throw SqliteError(SQLITE_FULL, "entry", "once");
  }});
  failed.wait();
  const auto late = submit({insert(2)}, {.deadline = steady_now() + kSoon});
  EXPECT_EQ(late->text(), "Busy") << "the writer does not wait for the file";
  writer_.reset();
  EXPECT_EQ(one->text(), "Unavailable");
}

TEST_F(WriterInTrouble, ItsEndFinishesTheGroupThatHasBegun) {
  start(true);
  failpoint::arm("sqlite.entry.after", {.kind = failpoint::Action::Kind::kPause});
  const auto begun = submit({insert(1)});
  ASSERT_TRUE(failpoint::wait_until_paused("sqlite.entry.after", kLong));
  const auto queued = submit({insert(2)});
  std::thread end([this] { writer_.reset(); });
  failpoint::disarm("sqlite.entry.after");
  end.join();
  EXPECT_EQ(begun->text(), "ok");
  EXPECT_TRUE(queued->arrived());
}

}  // namespace
}  // namespace perdure::sqlite
