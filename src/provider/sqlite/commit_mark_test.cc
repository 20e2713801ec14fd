#include "provider/sqlite/commit_mark.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "provider/sqlite/migrations.h"
#include "provider/sqlite/schema.h"
#include "provider/sqlite/transaction.h"

namespace perdure::sqlite {
namespace {

using std::chrono::hours;

class CommitMarkTest : public ::testing::Test {
 protected:
  CommitMarkTest() : db_(Connection::open(":memory:", Access::kReadWrite)) {
    EXPECT_TRUE(migrate(*db_, schema_migrations(), now_).ok());
  }

  std::int64_t rows() {
    Query count = db_->query_text("SELECT count(*) FROM writer_marks");
    count.next();
    return count.integer(0);
  }

  const TimePoint now_ = VirtualClock::kStart;
  std::unique_ptr<Connection> db_;
};

TEST_F(CommitMarkTest, TellsWhetherTheTransactionThatWroteItIsInTheStore) {
  CommitMark mark;
  for (int i = 0; i < 2; ++i) {
    {
      Transaction lost(*db_);
      mark.write(*db_, now_);
    }
    EXPECT_EQ(mark.landed(*db_, now_), false);
    Transaction kept(*db_);
    mark.write(*db_, now_);
    kept.commit();
    EXPECT_EQ(mark.landed(*db_, now_), true);
  }
}

TEST_F(CommitMarkTest, IsNotMovedByOtherWriters) {
  CommitMark mine;
  CommitMark other;
  mine.write(*db_, now_);
  other.write(*db_, now_);
  other.write(*db_, now_);
  EXPECT_EQ(mine.landed(*db_, now_), true);
  EXPECT_EQ(rows(), 2);
}

TEST_F(CommitMarkTest, SaysNothingAboutLongAgo) {
  CommitMark mark;
  mark.write(*db_, now_);
  EXPECT_EQ(mark.landed(*db_, now_ + hours(2)), std::nullopt);
}

TEST_F(CommitMarkTest, SaysNothingWhenItsRowCannotBeRead) {
  CommitMark mark;
  mark.write(*db_, now_);
  db_->exec("UPDATE writer_marks SET mark = 'junk'");
  EXPECT_EQ(mark.landed(*db_, now_), std::nullopt);
  mark.write(*db_, now_);
  EXPECT_EQ(mark.landed(*db_, now_), true) << "the next group writes over it";
}

TEST_F(CommitMarkTest, OfWritersLongGoneAreRemovedAndNoOthers) {
  db_->run(Sql::kWriteMark, INT64_MAX, 1, now_);
  db_->run(Sql::kWriteMark, INT64_MAX - 1, 1, now_ + hours(50));
  CommitMark mark;
  mark.write(*db_, now_ + hours(51));
  EXPECT_EQ(rows(), 2);
  Query old = db_->query(Sql::kReadMark, INT64_MAX);
  EXPECT_FALSE(old.next());
}

}  // namespace
}  // namespace perdure::sqlite
