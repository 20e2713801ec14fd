#include "provider/sqlite/bench/page_cache.h"

#include <string>

#include <sqlite3.h>

#include "provider/sqlite/sqlite_provider.h"

namespace perdure::sqlite {

namespace {

Status run(Provider& store, const std::string& sql) {
  auto* const provider = dynamic_cast<SqliteProvider*>(&store);
  if (provider == nullptr) return invalid_argument("this is no SQLite store");
  return provider->run_sql(sql);
}

}  // namespace

Status limit_page_cache(Provider& store, std::int64_t bytes) {
  return run(store, "PRAGMA cache_size = -" + std::to_string(bytes / 1024));
}

Status empty_page_cache(Provider& store) {
  return run(store, "PRAGMA shrink_memory");
}

std::int64_t sqlite_bytes() {
  return sqlite3_memory_used();
}

}  // namespace perdure::sqlite
