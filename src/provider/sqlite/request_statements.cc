#include <array>

#include "provider/sqlite/statement_entry.h"

namespace perdure::sqlite {

namespace {

using Entry = StatementEntry;

constexpr std::array kRequestEntries{
    Entry{Sql::kFindRequest,
          "find_request",
          "SELECT operation, instance_key, execution, answer, changed, reached, cascading, "
          "reply FROM requests WHERE request_id = ?1"},
    Entry{Sql::kInsertRequest,
          "insert_request",
          "INSERT INTO requests (request_id, operation, instance_key, execution, answer, changed, "
          "reached, cascading, at, reply) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"},
    Entry{Sql::kStorePendingStart,
          "store_pending_start",
          "INSERT OR REPLACE INTO pending_starts (instance_key, name, version, queue, input, "
          "delay, run_timeout, created_at, priority) "
          "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"},
    Entry{Sql::kLoadPendingStart,
          "load_pending_start",
          "SELECT name, version, queue, input, delay, run_timeout, priority FROM pending_starts "
          "WHERE instance_key = ?1"},
    Entry{Sql::kDeletePendingStart,
          "delete_pending_start",
          "DELETE FROM pending_starts WHERE instance_key = ?1"},
    Entry{Sql::kInsertCascade,
          "insert_cascade",
          "INSERT INTO cascades (operation, instance_key, execution, reason, cleanup_time, "
          "created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"},
    // Few rows, oldest first: the primary key is the order.
    Entry{
        Sql::kLoadCascades,
        "load_cascades",
        "SELECT cascade_id, operation, instance_key, execution, reason, cleanup_time FROM cascades "
        "WHERE cascade_id > ?1 ORDER BY cascade_id"},
    Entry{Sql::kDeleteCascade, "delete_cascade", "DELETE FROM cascades WHERE cascade_id = ?1"},
    Entry{Sql::kInsertEarlyEvent,
          "insert_early_event",
          "INSERT INTO early_events (instance_id, name, payload, visible_at, expires_at) "
          "VALUES (?1, ?2, ?3, ?4, ?5)"},
    // Index: early_events_by_instance. Literal: message kind 6 = event_raised. As they are: one that
    // cannot be read is met again among the messages.
    Entry{Sql::kMoveEarlyEvents,
          "move_early_events",
          "INSERT INTO orchestrator_queue (instance_key, kind, name, payload, visible_at) "
          "SELECT ?2, 6, name, payload, max(visible_at, ?3) FROM early_events "
          "WHERE instance_id = ?1 AND expires_at > ?3 ORDER BY early_id"},
    Entry{Sql::kDeleteEarlyEventsOf,
          "delete_early_events_of",
          "DELETE FROM early_events WHERE instance_id = ?1"},
    // Index: early_events_by_expiry.
    Entry{Sql::kDropExpiredEarlyEvents,
          "drop_expired_early_events",
          "DELETE FROM early_events WHERE early_id IN (SELECT early_id FROM early_events "
          "WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)"},
};

static_assert(in_order(kRequestEntries, static_cast<std::size_t>(kFirstRequest)),
              "every Sql has its text, in the order of the enum");
static_assert(static_cast<std::size_t>(kFirstRequest) + kRequestEntries.size() ==
              static_cast<std::size_t>(kFirstManagement));

}  // namespace

std::span<const StatementEntry> request_statements() {
  return kRequestEntries;
}

}  // namespace perdure::sqlite
