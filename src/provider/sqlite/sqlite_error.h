#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.h"

struct sqlite3;

namespace perdure::sqlite {

/// A statement failed. Thrown inside this folder only; whoever answers a caller turns it into an
/// Error with `to_error`. `what()` names the statement and carries SQLite's own text.
class SqliteError : public std::runtime_error {
 public:
  /// `result` is a result code of SQLite, extended or primary.
  SqliteError(int result, std::string_view statement, std::string_view text);
  /// A row that cannot be read: SQLITE_CORRUPT, and the message alone.
  static SqliteError corrupt_row(const std::string& message);

  /// Primary result code, for example SQLITE_BUSY.
  int code() const { return extended_ & 0xff; }
  /// Extended result code, for example SQLITE_BUSY_SNAPSHOT; the primary one when there is none.
  int extended() const { return extended_; }
  /// Another connection holds what was needed; nothing was done and the same may be tried again.
  bool is_busy() const;

 private:
  SqliteError(int result, const std::string& message);

  int extended_;
};

/// Decides by the result code, never by text: busy and locked -> Busy; corrupt, not a database and
/// a violated constraint -> Corrupt; too big -> InvalidArgument; everything else -> Unavailable.
Error to_error(const SqliteError& error);

/// True for what becomes Corrupt: the row is bad, the store is not, and others can go on.
bool is_corrupt(const SqliteError& error);

/// The failure that stands for `error` when a failpoint makes a step fail.
SqliteError injected_failure(const Error& error, std::string_view step);

/// Passes the failpoint; throws `injected_failure` when it is armed to fail.
void pass_failpoint(std::string_view name);

/// Throws the newest error of the connection under the given result code.
[[noreturn]] void throw_sqlite_error(sqlite3* db, int result, std::string_view statement);

}  // namespace perdure::sqlite
