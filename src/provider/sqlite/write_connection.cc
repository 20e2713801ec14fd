#include "provider/sqlite/write_connection.h"

#include <string>

namespace perdure::sqlite {

namespace {

/// Bytes of the log that are kept for reuse: about where it begins anew.
constexpr std::int64_t kLongLog = 64LL << 20U;

}  // namespace

std::unique_ptr<Connection> open_for_writing(const std::string& path, Durability durability) {
  auto db = Connection::open(path, Access::kReadWrite);
  db->set_busy_timeout(std::chrono::milliseconds(20));
  db->exec(durability == Durability::kFull ? "PRAGMA synchronous = FULL"
                                           : "PRAGMA synchronous = NORMAL");
  db->exec("PRAGMA temp_store = MEMORY");
  db->exec("PRAGMA cache_size = -65536");
  // The checkpointer copies the log; one that had to grow is cut when it begins anew.
  db->exec("PRAGMA wal_autocheckpoint = 0");
  db->exec("PRAGMA journal_size_limit = " + std::to_string(kLongLog));
  return db;
}

}  // namespace perdure::sqlite
