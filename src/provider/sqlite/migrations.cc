#include "provider/sqlite/migrations.h"

#include <string>

#include "base/check.h"
#include "base/failpoint.h"
#include "provider/sqlite/busy_retry.h"
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
  if (stored == known) return {};
  if (stored > known) return newer_store(db, stored, known);

  Transaction transaction(db);
  stored = stored_version(db);
  if (stored == known) return {};
  if (stored > known) return newer_store(db, stored, known);
  db.exec(kCreateTable);
  for (const Migration& migration : migrations.subspan(static_cast<std::size_t>(stored))) {
    PERDURE_RETURN_IF_ERROR(failpoint::hit("sqlite.migrate.step"));
    db.exec(migration.sql);
    db.run_text("INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)",
                migration.version,
                migration.name,
                now);
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
  Query table = db.query_text(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'");
  if (!table.next()) return 0;
  Query newest = db.query_text("SELECT coalesce(max(version), 0) FROM schema_migrations");
  return newest.next() ? static_cast<int>(newest.integer(0)) : 0;
}

}  // namespace perdure::sqlite
