#include "provider/sqlite/bench/row_counts.h"

#include "base/check.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

std::string to_string(const RowCounts& counts) {
  return std::to_string(counts.instances) + " instances, " + std::to_string(counts.executions) +
         " executions, " + std::to_string(counts.history) + " history rows, " +
         std::to_string(counts.messages) + " messages, " + std::to_string(counts.work) +
         " work rows, " + std::to_string(counts.locks) + " locks, " +
         std::to_string(counts.events) + " events counted by executions";
}

RowCounts count_rows(Connection& db) {
  Query row = db.query_text(
      "SELECT (SELECT count(*) FROM instances), (SELECT count(*) FROM executions), "
      "(SELECT count(*) FROM history), (SELECT count(*) FROM orchestrator_queue), "
      "(SELECT count(*) FROM worker_queue), "
      "(SELECT count(*) FROM instance_ready WHERE lock_token IS NOT NULL), "
      "(SELECT coalesce(sum(last_event), 0) FROM executions)");
  row.next();
  return {.instances = row.integer(0),
          .executions = row.integer(1),
          .history = row.integer(2),
          .messages = row.integer(3),
          .work = row.integer(4),
          .locks = row.integer(5),
          .events = row.integer(6)};
}

Result<RowCounts> count_rows(const std::string& path) {
  try {
    const auto db = Connection::open(path, Access::kReadOnly);
    return count_rows(*db);
  } catch (const SqliteError& error) {
    return to_error(error);
  }
}

Status compare_rows(const std::string& who, const RowCounts& found, const RowCounts& expected) {
  if (found == expected) return {};
  return corrupt(who + " left " + to_string(found) + "; expected " + to_string(expected));
}

void expect_changed(std::int64_t changed, std::int64_t expected, const char* doing) {
  if (changed == expected) return;
  PERDURE_CHECK(false, std::string(doing) + " changed " + std::to_string(changed) + " rows");
}

}  // namespace perdure::sqlite
