#include "provider/sqlite/migrations.h"

#include <limits>
#include <string>

#include "base/check.h"
#include "base/failpoint.h"
#include "provider/sqlite/busy_retry.h"
#include "provider/sqlite/checked_row.h"
#include "provider/sqlite/transaction.h"

namespace perdure::sqlite {

namespace {

constexpr std::string_view kCreateTable = R"(
CREATE TABLE IF NOT EXISTS schema_migrations (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  applied_at INTEGER NOT NULL
);
)";

/// The rows of schema_migrations; all zero for a store without the table.
struct Versions {
  std::int64_t count = 0;
  std::int64_t oldest = 0;
  std::int64_t newest = 0;
};

Versions read_versions(Connection& db) {
  Query table = db.query_text(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'");
  if (!table.next()) return {};
  Query row = db.query_text("SELECT count(*), min(version), max(version) FROM schema_migrations");
  row.next();
  const Versions versions{row.integer(0), row.integer(1), row.integer(2)};
  // The table is made together with its first row.
  if (versions.oldest < 1) {
    throw_corrupt("schema_migrations",
                  {versions.oldest},
                  "versions are counted from 1: put the rows right, or restore the store");
  }
  return versions;
}

/// Of a store that is not newer than this program.
void check_complete(Connection& db) {
  const Versions versions = read_versions(db);
  if (versions.count == versions.newest) return;
  throw_corrupt("schema_migrations",
                {versions.newest},
                "an older version is missing: put the rows right, or restore the store");
}

Error newer_store(const Connection& db, int stored, int known) {
  const std::string file = db.file();
  return invalid_argument("the store " + (file.empty() ? ":memory:" : file) +
                          " has schema version " + std::to_string(stored) +
                          ", this program knows versions up to " + std::to_string(known) +
                          ": open it with a newer version of the program; nothing was changed");
}

Status apply(Connection& db, std::span<const Migration> migrations, TimePoint now) {
  const int known = migrations.empty() ? 0 : migrations.back().version;
  // Without the write lock first: a store that needs nothing opens while another process writes.
  int stored = stored_version(db);
  if (stored > known) return newer_store(db, stored, known);
  check_complete(db);
  if (stored == known) return {};

  Transaction transaction(db);
  stored = stored_version(db);
  if (stored == known) return {};
  if (stored > known) return newer_store(db, stored, known);
  db.exec(kCreateTable);
  for (const Migration& migration : migrations.subspan(static_cast<std::size_t>(stored))) {
    db.exec(migration.sql);
    db.run_text("INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)",
                migration.version,
                migration.name,
                now);
    PERDURE_RETURN_IF_ERROR(failpoint::hit("sqlite.migrate.step"));
  }
  transaction.commit();
  return {};
}

}  // namespace

Status migrate(Connection& db,
               std::span<const Migration> migrations,
               TimePoint now,
               std::chrono::milliseconds patience) {
  int expected = 0;
  for (const Migration& migration : migrations) {
    PERDURE_CHECK(migration.version == ++expected, "migrations are numbered 1, 2, 3 ..");
  }
  // A failed attempt is rolled back: when another process migrates, this one begins anew after it.
  return retry_while_busy(patience, [&] { return apply(db, migrations, now); });
}

int stored_version(Connection& db) {
  const Versions versions = read_versions(db);
  if (versions.newest > std::numeric_limits<int>::max()) return std::numeric_limits<int>::max();
  return static_cast<int>(versions.newest);
}

}  // namespace perdure::sqlite
