#include <latch>

#include <sqlite3.h>

#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/writer_test.h"

namespace perdure::sqlite {
namespace {

using std::chrono::milliseconds;

/// After a commit that failed the writer looks what became of it.
class WriterLooks : public WriterFixture, public ::testing::WithParamInterface<bool> {
 protected:
  bool in_memory() const { return GetParam(); }

  void start_store() {
    if (!in_memory()) return start(false);
    auto memory = Connection::open(":memory:", Access::kReadWrite);
    memory->exec(kTables);
    writer_ =
        std::make_unique<Writer>(std::move(memory), clock_, hub_, Writer::Options{.thread = false});
  }

  /// Inserts, counts how often, and touches the queue of that name.
  Entry touch(std::int64_t x) {
    return [this, x](WriteContext& context) {
      ++applied_;
      context.topics.work("q" + std::to_string(x));
      insert(x)(context);
    };
  }

  /// The values in the table, as the writer sees them.
  Values seen() {
    Values all;
    const auto look = submit({[&all](WriteContext& context) {
      all.clear();
      Query row = context.db.query_text("SELECT x FROM t ORDER BY x");
      while (row.next()) all.push_back(row.integer(0));
    }});
    EXPECT_TRUE(writer_->poll_once());
    EXPECT_EQ(look->text(), "ok");
    return all;
  }

  bool published(const ChangeMark& mark, std::int64_t x) {
    const Interest interest{
        .after = mark, .work_queues = {"q" + std::to_string(x)}, .bound = milliseconds(0)};
    return hub_.wait(interest, {}).reason == Wake::Reason::kChanged;
  }

  int applied_ = 0;
};

TEST_P(WriterLooks, AGroupThatLandedIsAnsweredAsIfNothingHadHappened) {
  start_store();
  const ChangeMark mark = hub_.mark(0);
  const auto one = submit({touch(1)});
  const auto two = submit({touch(2), touch(3)});
  {
    const failpoint::Scoped armed("sqlite.commit.after", fail_with(ErrorCode::kUnavailable));
    EXPECT_TRUE(writer_->poll_once());
  }
  EXPECT_EQ(one->text(), "ok");
  EXPECT_EQ(two->text(), "ok ok");
  EXPECT_EQ(applied_, 3) << "done again though it had landed";
  EXPECT_EQ(seen(), (Values{1, 2, 3}));
  for (const std::int64_t x : {1, 2, 3}) EXPECT_TRUE(published(mark, x)) << x;
  EXPECT_EQ(reopened_, in_memory() ? 0 : 1);
  const auto next = submit({touch(4)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(next->text(), "ok");
}

TEST_P(WriterLooks, AGroupThatDidNotLandIsDoneAgainAndNothingIsDoubled) {
  start_store();
  const ChangeMark mark = hub_.mark(0);
  const auto one = submit({touch(1)});
  const auto two = submit({touch(2), touch(3)});
  {
    const failpoint::Scoped armed("sqlite.commit.before", fail_with(ErrorCode::kUnavailable));
    EXPECT_TRUE(writer_->poll_once());
  }
  EXPECT_EQ(one->text(), "ok");
  EXPECT_EQ(two->text(), "ok ok");
  EXPECT_EQ(applied_, 6);
  EXPECT_EQ(seen(), (Values{1, 2, 3}));
  for (const std::int64_t x : {1, 2, 3}) EXPECT_TRUE(published(mark, x)) << x;
}

TEST_P(WriterLooks, WhatNeverLandsIsUnavailableAndTheWriterGoesOn) {
  start_store();
  const ChangeMark mark = hub_.mark(0);
  const auto one = submit({touch(1)});
  const auto two = submit({touch(2), touch(3)});
  {
    const failpoint::Scoped armed("sqlite.commit.before", fail_with(ErrorCode::kUnavailable, -1));
    EXPECT_TRUE(writer_->poll_once());
  }
  EXPECT_EQ(one->text(), "Unavailable");
  EXPECT_EQ(two->text(), "Unavailable Unavailable");
  EXPECT_NE(one->wait()[0]->message.find("nothing was written"), std::string::npos);
  for (const std::int64_t x : {1, 2, 3}) EXPECT_FALSE(published(mark, x)) << x;
  EXPECT_EQ(seen(), (Values{}));
  const auto next = submit({touch(1)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(next->text(), "ok");
  EXPECT_EQ(seen(), (Values{1}));
}

TEST_P(WriterLooks, EachGroupIsLookedUpByItself) {
  start_store();
  for (std::int64_t x = 1; x <= 6; ++x) {
    const bool lands = x % 2 == 0;
    const failpoint::Scoped armed(lands ? "sqlite.commit.after" : "sqlite.commit.before",
                                  fail_with(ErrorCode::kUnavailable, lands ? 1 : 2));
    const auto outcome = submit({touch(x)});
    EXPECT_TRUE(writer_->poll_once());
    EXPECT_EQ(outcome->text(), lands ? "ok" : "Unavailable") << x;
  }
  EXPECT_EQ(seen(), (Values{2, 4, 6}));
}

TEST_P(WriterLooks, AGroupThatWroteNothingIsDoneAgain) {
  start_store();
  for (const char* point : {"sqlite.commit.before", "sqlite.commit.after"}) {
    const failpoint::Scoped armed(point, fail_with(ErrorCode::kUnavailable));
    int reads = 0;
    const auto outcome = submit({[&](WriteContext&) { ++reads; }});
    EXPECT_TRUE(writer_->poll_once());
    EXPECT_EQ(outcome->text(), "ok") << point;
    EXPECT_EQ(reads, 2) << point;
  }
}

INSTANTIATE_TEST_SUITE_P(On,
                         WriterLooks,
                         ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& param) {
                           return param.param ? "Memory" : "File";
                         });

class WriterLooksAtAFile : public WriterFixture {};

TEST_F(WriterLooksAtAFile, AlsoWhenOthersHaveCommittedInBetween) {
  start({.thread = false, .reopen = [this] {
           other_->exec("INSERT INTO t VALUES (100 + (SELECT count(*) FROM t))");
           return open();
         }});
  const std::vector<std::pair<const char*, int>> failures = {{"sqlite.commit.after", 1},
                                                             {"sqlite.commit.before", 2}};
  std::vector<std::string> answers;
  for (const auto& [point, times] : failures) {
    const failpoint::Scoped armed(point, fail_with(ErrorCode::kUnavailable, times));
    const auto outcome = submit({insert(static_cast<std::int64_t>(answers.size()))});
    EXPECT_TRUE(writer_->poll_once());
    answers.push_back(outcome->text());
  }
  EXPECT_EQ(answers, (std::vector<std::string>{"ok", "Unavailable"}));
  EXPECT_EQ(stored(), (Values{0, 101, 102, 103}));
}

TEST_F(WriterLooksAtAFile, WhenTheOneWhoHoldsItLetsGo) {
  std::latch held(1);
  start({.thread = true, .reopen = [&] {
           other_->exec("BEGIN IMMEDIATE");
           held.count_down();
           return open();
         }});
  const failpoint::Scoped armed("sqlite.commit.after", fail_with(ErrorCode::kUnavailable));
  const auto outcome = submit({insert(1)});
  held.wait();
  other_->exec("ROLLBACK");
  EXPECT_EQ(outcome->text(), "ok");
  EXPECT_EQ(stored(), (Values{1}));
}

TEST_F(WriterLooksAtAFile, AndDoesNotKnowWhenTheLookFails) {
  start({.thread = false, .reopen = [this] {
           auto db = open();
           db->exec("PRAGMA query_only = ON");
           return db;
         }});
  const failpoint::Scoped armed("sqlite.commit.after", fail_with(ErrorCode::kUnavailable));
  const auto outcome = submit({insert(1), insert(2)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(outcome->text(), "CommitUnknown CommitUnknown");
}

}  // namespace
}  // namespace perdure::sqlite
