#include "provider/sqlite/query.h"

#include <utility>

#include <sqlite3.h>

#include "base/check.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

Query::Query(CachedStatement& cached, std::string_view name)
    : statement_(cached.statement), cached_(&cached), name_(name) {
  PERDURE_CHECK(!cached.busy, "a statement is used twice at once: " + std::string(name));
  cached.busy = true;
}

Query::Query(sqlite3_stmt* statement, std::string_view name) : statement_(statement), name_(name) {}

Query::Query(Query&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)),
      cached_(other.cached_),
      name_(other.name_),
      done_(other.done_) {}

Query::~Query() {
  if (statement_ == nullptr) return;
  if (cached_ == nullptr) {
    sqlite3_finalize(statement_);
    return;
  }
  // A reset repeats the error of the last step, which has been thrown already.
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  cached_->busy = false;
}

bool Query::next() {
  // Another step would run the statement once more.
  if (done_) return false;
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  done_ = true;
  if (result == SQLITE_DONE) return false;
  throw_sqlite_error(sqlite3_db_handle(statement_),
                     result,
                     name_.empty() ? std::string_view(sqlite3_sql(statement_)) : name_);
}

std::int64_t Query::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Query::real(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::string Query::text(int column) const {
  const auto* const data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (data == nullptr) {
    // Without memory SQLite answers like this too; an empty payload would be a lie.
    if (!is_null(column)) throw SqliteError(SQLITE_NOMEM, name_, "a text cannot be read");
    return {};
  }
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

bool Query::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

bool Query::is_integer(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_INTEGER;
}

bool Query::is_text(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_TEXT;
}

bool Query::is_real(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_FLOAT;
}

std::string_view Query::column_name(int column) const {
  const char* const name = sqlite3_column_name(statement_, column);
  return name == nullptr ? "a column" : name;
}

std::optional<std::int64_t> Query::optional_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

std::optional<TimePoint> Query::optional_time(int column) const {
  if (is_null(column)) return std::nullopt;
  return time(column);
}

std::optional<std::string> Query::optional_text(int column) const {
  if (is_null(column)) return std::nullopt;
  return text(column);
}

}  // namespace perdure::sqlite
