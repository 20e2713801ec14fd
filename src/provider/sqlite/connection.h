#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "provider/sqlite/binding.h"
#include "provider/sqlite/query.h"
#include "provider/sqlite/statements.h"

struct sqlite3;
struct sqlite3_stmt;

namespace perdure::sqlite {

enum class Access : std::uint8_t { kReadWrite, kReadOnly };

/// One connection with its prepared statements. Every failure is thrown as SqliteError.
/// Threading: one thread at a time; the owner sees to it.
class Connection {
 public:
  using Access = sqlite::Access;

  /// Creates the file when it is missing and access is read-write. ":memory:" is a store of its
  /// own. The connection does not wait for locks until `set_busy_timeout` says so.
  static std::unique_ptr<Connection> open(const std::string& path, Access access);

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  /// An open transaction is rolled back. No Query may be left.
  ~Connection();

  /// Runs all statements of a text; rows are dropped.
  void exec(std::string_view sql);

  /// Begins a statement of the catalog; bound texts are copied. A statement that is already under
  /// way is not disturbed: a second one is prepared for this query.
  template <class... Args>
  Query query(Sql id, const Args&... args) {
    Query query = check_out(id);
    bind_all(query.statement(), TextLifetime::kCopied, args...);
    return query;
  }

  /// Runs a statement of the catalog to its end and answers how many rows it changed.
  template <class... Args>
  std::int64_t run(Sql id, const Args&... args) {
    Query query = check_out(id);
    bind_all(query.statement(), TextLifetime::kUntilReset, args...);
    return finish(query);
  }

  /// Begins a statement that is not in the catalog; prepared each time.
  template <class... Args>
  Query query_text(std::string_view sql, const Args&... args) {
    Query query = prepare_text(sql);
    bind_all(query.statement(), TextLifetime::kCopied, args...);
    return query;
  }

  /// Runs a statement that is not in the catalog to its end; answers how many rows it changed.
  template <class... Args>
  std::int64_t run_text(std::string_view sql, const Args&... args) {
    Query query = prepare_text(sql);
    bind_all(query.statement(), TextLifetime::kUntilReset, args...);
    return finish(query);
  }

  std::int64_t last_insert_id() const;
  bool in_transaction() const;
  /// Rows changed since the connection was opened; tells whether anything was written in between.
  std::int64_t total_changes() const;

  /// Differs from an earlier answer when another connection has committed in between; own commits
  /// do not change it. Only answers of one connection can be compared.
  std::int64_t data_version();

  /// How long a statement waits for a lock before it fails as busy; zero: not at all.
  void set_busy_timeout(std::chrono::milliseconds timeout);

  /// The file, as SQLite names it; empty for a store in memory.
  std::string file() const;
  sqlite3* raw() const { return db_; }

 private:
  explicit Connection(sqlite3* db);

  Query check_out(Sql id);
  Query prepare_text(std::string_view sql);
  sqlite3_stmt* prepare(std::string_view sql, std::string_view name, unsigned flags);
  std::int64_t finish(Query& query);

  sqlite3* db_;
  std::vector<CachedStatement> cache_;  // by Sql; never resized
  CachedStatement data_version_;
};

}  // namespace perdure::sqlite
