#include "provider/sqlite/migrations.h"

#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <latch>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/failpoint.h"
#include "provider/sqlite/schema.h"
#include "provider/sqlite/sqlite_error.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::TempDir;

constexpr TimePoint kThen = time_from_micros(1'000);
constexpr TimePoint kNow = time_from_micros(2'000);

// Each fails when it is run twice.
constexpr std::array kThree = {
    Migration{1, "one", "CREATE TABLE one (x); INSERT INTO one VALUES (1);"},
    Migration{2, "two", "CREATE TABLE two (x);"},
    Migration{3, "three", "ALTER TABLE one ADD COLUMN y;"},
};

std::span<const Migration> first(std::size_t count) {
  return std::span<const Migration>(kThree).first(count);
}

class Migrations : public ::testing::Test {
 protected:
  std::unique_ptr<Connection> open() {
    return Connection::open(dir_.file("db"), Access::kReadWrite);
  }

  std::string bytes() {
    std::ifstream file(dir_.file("db"), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::vector<std::string> applied(Connection& db) {
    std::vector<std::string> all;
    Query row = db.query_text("SELECT version, name, applied_at FROM schema_migrations ORDER BY 1");
    while (row.next()) all.push_back(row.text(0) + " " + row.text(1) + " " + row.text(2));
    return all;
  }

  TempDir dir_;
};

TEST_F(Migrations, BringANewStoreToTheNewestVersion) {
  const auto db = open();
  EXPECT_EQ(stored_version(*db), 0);
  ASSERT_TRUE(migrate(*db, kThree, kNow).ok());
  EXPECT_EQ(stored_version(*db), 3);
  EXPECT_EQ(applied(*db), (std::vector<std::string>{"1 one 2000", "2 two 2000", "3 three 2000"}));
  EXPECT_FALSE(db->in_transaction());
}

TEST_F(Migrations, DoOnlyWhatIsMissingAndKeepTheData) {
  const auto db = open();
  ASSERT_TRUE(migrate(*db, first(1), kThen).ok());
  ASSERT_TRUE(migrate(*db, kThree, kNow).ok());
  EXPECT_EQ(applied(*db), (std::vector<std::string>{"1 one 1000", "2 two 2000", "3 three 2000"}));
  Query row = db->query_text("SELECT x, y FROM one");
  ASSERT_TRUE(row.next());
  EXPECT_EQ(row.integer(0), 1);
}

TEST_F(Migrations, LeaveAStoreThatIsUpToDateAloneWhileAnotherWrites) {
  const auto db = open();
  ASSERT_TRUE(migrate(*db, kThree, kThen).ok());
  const auto other = open();
  other->exec("BEGIN IMMEDIATE");
  EXPECT_TRUE(migrate(*db, kThree, kNow, milliseconds(0)).ok());
}

TEST_F(Migrations, RefuseAStoreThatIsNewerAndChangeNothing) {
  {
    const auto db = open();
    ASSERT_TRUE(migrate(*db, kThree, kThen).ok());
  }
  const std::string before = bytes();
  {
    const auto db = open();
    const Status refused = migrate(*db, first(2), kNow);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.code(), ErrorCode::kInvalidArgument);
    const std::string& message = refused.error().message;
    EXPECT_NE(message.find(dir_.file("db")), std::string::npos) << message;
    EXPECT_NE(message.find("version 3"), std::string::npos) << message;
    EXPECT_NE(message.find("up to 2"), std::string::npos) << message;
  }
  EXPECT_EQ(bytes(), before);
}

TEST_F(Migrations, RefuseAStoreWhoseVersionsMakeNoSenseAndChangeNothing) {
  for (const char* damage : {"UPDATE schema_migrations SET version = -1 WHERE version = 3",
                             "DELETE FROM schema_migrations WHERE version = 2",
                             "DELETE FROM schema_migrations"}) {
    SCOPED_TRACE(damage);
    const auto db = Connection::open(":memory:", Access::kReadWrite);
    ASSERT_TRUE(migrate(*db, kThree, kThen).ok());
    db->exec(damage);
    const std::int64_t changes = db->total_changes();
    try {
      static_cast<void>(migrate(*db, kThree, kNow));
      ADD_FAILURE() << "migrated";
    } catch (const SqliteError& error) {
      const Error answer = to_error(error);
      EXPECT_EQ(answer.code, ErrorCode::kCorrupt);
      EXPECT_NE(answer.message.find("table schema_migrations, key "), std::string::npos) << answer;
    }
    EXPECT_EQ(db->total_changes(), changes);
  }
}

TEST_F(Migrations, ChangeNothingWhenOneOfThemFails) {
  const std::array bad = {kThree[0], Migration{2, "bad", "CREATE TABLE one (x);"}};
  const auto db = open();
  EXPECT_THROW(static_cast<void>(migrate(*db, bad, kNow)), SqliteError);
  EXPECT_FALSE(db->in_transaction());
  EXPECT_EQ(stored_version(*db), 0);
  Query tables = db->query_text("SELECT name FROM sqlite_schema");
  EXPECT_FALSE(tables.next());
}

TEST_F(Migrations, ChangeNothingWhenTheyStopBetweenTwoSteps) {
  const auto db = open();
  {
    const failpoint::Scoped armed("sqlite.migrate.step", {.skip = 1});
    EXPECT_EQ(migrate(*db, kThree, kThen).code(), ErrorCode::kUnavailable);
  }
  EXPECT_EQ(stored_version(*db), 0);
  EXPECT_TRUE(migrate(*db, kThree, kNow).ok());
}

TEST_F(Migrations, WaitForAnotherThatMigratesAndFindTheWorkDone) {
  failpoint::arm("sqlite.migrate.step", {.kind = failpoint::Action::Kind::kPause});
  std::thread one([this] {
    const auto db = open();
    EXPECT_TRUE(migrate(*db, kThree, kThen).ok());
  });
  ASSERT_TRUE(failpoint::wait_until_paused("sqlite.migrate.step", seconds(60)));
  const auto db = open();
  try {
    static_cast<void>(migrate(*db, kThree, kNow, milliseconds(0)));
    ADD_FAILURE() << "migrated while another did";
  } catch (const SqliteError& error) {
    EXPECT_TRUE(error.is_busy());
  }
  std::thread two([this] {
    const auto own = open();
    EXPECT_TRUE(migrate(*own, kThree, kNow, seconds(60)).ok());
  });
  failpoint::disarm("sqlite.migrate.step");
  one.join();
  two.join();
  EXPECT_EQ(applied(*db).size(), kThree.size());
}

/// Runs a function when the connection is about to take the write lock.
class BeforeBegin {
 public:
  BeforeBegin(Connection& db, std::function<void()> act) : db_(db), act_(std::move(act)) {
    sqlite3_trace_v2(db_.raw(), SQLITE_TRACE_STMT, &BeforeBegin::on_statement, this);
  }
  BeforeBegin(const BeforeBegin&) = delete;
  BeforeBegin& operator=(const BeforeBegin&) = delete;
  ~BeforeBegin() { sqlite3_trace_v2(db_.raw(), 0, nullptr, nullptr); }

 private:
  static int on_statement(unsigned, void* self, void*, void* text) {
    if (std::string_view(static_cast<const char*>(text)) == "BEGIN IMMEDIATE") {
      static_cast<BeforeBegin*>(self)->act_();
    }
    return 0;
  }

  Connection& db_;
  std::function<void()> act_;
};

TEST_F(Migrations, FindTheWorkDoneByAnotherBetweenTheLookAndTheLock) {
  const auto db = open();
  const BeforeBegin race(*db, [this] {
    const auto other = open();
    EXPECT_TRUE(migrate(*other, kThree, kThen).ok());
  });
  EXPECT_TRUE(migrate(*db, kThree, kNow).ok());
  EXPECT_EQ(applied(*db), (std::vector<std::string>{"1 one 1000", "2 two 1000", "3 three 1000"}));
}

TEST_F(Migrations, RefuseAStoreThatBecameNewerBetweenTheLookAndTheLock) {
  const auto db = open();
  const BeforeBegin race(*db, [this] {
    const auto other = open();
    EXPECT_TRUE(migrate(*other, kThree, kThen).ok());
  });
  EXPECT_EQ(migrate(*db, first(2), kNow).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(applied(*db).size(), kThree.size());
}

TEST_F(Migrations, AreDoneOnceWhenManyBeginTogether) {
  constexpr int kThreads = 4;
  std::latch together(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const auto db = open();
      together.arrive_and_wait();
      EXPECT_TRUE(migrate(*db, kThree, kNow, seconds(60)).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto db = open();
  EXPECT_EQ(applied(*db).size(), kThree.size());
}

TEST_F(Migrations, OfThisVersionMakeAStore) {
  const auto db = open();
  ASSERT_TRUE(migrate(*db, schema_migrations(), kNow).ok());
  EXPECT_EQ(stored_version(*db), schema_migrations().back().version);
}

TEST_F(Migrations, OfThisVersionKeepAnswersOfAnOlderOneForADay) {
  const auto db = open();
  ASSERT_TRUE(migrate(*db, schema_migrations().first(1), kThen).ok());
  db->exec("INSERT INTO requests (request_id, operation, answer, at) VALUES ('r', 1, 1, 1000)");
  ASSERT_TRUE(migrate(*db, schema_migrations(), kNow).ok());
  Query row = db->query_text("SELECT at, expires_at, open, taken_until FROM requests");
  ASSERT_TRUE(row.next());
  EXPECT_EQ(row.time(1), row.time(0) + std::chrono::hours(24));
  EXPECT_EQ(row.integer(2), 0);
  EXPECT_EQ(row.integer(3), 0);
  EXPECT_FALSE(row.next());
}

}  // namespace
}  // namespace perdure::sqlite
