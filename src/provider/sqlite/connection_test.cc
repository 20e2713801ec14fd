#include "provider/sqlite/connection.h"

#include <filesystem>
#include <limits>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "model/ids.h"
#include "model/status.h"
#include "provider/sqlite/schema.h"
#include "provider/sqlite/sqlite_error.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite {
namespace {

using support::TempDir;

std::unique_ptr<Connection> open_memory() {
  return Connection::open(":memory:", Access::kReadWrite);
}

/// What SQLite has got for one value: its type and its text.
template <class T>
std::pair<std::string, std::string> bound(Connection& db, const T& value) {
  Query row = db.query_text("SELECT typeof(?1), ?1", value);
  EXPECT_TRUE(row.next());
  return {row.text(0), row.text(1)};
}

using Stored = std::pair<std::string, std::string>;

TEST(Binding, StoresEachTypeAsTheSchemaExpectsIt) {
  const auto db = open_memory();
  EXPECT_EQ(bound(*db, 42), Stored("integer", "42"));
  EXPECT_EQ(bound(*db, std::numeric_limits<std::int64_t>::min()),
            Stored("integer", "-9223372036854775808"));
  EXPECT_EQ(bound(*db, std::size_t{7}), Stored("integer", "7"));
  EXPECT_EQ(bound(*db, true), Stored("integer", "1"));
  EXPECT_EQ(bound(*db, 1.5), Stored("real", "1.5"));
  EXPECT_EQ(bound(*db, "literal"), Stored("text", "literal"));
  EXPECT_EQ(bound(*db, std::string("text")), Stored("text", "text"));
  EXPECT_EQ(bound(*db, std::string_view("view")), Stored("text", "view"));
  EXPECT_EQ(bound(*db, time_from_micros(1'000'001)), Stored("integer", "1000001"));
  EXPECT_EQ(bound(*db, Duration(5)), Stored("integer", "5"));
  EXPECT_EQ(bound(*db, std::chrono::seconds(2)), Stored("integer", "2000000"));
  EXPECT_EQ(bound(*db, InstanceKey{9}), Stored("integer", "9"));
  EXPECT_EQ(bound(*db, ExecutionStatus::kCanceling), Stored("integer", "4"));
}

TEST(Binding, StoresAnEmptyOptionalAsNullAndAFullOneAsItsValue) {
  const auto db = open_memory();
  EXPECT_EQ(bound(*db, std::optional<TimePoint>()), Stored("null", ""));
  EXPECT_EQ(bound(*db, std::optional<std::string>()), Stored("null", ""));
  EXPECT_EQ(bound(*db, nullptr), Stored("null", ""));
  EXPECT_EQ(bound(*db, std::nullopt), Stored("null", ""));
  EXPECT_EQ(bound(*db, std::optional(time_from_micros(3))), Stored("integer", "3"));
  EXPECT_EQ(bound(*db, std::optional(Epoch{4})), Stored("integer", "4"));
  EXPECT_EQ(bound(*db, std::optional<std::string>("x")), Stored("text", "x"));
}

TEST(Binding, StoresAnEmptyTextAsTextAndNotAsNull) {
  const auto db = open_memory();
  EXPECT_EQ(bound(*db, std::string_view()), Stored("text", ""));
  EXPECT_EQ(bound(*db, std::string()), Stored("text", ""));
}

TEST(Binding, KeepsBytesAfterANul) {
  const auto db = open_memory();
  const std::string text("a\0b", 3);
  Query row = db->query_text("SELECT ?1", text);
  ASSERT_TRUE(row.next());
  EXPECT_EQ(row.text(0), text);
}

TEST(BindingDeathTest, AbortsForAMissingOrASurplusValue) {
  const auto db = open_memory();
  EXPECT_DEATH(db->query_text("SELECT ?1, ?2", 1), "1 values for SELECT");
  EXPECT_DEATH(db->query_text("SELECT ?1", 1, 2), "more than 1 values for SELECT");
  EXPECT_DEATH(db->query_text("SELECT ?1", std::numeric_limits<std::uint64_t>::max()),
               "cannot keep");
}

TEST(Query, ReadsColumnsAsTheyWereStored) {
  const auto db = open_memory();
  Query row = db->query_text("SELECT 5, 2.5, 'text', NULL, 1000000, 4, 99, 1");
  ASSERT_TRUE(row.next());
  EXPECT_EQ(row.integer(0), 5);
  EXPECT_EQ(row.id<InstanceKey>(0), InstanceKey{5});
  EXPECT_EQ(row.optional_integer(0), 5);
  EXPECT_TRUE(row.is_integer(0));
  EXPECT_FALSE(row.is_text(0));
  EXPECT_EQ(row.real(1), 2.5);
  EXPECT_EQ(row.text(2), "text");
  EXPECT_EQ(row.optional_text(2), "text");
  EXPECT_TRUE(row.is_text(2));
  EXPECT_TRUE(row.is_null(3));
  EXPECT_EQ(row.text(3), "");
  EXPECT_EQ(row.optional_integer(3), std::nullopt);
  EXPECT_EQ(row.optional_time(3), std::nullopt);
  EXPECT_EQ(row.optional_text(3), std::nullopt);
  EXPECT_EQ(row.time(4), time_from_micros(1'000'000));
  EXPECT_EQ(row.optional_time(4), time_from_micros(1'000'000));
  EXPECT_EQ(row.code<ExecutionStatus>(5), ExecutionStatus::kCanceling);
  EXPECT_EQ(row.code<ExecutionStatus>(6), std::nullopt);
  EXPECT_TRUE(row.flag(7));
  EXPECT_FALSE(row.next());
}

TEST(Query, DoesNotRunAStatementAgainAfterItsEnd) {
  const auto db = open_memory();
  db->exec("CREATE TABLE t (x)");
  Query insert = db->query_text("INSERT INTO t VALUES (1) RETURNING x");
  EXPECT_TRUE(insert.next());
  EXPECT_FALSE(insert.next());
  EXPECT_FALSE(insert.next());
  Query count = db->query_text("SELECT count(*) FROM t");
  ASSERT_TRUE(count.next());
  EXPECT_EQ(count.integer(0), 1);
}

TEST(Query, GoesOnAfterItWasMoved) {
  const auto db = open_memory();
  Query first = db->query_text("VALUES (1), (2)");
  ASSERT_TRUE(first.next());
  Query second = std::move(first);
  ASSERT_TRUE(second.next());
  EXPECT_EQ(second.integer(0), 2);
}

/// A store with the real schema and the instances "a" and "b".
class CachedStatements : public ::testing::Test {
 protected:
  CachedStatements() {
    EXPECT_TRUE(migrate(*db_, schema_migrations(), TimePoint{}).ok());
    for (const char* id : {"a", "b"}) {
      db_->run_text(
          "INSERT INTO instances (id, name, version, queue, current_execution, created_at) "
          "VALUES (?, 'n', '1', 'q', 1, 0)",
          id);
    }
  }

  std::unique_ptr<Connection> db_ = open_memory();
};

TEST_F(CachedStatements, AreUsedAgainWithNewValues) {
  for (const char* id : {"a", "b", "a"}) {
    Query row = db_->query(Sql::kFindInstance, id);
    ASSERT_TRUE(row.next());
    EXPECT_EQ(row.text(1), id);
  }
  Query none = db_->query(Sql::kFindInstance, "c");
  EXPECT_FALSE(none.next());
}

TEST_F(CachedStatements, DoNotDisturbEachOtherWhenOneIsUsedInsideItself) {
  Query outer = db_->query(Sql::kFindInstance, "a");
  {
    Query inner = db_->query(Sql::kFindInstance, "b");
    ASSERT_TRUE(inner.next());
    ASSERT_TRUE(outer.next());
    EXPECT_EQ(inner.text(1), "b");
  }
  EXPECT_EQ(outer.text(1), "a");
  EXPECT_FALSE(outer.next());
}

TEST_F(CachedStatements, CopyTheTextsOfAQuery) {
  auto text = std::make_unique<std::string>("a");
  Query row = db_->query(Sql::kFindInstance, *text);
  text->assign("b");
  text.reset();
  ASSERT_TRUE(row.next());
  EXPECT_EQ(row.text(1), "a");
}

TEST_F(CachedStatements, AnswerHowManyRowsChanged) {
  EXPECT_EQ(db_->run(Sql::kSetInstanceVersion, InstanceKey{1}, std::string("2")), 1);
  EXPECT_EQ(db_->run(Sql::kSetInstanceVersion, InstanceKey{99}, "2"), 0);
  Query row = db_->query(Sql::kFindInstance, "a");
  ASSERT_TRUE(row.next());
  EXPECT_EQ(row.text(3), "2");
}

TEST_F(CachedStatements, AreNamedByTheirFailures) {
  db_->exec("DROP TABLE instances");
  try {
    db_->run(Sql::kSetInstanceVersion, 1, "2");
    FAIL() << "no table, no failure";
  } catch (const SqliteError& error) {
    EXPECT_NE(std::string(error.what()).find(sql_name(Sql::kSetInstanceVersion)), std::string::npos)
        << error.what();
    EXPECT_EQ(error.code(), SQLITE_ERROR);
  }
}

TEST_F(CachedStatements, CanBeUsedAfterTheyFailed) {
  db_->exec(
      "CREATE TRIGGER refuse BEFORE UPDATE ON instances BEGIN SELECT RAISE(ABORT, 'no'); END");
  EXPECT_THROW(db_->run(Sql::kSetInstanceVersion, 1, "2"), SqliteError);
  db_->exec("DROP TRIGGER refuse");
  EXPECT_EQ(db_->run(Sql::kSetInstanceVersion, 1, "2"), 1);
}

TEST(Connection, GivesExtendedResultCodes) {
  const auto db = open_memory();
  db->exec("CREATE TABLE t (x INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)");
  try {
    db->run_text("INSERT INTO t VALUES (?)", 1);
    FAIL() << "a key twice";
  } catch (const SqliteError& error) {
    EXPECT_EQ(error.code(), SQLITE_CONSTRAINT);
    EXPECT_EQ(error.extended(), SQLITE_CONSTRAINT_PRIMARYKEY);
  }
  EXPECT_EQ(db->last_insert_id(), 1);
}

TEST(Connection, ReadOnlyWritesAndCreatesNothing) {
  const TempDir dir;
  EXPECT_THROW(Connection::open(dir.file("db"), Access::kReadOnly), SqliteError);
  EXPECT_FALSE(std::filesystem::exists(dir.file("db")));
  Connection::open(dir.file("db"), Access::kReadWrite)->exec("CREATE TABLE t (x)");
  const auto db = Connection::open(dir.file("db"), Access::kReadOnly);
  try {
    db->exec("INSERT INTO t VALUES (1)");
    FAIL() << "written";
  } catch (const SqliteError& error) {
    EXPECT_EQ(error.code(), SQLITE_READONLY);
    EXPECT_EQ(to_error(error).code, ErrorCode::kUnavailable);
  }
}

TEST(Connection, DataVersionMovesForCommitsOfOthersOnly) {
  const TempDir dir;
  const auto ours = Connection::open(dir.file("db"), Access::kReadWrite);
  ours->exec("PRAGMA journal_mode = WAL; CREATE TABLE t (x)");
  const auto theirs = Connection::open(dir.file("db"), Access::kReadWrite);
  const std::int64_t before = ours->data_version();
  ours->exec("INSERT INTO t VALUES (1)");
  EXPECT_EQ(ours->data_version(), before);
  theirs->exec("INSERT INTO t VALUES (2)");
  EXPECT_NE(ours->data_version(), before);
}

TEST(Connection, KnowsItsFileAndWhetherATransactionIsOpen) {
  const TempDir dir;
  const auto db = Connection::open(dir.file("db"), Access::kReadWrite);
  EXPECT_EQ(std::filesystem::weakly_canonical(db->file()),
            std::filesystem::weakly_canonical(dir.file("db")));
  EXPECT_EQ(open_memory()->file(), "");
  EXPECT_FALSE(db->in_transaction());
  db->exec("BEGIN");
  EXPECT_TRUE(db->in_transaction());
  db->exec("ROLLBACK");
  EXPECT_FALSE(db->in_transaction());
}

TEST(ConnectionDeathTest, AbortsWhenAQueryOutlivesIt) {
  auto db = open_memory();
  EXPECT_DEATH(
      {
        Query row = db->query_text("SELECT 1");
        row.next();
        db.reset();
      },
      "outlives");
}

}  // namespace
}  // namespace perdure::sqlite
