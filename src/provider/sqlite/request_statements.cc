#include <array>

#include "provider/sqlite/statement_entry.h"

namespace perdure::sqlite {

namespace {

using Entry = StatementEntry;

// Literals: request kind 9 = update, 10 = query; stage 2 = accepted.
constexpr std::array kRequestEntries{
    Entry{Sql::kFindRequest,
          "find_request",
          "SELECT operation, instance_key, execution, answer, changed, reached, cascading, "
          "reply FROM requests WHERE request_id = ?1"},
    Entry{Sql::kInsertRequest,
          "insert_request",
          "INSERT INTO requests (request_id, operation, instance_key, execution, answer, changed, "
          "reached, cascading, at, reply, expires_at) "
          "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"},
    // Index: requests_by_expiry. An open update does not expire. Of those that were open for a turn
    // the message is still to go.
    Entry{Sql::kDropExpiredRequests,
          "drop_expired_requests",
          "DELETE FROM requests WHERE request_id IN (SELECT request_id FROM requests "
          "WHERE expires_at <= ?1 AND (open = 0 OR operation = 10) ORDER BY expires_at LIMIT ?2) "
          "RETURNING open, instance_key, message_id"},
    Entry{Sql::kLoadRunRequest,
          "load_run_request",
          "SELECT operation, instance_key, execution, name, answer, open, reply, failure_type, "
          "failure_message, failure_retryable, failure_details FROM requests "
          "WHERE request_id = ?1"},
    Entry{Sql::kInsertRunRequest,
          "insert_run_request",
          "INSERT INTO requests (request_id, operation, instance_key, execution, answer, name, "
          "payload, open, expires_at, at, message_id) "
          "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"},
    // Literal: message kind 18 = query. Whatever a damaged row names: no other message.
    Entry{Sql::kDropQueryMessage,
          "drop_query_message",
          "DELETE FROM orchestrator_queue "
          "WHERE message_id = ?1 AND instance_key = ?2 AND kind = 18"},
    // Index: requests_open; then the key of the queue, and not its index by instance (`+`).
    Entry{Sql::kDropExpiredQueries,
          "drop_expired_queries",
          "DELETE FROM orchestrator_queue WHERE message_id IN (SELECT r.message_id "
          "FROM requests AS r WHERE r.open > 0 AND r.open = 1 AND r.instance_key = ?1 "
          "AND r.operation = 10 AND r.expires_at <= ?2) AND +instance_key = ?1 AND kind = 18"},
    // Index: orchestrator_queue_by_instance. A query may be dropped before it gets a turn.
    Entry{Sql::kHasDueMessage,
          "has_due_message",
          "SELECT 1 FROM orchestrator_queue "
          "WHERE instance_key = ?1 AND visible_at <= ?2 AND kind <> 18 LIMIT 1"},
    Entry{Sql::kAcceptRequest,
          "accept_request",
          "UPDATE requests SET answer = 2 WHERE request_id = ?1 AND open > 0"},
    Entry{Sql::kAnswerRequest,
          "answer_request",
          "UPDATE requests SET answer = ?2, open = 0, reply = ?3, failure_type = ?4, "
          "failure_message = ?5, failure_retryable = ?6, failure_details = ?7, replied_at = ?8, "
          "expires_at = coalesce(?9, expires_at) WHERE request_id = ?1 AND open > 0"},
    // Index: requests_open, also where `open > 0` says nothing new: SQLite wants its condition.
    Entry{Sql::kHasOpenRequests,
          "has_open_requests",
          "SELECT 1 FROM requests "
          "WHERE open > 0 AND open = 1 AND instance_key = ?1 LIMIT 1"},
    Entry{Sql::kCloseUpdates,
          "close_updates",
          "UPDATE requests SET answer = ?3, open = 0, failure_type = ?4, failure_message = ?5, "
          "failure_retryable = 0, replied_at = ?6, expires_at = ?7 "
          "WHERE open > 0 AND open = 1 AND instance_key = ?1 AND operation = 9 "
          "AND (answer IS 2) = ?2"},
    Entry{Sql::kHeldUpdates,
          "held_updates",
          "SELECT r.request_id, r.name, r.payload, r.at, r.message_id "
          "FROM requests AS r WHERE r.open > 0 AND r.open = 1 AND r.instance_key = ?1 "
          "AND r.operation = 9 AND r.answer = 1"},
    // Index: orchestrator_queue_by_instance. Literal: message kind 17 = update.
    Entry{Sql::kQueuedUpdates,
          "queued_updates",
          "SELECT text FROM orchestrator_queue WHERE instance_key = ?1 AND kind = 17"},
    Entry{Sql::kHandOverQueries,
          "hand_over_queries",
          "UPDATE requests SET open = 2, execution = ?2 "
          "WHERE open > 0 AND open = 1 AND instance_key = ?1 AND operation = 10"},
    Entry{Sql::kDropOpenRequests,
          "drop_open_requests",
          "DELETE FROM requests WHERE open > 0 AND open IN (1, 2) AND instance_key = ?1"},
    Entry{Sql::kDropOpenRequestsOf,
          "drop_open_requests_of",
          "DELETE FROM requests "
          "WHERE open > 0 AND open = 2 AND instance_key = ?1 AND execution = ?2"},
    // Index: requests_open, in its order. What the current execution is served as stands with the
    // instance; an earlier one was begun as its `started` event says.
    Entry{Sql::kEndedQueries,
          "ended_queries",
          "SELECT r.request_id, r.instance_key, r.execution, r.name, r.payload, r.at, "
          "iif(r.execution = i.current_execution, i.name, (SELECT h.name FROM history AS h "
          "  WHERE h.instance_key = r.instance_key AND h.execution = r.execution "
          "  AND h.event_id = 1)), "
          "iif(r.execution = i.current_execution, i.version, (SELECT h.text FROM history AS h "
          "  WHERE h.instance_key = r.instance_key AND h.execution = r.execution "
          "  AND h.event_id = 1)) "
          "FROM requests AS r CROSS JOIN instances AS i ON i.instance_key = r.instance_key "
          "WHERE r.open > 0 AND r.open = 2 AND r.taken_until <= ?2 AND r.expires_at > ?2 "
          "AND i.queue = ?1 ORDER BY r.instance_key"},
    Entry{Sql::kNextEndedQuery,
          "next_ended_query",
          "SELECT min(taken_until) FROM requests "
          "WHERE open > 0 AND open = 2 AND taken_until > ?1"},
    Entry{Sql::kTakeQuery,
          "take_query",
          "UPDATE requests SET taken_until = ?2, taken_epoch = ?3, taken_serial = ?4 "
          "WHERE request_id = ?1"},
    Entry{Sql::kGiveBackQueries,
          "give_back_queries",
          "UPDATE requests SET taken_until = ?4, taken_epoch = 0, taken_serial = 0 "
          "WHERE open > 0 AND open = 2 AND instance_key = ?1 "
          "AND taken_epoch = ?2 AND taken_serial = ?3"},
    // Index: requests_open. Few rows: they go when their callers wait no more.
    Entry{Sql::kQueuesOfQueries,
          "queues_of_queries",
          "SELECT DISTINCT i.queue FROM requests AS r "
          "CROSS JOIN instances AS i ON i.instance_key = r.instance_key "
          "WHERE r.open > 0 AND r.open = 2 AND r.taken_epoch = ?1"},
    Entry{Sql::kFreeQueriesOfEpoch,
          "free_queries_of_epoch",
          "UPDATE requests SET taken_until = 0, taken_epoch = 0, taken_serial = 0 "
          "WHERE open > 0 AND open = 2 AND taken_epoch = ?1"},
    Entry{Sql::kSetRequestAside,
          "set_request_aside",
          "UPDATE requests SET open = 0 WHERE request_id = ?1"},
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
          "created_at, of_end) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"},
    // Few rows, oldest first: the primary key is the order.
    Entry{
        Sql::kLoadCascades,
        "load_cascades",
        "SELECT cascade_id, operation, instance_key, execution, reason, cleanup_time, of_end "
        "FROM cascades WHERE cascade_id > ?1 ORDER BY cascade_id"},
    Entry{Sql::kDeleteCascade, "delete_cascade", "DELETE FROM cascades WHERE cascade_id = ?1"},
    Entry{Sql::kInsertEarlyEvent,
          "insert_early_event",
          "INSERT INTO early_events (instance_id, name, payload, visible_at, expires_at) "
          "VALUES (?1, ?2, ?3, ?4, ?5)"},
    // Index: early_events_by_instance. Literal: message kind 6 = event_raised. As they are: one
    // that cannot be read is met again among the messages.
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
