#include <string>

#include "provider/sqlite/database_file.h"
#include "provider/sqlite/migrations.h"
#include "provider/sqlite/options.h"
#include "provider/sqlite/schema.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/sqlite_provider.h"

namespace perdure::sqlite {

namespace {

Status check(const Options& options) {
  if (options.poison_after < kSuspectLosses) {
    return invalid_argument("poison_after must be at least " + std::to_string(kSuspectLosses));
  }
  if (options.foreign_poll <= std::chrono::milliseconds::zero()) {
    return invalid_argument("foreign_poll must be greater than zero");
  }
  return {};
}

std::unique_ptr<Connection> open_for_writing(const std::string& path, Durability durability) {
  auto db = Connection::open(path, Access::kReadWrite);
  db->set_busy_timeout(std::chrono::milliseconds(20));
  db->exec(durability == Durability::kFull ? "PRAGMA synchronous = FULL"
                                           : "PRAGMA synchronous = NORMAL");
  db->exec("PRAGMA temp_store = MEMORY");
  db->exec("PRAGMA cache_size = -65536");
  return db;
}

/// The log mode is changed only after the schema was found to be ours.
Status prepare(Connection& db, bool memory, TimePoint now) {
  const auto known = static_cast<int>(schema_migrations().size());
  if (!memory && stored_version(db) <= known) {
    db.set_busy_timeout(std::chrono::seconds(5));
    db.exec("PRAGMA journal_mode = WAL");
    db.set_busy_timeout(std::chrono::milliseconds(20));
  }
  return migrate(db, schema_migrations(), now);
}

}  // namespace

Result<std::unique_ptr<Provider>> open(const Options& options) {
  PERDURE_RETURN_IF_ERROR(check(options));
  PERDURE_ASSIGN_OR_RETURN(const DatabaseLocation location, check_location(options.path));
  try {
    auto db = open_for_writing(location.path, options.durability);
    PERDURE_RETURN_IF_ERROR(prepare(*db, location.memory, options.clock->now()));
    std::function<std::unique_ptr<Connection>()> reopen;
    if (!location.memory) {
      reopen = [path = location.path, durability = options.durability] {
        return open_for_writing(path, durability);
      };
    }
    return std::unique_ptr<Provider>(std::make_unique<SqliteProvider>(
        options, location.memory ? "" : location.path, std::move(db), std::move(reopen)));
  } catch (const SqliteError& error) {
    return to_error(error);
  }
}

}  // namespace perdure::sqlite
