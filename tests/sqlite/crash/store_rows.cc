#include "tests/sqlite/crash/store_rows.h"

#include <array>
#include <chrono>
#include <span>

namespace perdure::sqlite::crash {

namespace {

std::vector<std::string> texts(Connection& db, const std::string& sql) {
  std::vector<std::string> all;
  Query row = db.query_text(sql);
  while (row.next()) all.push_back(row.text(0));
  return all;
}

/// An expression that shows a whole row.
std::string shown_row(Connection& db, const std::string& table) {
  std::string shown = "'" + table + "'";
  for (const std::string& column :
       texts(db, "SELECT name FROM pragma_table_info('" + table + "')")) {
    shown += " || ' " + column + "=' || quote(" + column + ")";
  }
  return shown;
}

/// A query that finds nothing in a store that kept its promises.
struct Rule {
  const char* name;
  const char* broken_by;
};

// Status: 1 to 4 are live, 5 is completed. Event kinds: 2 to 6 end an execution; 10, 20 and 40 make
// a call; 11 to 13, 21 and 41 to 45 are its answers; 14, 22 and 46 drop it. Requests: 9 is an
// update, 10 a query, and a stage from 3 on is final.
constexpr std::array kAlways = {
    Rule{"histories have no gap",
         "SELECT instance_key || '/' || execution FROM history GROUP BY instance_key, execution "
         "HAVING min(event_id) <> 1 OR max(event_id) <> count(*)"},
    Rule{"a history has its execution",
         "SELECT instance_key || '/' || execution FROM history h WHERE NOT EXISTS "
         "(SELECT 1 FROM executions e WHERE e.instance_key = h.instance_key "
         "AND e.execution = h.execution)"},
    Rule{"executions know their last event",
         "SELECT instance_key || '/' || execution FROM executions e WHERE last_event <> "
         "(SELECT max(event_id) FROM history h WHERE h.instance_key = e.instance_key "
         "AND h.execution = e.execution)"},
    Rule{"no call is answered twice",
         "SELECT instance_key || '/' || execution || '/' || source_event FROM history "
         "WHERE kind IN (11, 12, 13, 21, 41, 42, 43, 44, 45) "
         "GROUP BY instance_key, execution, source_event HAVING count(*) > 1"},
    Rule{"an answer has its call",
         "SELECT instance_key || '/' || execution || '/' || event_id FROM history a "
         "WHERE kind IN (11, 12, 13, 21, 41, 42, 43, 44, 45) AND NOT EXISTS "
         "(SELECT 1 FROM history c WHERE c.instance_key = a.instance_key "
         "AND c.execution = a.execution AND c.event_id = a.source_event "
         "AND c.kind IN (10, 20, 40))"},
};

constexpr std::array kAtTheEnd = {
    Rule{"every run has ended",
         "SELECT instance_key || '/' || execution FROM executions WHERE status < 5"},
    Rule{"no message is left", "SELECT message_id FROM orchestrator_queue"},
    Rule{"no work is left", "SELECT work_id FROM worker_queue"},
    Rule{"no cascade is left", "SELECT cascade_id FROM cascades"},
    Rule{"no removal is left", "SELECT instance_key FROM removals"},
    Rule{"no request is left open", "SELECT request_id FROM requests WHERE open > 0"},
    Rule{"every request is answered",
         "SELECT request_id FROM requests WHERE operation IN (9, 10) AND answer < 3"},
    Rule{"no signal is left kept", "SELECT name FROM kept_signals"},
    Rule{"no start is left", "SELECT instance_key FROM pending_starts"},
    Rule{"no lock is left", "SELECT instance_key FROM instance_ready WHERE lock_token IS NOT NULL"},
    Rule{"one event ends a history, and it is the last",
         "SELECT instance_key || '/' || execution FROM executions e WHERE last_event <> "
         "(SELECT coalesce(sum(event_id), 0) FROM history h "
         "WHERE h.instance_key = e.instance_key AND h.execution = e.execution "
         "AND kind BETWEEN 2 AND 6)"},
    Rule{"a completed run has the answer of every call",
         "SELECT instance_key || '/' || execution || '/' || event_id FROM history c "
         "JOIN executions e USING (instance_key, execution) "
         "WHERE e.status = 5 AND c.kind IN (10, 20, 40) AND NOT EXISTS "
         "(SELECT 1 FROM history a WHERE a.instance_key = c.instance_key "
         "AND a.execution = c.execution AND a.source_event = c.event_id)"},
};

/// Waits for one who puts the log in order after a kill.
std::unique_ptr<Connection> open_to_look(const std::string& path, Access access) {
  auto db = Connection::open(path, access);
  db->set_busy_timeout(std::chrono::seconds(30));
  return db;
}

void find_violations(Connection& db, std::span<const Rule> rules, std::vector<std::string>& found) {
  for (const Rule& rule : rules) {
    for (const std::string& row : texts(db, rule.broken_by)) {
      found.push_back(std::string(rule.name) + ", but not: " + row);
    }
  }
}

}  // namespace

std::string all_rows(const std::string& path) {
  // What writers note about themselves under random keys is no content.
  const std::string tables =
      "SELECT name FROM sqlite_schema WHERE type = 'table' "
      "AND name <> 'writer_marks' ORDER BY name";
  auto db = open_to_look(path, Access::kReadOnly);
  db->exec("BEGIN");
  std::string all;
  for (const std::string& table : texts(*db, tables)) {
    const std::string rows = "SELECT " + shown_row(*db, table) + " FROM " + table + " ORDER BY 1";
    for (const std::string& row : texts(*db, rows)) all += row + '\n';
  }
  db->exec("COMMIT");
  return all;
}

std::string integrity(const std::string& path) {
  auto db = open_to_look(path, Access::kReadWrite);
  std::string all;
  for (const std::string& line : texts(*db, "PRAGMA integrity_check")) {
    all += all.empty() ? line : '\n' + line;
  }
  return all;
}

std::vector<std::string> violations_at_any_time(const std::string& path) {
  auto db = open_to_look(path, Access::kReadOnly);
  std::vector<std::string> found;
  find_violations(*db, kAlways, found);
  return found;
}

std::vector<std::string> violations_at_the_end(const std::string& path) {
  std::vector<std::string> found = violations_at_any_time(path);
  auto db = open_to_look(path, Access::kReadOnly);
  find_violations(*db, kAtTheEnd, found);
  return found;
}

}  // namespace perdure::sqlite::crash
