#include "provider/sqlite/transaction.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "provider/sqlite/sqlite_error.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite {
namespace {

using support::TempDir;

class TransactionTest : public ::testing::Test {
 protected:
  TransactionTest() { db_->exec("CREATE TABLE t (x INTEGER PRIMARY KEY)"); }

  std::unique_ptr<Connection> open() {
    return Connection::open(dir_.file("db"), Access::kReadWrite);
  }
  std::int64_t rows() {
    Query count = db_->query_text("SELECT count(*) FROM t");
    count.next();
    return count.integer(0);
  }

  TempDir dir_;
  std::unique_ptr<Connection> db_ = open();
};

TEST_F(TransactionTest, KeepsWhatWasCommitted) {
  {
    Transaction transaction(*db_);
    db_->exec("INSERT INTO t VALUES (1)");
    transaction.commit();
  }
  EXPECT_FALSE(db_->in_transaction());
  EXPECT_EQ(rows(), 1);
}

TEST_F(TransactionTest, RollsBackWhatWasNotCommitted) {
  {
    const Transaction transaction(*db_);
    db_->exec("INSERT INTO t VALUES (1)");
  }
  EXPECT_FALSE(db_->in_transaction());
  EXPECT_EQ(rows(), 0);
}

TEST_F(TransactionTest, UndoesAPartThatIsNotKeptAndNothingElse) {
  Transaction transaction(*db_);
  db_->exec("INSERT INTO t VALUES (1)");
  {
    Savepoint part(*db_);
    db_->exec("INSERT INTO t VALUES (2)");
    part.keep();
  }
  {
    const Savepoint part(*db_);
    db_->exec("INSERT INTO t VALUES (3)");
  }
  EXPECT_EQ(rows(), 2);
  transaction.commit();
  EXPECT_EQ(rows(), 2);
}

TEST_F(TransactionTest, IsBusyAtItsBeginningWhileAnotherWrites) {
  const auto other = open();
  const Transaction transaction(*db_);
  try {
    const Transaction second(*other);
    FAIL() << "two writers";
  } catch (const SqliteError& error) {
    EXPECT_TRUE(error.is_busy());
  }
  EXPECT_FALSE(other->in_transaction());
}

TEST_F(TransactionTest, StandsAfterAFailedCommitAndIsRolledBackAtItsEnd) {
  db_->exec(
      "PRAGMA foreign_keys = ON;"
      "CREATE TABLE child (x REFERENCES t (x) DEFERRABLE INITIALLY DEFERRED)");
  {
    Transaction transaction(*db_);
    db_->exec("INSERT INTO child VALUES (7)");
    EXPECT_THROW(transaction.commit(), SqliteError);
    EXPECT_TRUE(db_->in_transaction());
  }
  EXPECT_FALSE(db_->in_transaction());
  Query left = db_->query_text("SELECT * FROM child");
  EXPECT_FALSE(left.next());
}

TEST_F(TransactionTest, MayBeCommittedAgainAfterABusyCommit) {
  // With a rollback journal a reader stops the commit of a writer.
  const auto reader = open();
  reader->exec("BEGIN");
  reader->exec("SELECT * FROM t");
  Transaction transaction(*db_);
  db_->exec("INSERT INTO t VALUES (1)");
  try {
    transaction.commit();
    FAIL() << "committed under a reader";
  } catch (const SqliteError& error) {
    EXPECT_TRUE(error.is_busy());
  }
  EXPECT_TRUE(db_->in_transaction());
  reader->exec("ROLLBACK");
  transaction.commit();
  EXPECT_EQ(rows(), 1);
}

TEST_F(TransactionTest, EndsQuietlyWhenSqliteHasEndedItAlready) {
  db_->exec("INSERT INTO t VALUES (1)");
  {
    const Transaction transaction(*db_);
    db_->exec("INSERT INTO t VALUES (2)");
    EXPECT_THROW(db_->exec("INSERT OR ROLLBACK INTO t VALUES (1)"), SqliteError);
    EXPECT_FALSE(db_->in_transaction());
  }
  EXPECT_EQ(rows(), 1);
}

}  // namespace
}  // namespace perdure::sqlite
