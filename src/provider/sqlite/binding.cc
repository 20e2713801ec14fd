#include "provider/sqlite/binding.h"

#include <string>

#include <sqlite3.h>

#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

void Binder::check_complete() const {
  PERDURE_CHECK(bound_ == sqlite3_bind_parameter_count(statement_),
                std::to_string(bound_) + " values for " + sqlite3_sql(statement_));
}

void Binder::null() {
  check(sqlite3_bind_null(statement_, ++bound_));
}

void Binder::integer(std::int64_t value) {
  check(sqlite3_bind_int64(statement_, ++bound_, value));
}

void Binder::real(double value) {
  check(sqlite3_bind_double(statement_, ++bound_, value));
}

void Binder::text(std::string_view value) {
  // A null pointer would be stored as NULL, and an empty text has one.
  const char* const data = value.data() == nullptr ? "" : value.data();
  check(sqlite3_bind_text64(statement_,
                            ++bound_,
                            data,
                            value.size(),
                            lifetime_ == TextLifetime::kCopied ? SQLITE_TRANSIENT : SQLITE_STATIC,
                            SQLITE_UTF8));
}

void Binder::check(int result) const {
  PERDURE_CHECK(
      result != SQLITE_RANGE,
      "more than " + std::to_string(bound_ - 1) + " values for " + sqlite3_sql(statement_));
  if (result != SQLITE_OK) {
    throw_sqlite_error(sqlite3_db_handle(statement_), result, sqlite3_sql(statement_));
  }
}

}  // namespace perdure::sqlite
