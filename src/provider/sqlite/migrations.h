#pragma once

#include <chrono>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "provider/sqlite/connection.h"

namespace perdure::sqlite {

/// One step of the schema. `sql` holds any number of statements and no transaction of its own.
struct Migration {
  int version;
  std::string_view name;
  std::string_view sql;
};

/// Brings the store to the newest of `migrations` (versions 1, 2, 3 .. without gaps) in one
/// transaction, so that it is seen either as it was or complete. Safe when several processes open
/// the store at once: one does it, the others wait for it. A store that is up to date is not
/// written.
///
/// InvalidArgument when the store is newer than this program; the message names the file and both
/// versions, and nothing was changed. Throws SqliteError; busy when `patience` was not enough,
/// corrupt when the rows of schema_migrations are not 1, 2, 3 .. (nothing was changed).
Status migrate(Connection& db,
               std::span<const Migration> migrations,
               TimePoint now,
               std::chrono::milliseconds patience = std::chrono::seconds(30));

/// The version of the store; 0 when it has no schema yet.
int stored_version(Connection& db);

}  // namespace perdure::sqlite
