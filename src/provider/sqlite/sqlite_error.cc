#include "provider/sqlite/sqlite_error.h"

#include <sqlite3.h>

#include "base/failpoint.h"

namespace perdure::sqlite {

namespace {

std::string describe(int result, std::string_view statement, std::string_view text) {
  std::string message(statement);
  message += ": ";
  message += text;
  message += " (";
  message += sqlite3_errstr(result);
  message += ", ";
  message += std::to_string(result);
  message += ")";
  return message;
}

int result_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::kBusy:
      return SQLITE_BUSY;
    case ErrorCode::kUnavailable:
      return SQLITE_IOERR;
    case ErrorCode::kCorrupt:
      return SQLITE_CORRUPT;
    default:
      return SQLITE_ERROR;
  }
}

}  // namespace

SqliteError::SqliteError(int result, std::string_view statement, std::string_view text)
    : std::runtime_error(describe(result, statement, text)), extended_(result) {}

SqliteError::SqliteError(int result, const std::string& message)
    : std::runtime_error(message), extended_(result) {}

SqliteError SqliteError::corrupt_row(const std::string& message) {
  return {SQLITE_CORRUPT, message};
}

bool SqliteError::is_busy() const {
  return code() == SQLITE_BUSY || code() == SQLITE_LOCKED;
}

Error to_error(const SqliteError& error) {
  switch (error.code()) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return busy(error.what());
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CONSTRAINT:
      return corrupt(error.what());
    case SQLITE_TOOBIG:
      return invalid_argument(error.what());
    default:
      return unavailable(error.what());
  }
}

bool is_corrupt(const SqliteError& error) {
  return to_error(error).code == ErrorCode::kCorrupt;
}

SqliteError injected_failure(const Error& error, std::string_view step) {
  return {result_for(error.code), step, error.message};
}

void pass_failpoint(std::string_view name) {
  const Status passed = failpoint::hit(name);
  if (!passed.ok()) throw injected_failure(passed.error(), name);
}

void throw_sqlite_error(sqlite3* db, int result, std::string_view statement) {
  throw SqliteError(result, statement, db == nullptr ? "no connection" : sqlite3_errmsg(db));
}

}  // namespace perdure::sqlite
