#include "provider/sqlite/sqlite_error.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/failpoint.h"

namespace perdure::sqlite {
namespace {

struct Case {
  int result;
  ErrorCode code;
};

TEST(SqliteError, BecomesAnErrorByItsResultCodeAlone) {
  constexpr Case kCases[] = {
      {SQLITE_BUSY, ErrorCode::kBusy},
      {SQLITE_BUSY_SNAPSHOT, ErrorCode::kBusy},
      {SQLITE_BUSY_RECOVERY, ErrorCode::kBusy},
      {SQLITE_LOCKED, ErrorCode::kBusy},
      {SQLITE_LOCKED_SHAREDCACHE, ErrorCode::kBusy},
      {SQLITE_CORRUPT, ErrorCode::kCorrupt},
      {SQLITE_CORRUPT_INDEX, ErrorCode::kCorrupt},
      {SQLITE_NOTADB, ErrorCode::kCorrupt},
      {SQLITE_FULL, ErrorCode::kUnavailable},
      {SQLITE_IOERR, ErrorCode::kUnavailable},
      {SQLITE_IOERR_FSYNC, ErrorCode::kUnavailable},
      {SQLITE_CANTOPEN, ErrorCode::kUnavailable},
      {SQLITE_NOMEM, ErrorCode::kUnavailable},
      {SQLITE_READONLY_DBMOVED, ErrorCode::kUnavailable},
      {SQLITE_CONSTRAINT_UNIQUE, ErrorCode::kCorrupt},
      {SQLITE_TOOBIG, ErrorCode::kInvalidArgument},
      {SQLITE_ERROR, ErrorCode::kUnavailable},
  };
  for (const Case& expected : kCases) {
    const SqliteError error(expected.result, "insert_event", "database is locked, corrupt, full");
    EXPECT_EQ(to_error(error).code, expected.code) << expected.result;
    EXPECT_EQ(error.extended(), expected.result);
    EXPECT_EQ(error.code(), expected.result & 0xff);
    EXPECT_EQ(error.is_busy(), expected.code == ErrorCode::kBusy);
  }
}

TEST(SqliteError, NamesTheStatementAndCarriesTheTextOfSqlite) {
  const Error error = to_error(SqliteError(SQLITE_FULL, "insert_event", "no room"));
  EXPECT_NE(error.message.find("insert_event"), std::string::npos) << error;
  EXPECT_NE(error.message.find("no room"), std::string::npos) << error;
}

TEST(SqliteError, AFailpointFailsAStepTheWayItIsArmed) {
  for (const ErrorCode code : {ErrorCode::kBusy, ErrorCode::kUnavailable, ErrorCode::kCorrupt}) {
    const failpoint::Scoped armed("sqlite.begin.before", {.error = {code, "armed"}});
    try {
      pass_failpoint("sqlite.begin.before");
      FAIL() << "passed";
    } catch (const SqliteError& error) {
      EXPECT_EQ(to_error(error).code, code);
    }
    EXPECT_NO_THROW(pass_failpoint("sqlite.begin.before"));
  }
}

}  // namespace
}  // namespace perdure::sqlite
