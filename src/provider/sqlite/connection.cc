#include "provider/sqlite/connection.h"

#include <sqlite3.h>

#include "base/check.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

namespace {

constexpr std::string_view kDataVersion = "PRAGMA data_version";

/// The first line of a text of statements, for messages.
constexpr int kSlotBytes = 2'048;
constexpr int kSlots = 128;

std::string_view head_of(std::string_view sql) {
  constexpr std::size_t kLongest = 80;
  return sql.substr(0, std::min(sql.find('\n'), kLongest));
}

}  // namespace

std::unique_ptr<Connection> Connection::open(const std::string& path, Access access) {
  const int how = access == Access::kReadOnly ? SQLITE_OPEN_READONLY
                                              : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* db = nullptr;
  const int result = sqlite3_open_v2(
      path.c_str(), &db, how | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  if (result != SQLITE_OK) {
    const SqliteError error(
        result, "open " + path, db == nullptr ? "out of memory" : sqlite3_errmsg(db));
    sqlite3_close(db);
    throw error;
  }
  return std::unique_ptr<Connection>(new Connection(db));
}

Connection::Connection(sqlite3* db) : db_(db), cache_(static_cast<std::size_t>(Sql::kCount)) {
  // What a statement needs while it runs then comes from memory of its own connection; the
  // allocator of SQLite takes a lock that all connections share.
  sqlite3_db_config(db_, SQLITE_DBCONFIG_LOOKASIDE, nullptr, kSlotBytes, kSlots);
}

Connection::~Connection() {
  for (CachedStatement& cached : cache_) sqlite3_finalize(cached.statement);
  sqlite3_finalize(data_version_.statement);
  const int result = sqlite3_close(db_);
  PERDURE_CHECK(result == SQLITE_OK, "a query outlives its connection");
}

void Connection::exec(std::string_view sql) {
  const int result = sqlite3_exec(db_, std::string(sql).c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) throw_sqlite_error(db_, result, head_of(sql));
}

std::int64_t Connection::last_insert_id() const {
  return sqlite3_last_insert_rowid(db_);
}

std::int64_t Connection::total_changes() const {
  return sqlite3_total_changes64(db_);
}

bool Connection::in_transaction() const {
  return sqlite3_get_autocommit(db_) == 0;
}

std::int64_t Connection::data_version() {
  if (data_version_.statement == nullptr) {
    data_version_.statement = prepare(kDataVersion, kDataVersion, SQLITE_PREPARE_PERSISTENT);
  }
  Query query(data_version_, kDataVersion);
  query.next();
  return query.integer(0);
}

void Connection::set_busy_timeout(std::chrono::milliseconds timeout) {
  sqlite3_busy_timeout(db_, static_cast<int>(timeout.count()));
}

std::string Connection::file() const {
  const char* const name = sqlite3_db_filename(db_, "main");
  return name == nullptr ? "" : name;
}

Query Connection::check_out(Sql id) {
  CachedStatement& cached = cache_[static_cast<std::size_t>(id)];
  if (cached.busy) return {prepare(sql_text(id), sql_name(id), 0), sql_name(id)};
  if (cached.statement == nullptr) {
    cached.statement = prepare(sql_text(id), sql_name(id), SQLITE_PREPARE_PERSISTENT);
  }
  return {cached, sql_name(id)};
}

Query Connection::prepare_text(std::string_view sql) {
  return {prepare(sql, head_of(sql), 0), {}};
}

sqlite3_stmt* Connection::prepare(std::string_view sql, std::string_view name, unsigned flags) {
  sqlite3_stmt* statement = nullptr;
  const int result =
      sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()), flags, &statement, nullptr);
  if (result != SQLITE_OK) throw_sqlite_error(db_, result, name);
  PERDURE_CHECK(statement != nullptr, "no statement in: " + std::string(name));
  return statement;
}

std::int64_t Connection::finish(Query& query) {
  while (query.next()) {
  }
  return sqlite3_changes64(db_);
}

}  // namespace perdure::sqlite
