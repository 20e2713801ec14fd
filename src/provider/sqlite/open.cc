#include <filesystem>
#include <string>

#include <sqlite3.h>

#include "provider/sqlite/busy_retry.h"
#include "provider/sqlite/database_file.h"
#include "provider/sqlite/migrations.h"
#include "provider/sqlite/options.h"
#include "provider/sqlite/schema.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/sqlite_provider.h"
#include "provider/sqlite/write_connection.h"

namespace perdure::sqlite {

namespace {

/// With others who open the store at the same time.
constexpr std::chrono::milliseconds kPatience = std::chrono::seconds(30);

Status check(const Options& options) {
  if (options.foreign_poll <= std::chrono::milliseconds::zero()) {
    return invalid_argument("foreign_poll must be greater than zero");
  }
  return {};
}

/// An SQLite database that somebody else has made for other things.
bool is_foreign(Connection& db) {
  Query row = db.query_text(
      "SELECT count(*), count(*) FILTER (WHERE name = 'schema_migrations') FROM sqlite_schema");
  return row.next() && row.integer(0) > 0 && row.integer(1) == 0;
}

Error foreign_store(const std::string& path) {
  return invalid_argument("database \"" + path +
                          "\": it holds tables of another program; choose another path");
}

/// Looks before it changes anything: the log mode is set only on a store that is ours or empty.
Status prepare(Connection& db, const DatabaseLocation& location, TimePoint now) {
  const auto known = static_cast<int>(schema_migrations().size());
  if (is_foreign(db)) return foreign_store(location.path);
  if (!location.memory && stored_version(db) <= known) db.exec("PRAGMA journal_mode = WAL");
  return migrate(db, schema_migrations(), now);
}

/// Whether this program can read the store as it is.
Status check_readable(Connection& db, const std::string& path) {
  if (is_foreign(db)) return foreign_store(path);
  const auto known = static_cast<int>(schema_migrations().size());
  const int stored = stored_version(db);
  if (stored == known) return {};
  return invalid_argument(
      "database \"" + path + "\": it has schema version " + std::to_string(stored) +
      ", this program reads version " + std::to_string(known) +
      (stored > known ? ": use a newer version of the program"
                      : ": copy the file while nobody uses it, and open the copy for writing with "
                        "this program"));
}

Result<std::unique_ptr<Provider>> open_for_reading(const Options& options,
                                                   const DatabaseLocation& location) {
  if (location.memory || !std::filesystem::exists(location.path)) {
    return invalid_argument("database \"" + options.path +
                            "\": there is no such file; name a store that exists");
  }
  std::unique_ptr<Connection> db;
  const Status readable = retry_while_busy(kPatience, [&] {
    db = Connection::open(location.path, Access::kReadOnly);
    return check_readable(*db, location.path);
  });
  PERDURE_RETURN_IF_ERROR(readable);
  return std::unique_ptr<Provider>(
      std::make_unique<SqliteProvider>(options, location.path, std::move(db), nullptr));
}

Error open_error(const SqliteError& error, const std::string& path) {
  if (error.code() != SQLITE_NOTADB) return to_error(error);
  return invalid_argument("database \"" + path +
                          "\": the file is not an SQLite database; choose another path");
}

}  // namespace

Result<std::unique_ptr<Provider>> open(const Options& options) {
  PERDURE_RETURN_IF_ERROR(check(options));
  PERDURE_ASSIGN_OR_RETURN(const DatabaseLocation location, check_location(options.path));
  try {
    if (options.read_only) return open_for_reading(options, location);
    // Several processes may be making the same store; SQLite gives up at once in some of the steps.
    std::unique_ptr<Connection> db;
    const Status prepared = retry_while_busy(kPatience, [&] {
      db = open_for_writing(location.path, options.durability);
      return prepare(*db, location, options.clock->now());
    });
    PERDURE_RETURN_IF_ERROR(prepared);
    std::function<std::unique_ptr<Connection>()> reopen;
    if (!location.memory) {
      reopen = [path = location.path, durability = options.durability] {
        return open_for_writing(path, durability);
      };
    }
    return std::unique_ptr<Provider>(std::make_unique<SqliteProvider>(
        options, location.memory ? "" : location.path, std::move(db), std::move(reopen)));
  } catch (const SqliteError& error) {
    return open_error(error, location.path);
  }
}

}  // namespace perdure::sqlite
