#include "provider/sqlite/statements.h"

#include <array>
#include <cstddef>

#include "provider/sqlite/statement_entry.h"

namespace perdure::sqlite {

namespace {

using Entry = StatementEntry;

#define PERDURE_EXECUTION_COLUMNS                                                              \
  "status, blocked_reason, blocked_detail, blocked_since, output, failure_type, "              \
  "failure_message, failure_retryable, failure_details, cancel_requested_at, cancel_reason, "  \
  "canceled_at, deadline, custom_status, custom_status_version, last_event, last_turn_epoch, " \
  "last_turn, last_change, started_at, completed_at, engine_version"
#define PERDURE_INSTANCE_COLUMNS                                                              \
  "instance_key, id, name, version, queue, current_execution, parent_key, parent_execution, " \
  "parent_event, close_policy, created_at, priority, shielded"

// SQLite sorts whatever is no number behind all numbers.
#define PERDURE_LAST_TIME "9223372036854775807"

// Of the execution (?1, ?2), at every level, as far as their close policy is cancel. The two
// conditions say which children, and which of those below them.
#define PERDURE_DESCENDANTS(children, below)                                          \
  "WITH RECURSIVE tree (instance_key, execution) AS ("                                \
  "  SELECT instance_key, current_execution FROM instances"                           \
  "  WHERE parent_key = ?1 AND parent_execution = ?2 AND close_policy = 1" children   \
  "  UNION"                                                                           \
  "  SELECT child.instance_key, child.current_execution FROM tree"                    \
  "  JOIN instances AS child ON child.parent_key = tree.instance_key"                 \
  "    AND child.parent_execution = tree.execution AND child.close_policy = 1" below  \
  ") SELECT tree.instance_key FROM tree "                                             \
  "JOIN executions AS e ON e.instance_key = tree.instance_key"                        \
  "  AND e.execution = tree.execution "

// Literals: execution status 4 = canceling, 5 and more are terminal; close policy 1 = cancel;
// message kind 5 = timer_fired, 12 = cancel.
constexpr std::array kTurnEntries{
    // Index: unique id.
    Entry{Sql::kFindInstance,
          "find_instance",
          "SELECT " PERDURE_INSTANCE_COLUMNS " FROM instances WHERE id = ?1"},
    Entry{Sql::kLoadInstance,
          "load_instance",
          "SELECT " PERDURE_INSTANCE_COLUMNS " FROM instances WHERE instance_key = ?1"},
    Entry{Sql::kCurrentExecution,
          "current_execution",
          "SELECT current_execution FROM instances WHERE instance_key = ?1"},
    Entry{Sql::kInsertInstance,
          "insert_instance",
          "INSERT INTO instances (id, name, version, queue, current_execution, parent_key, "
          "parent_execution, parent_event, close_policy, created_at, priority, shielded) "
          "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"},
    Entry{Sql::kReuseInstance,
          "reuse_instance",
          "UPDATE instances SET name = ?2, version = ?3, queue = ?4, current_execution = ?5, "
          "parent_key = ?6, parent_execution = ?7, parent_event = ?8, close_policy = ?9, "
          "priority = ?10, shielded = ?11 "
          "WHERE instance_key = ?1"},
    Entry{Sql::kContinueInstance,
          "continue_instance",
          "UPDATE instances SET current_execution = ?2, version = ?3 WHERE instance_key = ?1"},
    Entry{Sql::kSetInstanceVersion,
          "set_instance_version",
          "UPDATE instances SET version = ?2 WHERE instance_key = ?1"},
    // Index: instances_by_parent.
    Entry{Sql::kChildByEvent,
          "child_by_event",
          "SELECT instance_key, current_execution FROM instances "
          "WHERE parent_key = ?1 AND parent_execution = ?2 AND parent_event = ?3"},
    Entry{Sql::kHasChildren,
          "has_children",
          "SELECT 1 FROM instances WHERE parent_key = ?1 AND parent_execution = ?2 LIMIT 1"},
    // Index: instances_by_parent for each level, then the primary key of executions. What a run
    // has under a shield is spared while it is canceled, at every level; ?4: the run (?1, ?2) has
    // ended, and so has its shield. A damaged flag spares nobody: the row is met and named.
    Entry{Sql::kUncanceledDescendants,
          "uncanceled_descendants",
          PERDURE_DESCENDANTS(" AND (?4 OR shielded IS NOT 1)", " AND child.shielded IS NOT 1")
          "WHERE e.status < 5 AND e.cancel_requested_at IS NULL LIMIT ?3"},
    Entry{Sql::kLiveDescendants,
          "live_descendants",
          PERDURE_DESCENDANTS("", "") "WHERE e.status < 5 LIMIT ?3"},

    Entry{Sql::kLoadExecution,
          "load_execution",
          "SELECT " PERDURE_EXECUTION_COLUMNS
          " FROM executions WHERE instance_key = ?1 AND execution = ?2"},
    Entry{Sql::kInsertExecution,
          "insert_execution",
          "INSERT INTO executions (instance_key, execution, status, deadline, custom_status, "
          "custom_status_version, cancel_requested_at, cancel_reason, last_event, started_at) "
          "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"},
    // A committed turn moves the execution on and shows that nothing blocks it.
    Entry{Sql::kCommitExecution,
          "commit_execution",
          "UPDATE executions SET status = ?3, custom_status = ?4, custom_status_version = ?5, "
          "last_event = ?6, last_turn_epoch = ?7, last_turn = ?8, "
          "engine_version = coalesce(?9, engine_version), blocked_reason = 0, "
          "blocked_detail = NULL, blocked_since = NULL "
          "WHERE instance_key = ?1 AND execution = ?2"},
    Entry{Sql::kEndExecution,
          "end_execution",
          "UPDATE executions SET status = ?3, output = ?4, failure_type = ?5, "
          "failure_message = ?6, failure_retryable = ?7, failure_details = ?8, "
          "cancel_requested_at = ?9, cancel_reason = ?10, canceled_at = ?11, last_event = ?12, "
          "completed_at = ?13, blocked_reason = 0, blocked_detail = NULL, blocked_since = NULL "
          "WHERE instance_key = ?1 AND execution = ?2"},
    Entry{Sql::kRequestCancel,
          "request_cancel",
          "UPDATE executions SET status = 4, cancel_requested_at = ?3, cancel_reason = ?4 "
          "WHERE instance_key = ?1 AND execution = ?2"},
    // The current execution is the newest one, also when the instance does not say so any more.
    Entry{Sql::kBlockExecution,
          "block_execution",
          "UPDATE executions SET blocked_reason = ?2, blocked_detail = ?3, "
          "blocked_since = coalesce(blocked_since, ?4) WHERE instance_key = ?1 AND execution = "
          "(SELECT max(execution) FROM executions WHERE instance_key = ?1 "
          " AND execution <= " PERDURE_LAST_TIME ")"},
    Entry{Sql::kSetLastChange,
          "set_last_change",
          "UPDATE executions SET last_change = ?3 WHERE instance_key = ?1 AND execution = ?2"},
    Entry{Sql::kInsertChange,
          "insert_change",
          "INSERT INTO changes (kind, instance_key, execution, status, at) "
          "VALUES (?1, ?2, ?3, ?4, ?5)"},

    Entry{Sql::kInsertEvent,
          "insert_event",
          "INSERT INTO history (instance_key, execution, event_id, kind, source_event, name, "
          "payload, text, number, failure_type, failure_message, failure_retryable, "
          "failure_details, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, "
          "?14)"},
    Entry{
        Sql::kReadHistory,
        "read_history",
        "SELECT event_id, kind, source_event, name, payload, text, number, failure_type, "
        "failure_message, failure_retryable, failure_details, at FROM history "
        "WHERE instance_key = ?1 AND execution = ?2 AND event_id > ?3 ORDER BY event_id LIMIT ?4"},

    Entry{Sql::kInsertMessage,
          "insert_message",
          "INSERT INTO orchestrator_queue (instance_key, kind, execution, source_event, name, "
          "payload, text, failure_type, failure_message, failure_retryable, failure_details, "
          "shielded, visible_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"},
    // Index: orchestrator_queue_by_instance, in its order.
    Entry{Sql::kVisibleMessages,
          "visible_messages",
          "SELECT message_id, kind, execution, source_event, name, payload, text, failure_type, "
          "failure_message, failure_retryable, failure_details, visible_at "
          "FROM orchestrator_queue WHERE instance_key = ?1 AND visible_at <= ?2 "
          "ORDER BY visible_at, message_id LIMIT ?3"},
    // Index: orchestrator_queue_cancels.
    Entry{Sql::kVisibleCancel,
          "visible_cancel",
          "SELECT message_id, kind, execution, source_event, name, payload, text, failure_type, "
          "failure_message, failure_retryable, failure_details, visible_at "
          "FROM orchestrator_queue INDEXED BY orchestrator_queue_cancels "
          "WHERE instance_key = ?1 AND kind = 12 AND visible_at <= ?2"},
    Entry{Sql::kMarkVisible,
          "mark_visible",
          "UPDATE orchestrator_queue SET mark_epoch = ?3, mark = ?4 "
          "WHERE instance_key = ?1 AND visible_at <= ?2"},
    Entry{Sql::kMarkMessage,
          "mark_message",
          "UPDATE orchestrator_queue SET mark_epoch = ?2, mark = ?3 WHERE message_id = ?1"},
    Entry{Sql::kUnmarkMessage,
          "unmark_message",
          "UPDATE orchestrator_queue SET mark_epoch = NULL, mark = NULL "
          "WHERE message_id = ?1 AND instance_key = ?2 AND mark_epoch = ?3 AND mark = ?4"},
    Entry{Sql::kDeleteMarked,
          "delete_marked",
          "DELETE FROM orchestrator_queue "
          "WHERE instance_key = ?1 AND visible_at <= ?2 AND mark = ?4 AND mark_epoch = ?3"},
    // Index: orchestrator_queue_timers.
    Entry{Sql::kDeleteTimer,
          "delete_timer",
          "DELETE FROM orchestrator_queue "
          "WHERE instance_key = ?1 AND execution = ?2 AND source_event = ?3 AND kind = 5"},
    Entry{Sql::kDeleteUnshieldedTimers,
          "delete_unshielded_timers",
          "DELETE FROM orchestrator_queue "
          "WHERE instance_key = ?1 AND execution = ?2 AND kind = 5 AND shielded = 0"},
    Entry{Sql::kDeleteExecutionMessages,
          "delete_execution_messages",
          "DELETE FROM orchestrator_queue WHERE instance_key = ?1 AND execution = ?2"},
    Entry{Sql::kDeleteMessages,
          "delete_messages",
          "DELETE FROM orchestrator_queue WHERE instance_key = ?1"},
    // Index: orchestrator_queue_cancels.
    Entry{Sql::kUnconsumedCancel,
          "unconsumed_cancel",
          "SELECT 1 FROM orchestrator_queue WHERE instance_key = ?1 AND kind = 12 "
          "AND NOT (mark IS ?3 AND mark_epoch IS ?2) LIMIT 1"},
    Entry{Sql::kEarliestMessage,
          "earliest_message",
          "SELECT (SELECT visible_at FROM orchestrator_queue WHERE instance_key = ?1 "
          "  AND visible_at <= " PERDURE_LAST_TIME " ORDER BY visible_at LIMIT 1), "
          "(SELECT message_id FROM orchestrator_queue WHERE instance_key = ?1 "
          "  AND visible_at > " PERDURE_LAST_TIME " LIMIT 1)"},

    Entry{Sql::kInsertReady,
          "insert_ready",
          "INSERT INTO instance_ready (instance_key, queue, name, version, ready_at, not_before, "
          "priority, cleanup_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"},
    Entry{Sql::kLoadReady,
          "load_ready",
          "SELECT queue, ready_at, not_before, lock_epoch, lock_token, locked_until, marked_until, "
          "losses, deferrals, cleanup_at, priority FROM instance_ready WHERE instance_key = ?1"},
    Entry{Sql::kLowerReady,
          "lower_ready",
          "UPDATE instance_ready SET ready_at = ?2 WHERE instance_key = ?1"},
    Entry{Sql::kServeAs,
          "serve_as",
          "UPDATE instance_ready SET version = ?2 WHERE instance_key = ?1"},
    // Index: instance_ready_locked, one range for each live process.
    Entry{Sql::kFreeExpiredLocks,
          "free_expired_locks",
          "UPDATE instance_ready SET lock_epoch = NULL, lock_token = NULL, locked_until = NULL, "
          "losses = losses + 1 WHERE lock_token IS NOT NULL AND locked_until <= ?1 "
          "AND lock_epoch IN (SELECT epoch FROM processes WHERE typeof(ended_at) <> 'integer') "
          "RETURNING queue"},
    // Index: instance_ready_due, the last below ?4.
    Entry{Sql::kNextPriority,
          "next_priority",
          "SELECT priority FROM instance_ready WHERE queue = ?1 AND name = ?2 AND version = ?3 "
          "AND lock_token IS NULL AND ready_at IS NOT NULL AND priority < ?4 "
          "AND typeof(priority) = 'integer' ORDER BY priority DESC LIMIT 1"},
    // Indexes: instance_ready_due, instance_ready_past_cleanup.
    Entry{Sql::kDueInstances,
          "due_instances",
          "SELECT instance_key, max(ready_at, not_before) FROM instance_ready "
          "WHERE queue = ?1 AND name = ?2 AND version = ?3 AND priority = ?4 "
          "AND lock_token IS NULL AND ready_at IS NOT NULL AND max(ready_at, not_before) <= ?5 "
          "ORDER BY max(ready_at, not_before) LIMIT ?6"},
    Entry{Sql::kDuePastCleanup,
          "due_past_cleanup",
          "SELECT instance_key, max(ready_at, not_before, cleanup_at), "
          "iif(typeof(priority) = 'integer', priority, 0) FROM instance_ready "
          "WHERE queue = ?1 AND lock_token IS NULL AND ready_at IS NOT NULL "
          "AND cleanup_at IS NOT NULL AND max(ready_at, not_before, cleanup_at) <= ?2 "
          "ORDER BY max(ready_at, not_before, cleanup_at) LIMIT ?3"},
    // Index: instance_ready_locked, the first of each live process.
    Entry{Sql::kNextLockEnd,
          "next_lock_end",
          "SELECT min((SELECT min(locked_until) FROM instance_ready "
          "WHERE lock_token IS NOT NULL AND lock_epoch = processes.epoch)) FROM processes "
          "WHERE typeof(ended_at) <> 'integer'"},
    Entry{Sql::kLockInstance,
          "lock_instance",
          "UPDATE instance_ready SET lock_epoch = ?2, lock_token = ?3, locked_until = ?4, "
          "locked_at = ?5, marked_until = ?6 WHERE instance_key = ?1"},
    Entry{Sql::kUnlockAfterTurn,
          "unlock_after_turn",
          "UPDATE instance_ready SET lock_epoch = NULL, lock_token = NULL, locked_until = NULL, "
          "not_before = 0, losses = 0, deferrals = 0, ready_at = ?2 WHERE instance_key = ?1"},
    Entry{Sql::kUnlockAfterAbandon,
          "unlock_after_abandon",
          "UPDATE instance_ready SET lock_epoch = NULL, lock_token = NULL, locked_until = NULL, "
          "not_before = ?2, losses = losses + ?3, deferrals = deferrals + ?4, ready_at = ?5, "
          "cleanup_at = iif(typeof(cleanup_at) = 'integer', cleanup_at, NULL), "
          "priority = iif(typeof(priority) = 'integer' "
          "AND priority BETWEEN -2147483648 AND 2147483647, priority, 0) "
          "WHERE instance_key = ?1"},
    Entry{Sql::kRenewInstanceLock,
          "renew_instance_lock",
          "UPDATE instance_ready SET locked_until = ?4 WHERE instance_key = ?1 "
          "AND lock_epoch = ?2 AND lock_token = ?3 AND locked_until > ?5"},
    Entry{Sql::kBeginCleanup,
          "begin_cleanup",
          "UPDATE instance_ready SET not_before = 0, cleanup_at = ?2 WHERE instance_key = ?1"},
    Entry{Sql::kDeleteReady, "delete_ready", "DELETE FROM instance_ready WHERE instance_key = ?1"},
    Entry{Sql::kFreeLocksOfEpoch,
          "free_locks_of_epoch",
          "UPDATE instance_ready SET lock_epoch = NULL, lock_token = NULL, locked_until = NULL, "
          "losses = losses + ?2, deferrals = deferrals + ?3 "
          "WHERE lock_token IS NOT NULL AND lock_epoch = ?1"},
    Entry{Sql::kQueuesOfLocks,
          "queues_of_locks",
          "SELECT DISTINCT queue FROM instance_ready "
          "WHERE lock_token IS NOT NULL AND lock_epoch = ?1"},
};

#undef PERDURE_DESCENDANTS
#undef PERDURE_LAST_TIME
#undef PERDURE_EXECUTION_COLUMNS
#undef PERDURE_INSTANCE_COLUMNS

static_assert(in_order(kTurnEntries, 0), "every Sql has its text, in the order of the enum");
static_assert(kTurnEntries.size() == static_cast<std::size_t>(kFirstWork));

const Entry& entry(Sql id) {
  const auto in = [id](std::span<const Entry> part, Sql first) -> const Entry& {
    return part[static_cast<std::size_t>(id) - static_cast<std::size_t>(first)];
  };
  if (id < kFirstWork) return in(kTurnEntries, Sql{});
  if (id < kFirstRequest) return in(work_statements(), kFirstWork);
  if (id < kFirstManagement) return in(request_statements(), kFirstRequest);
  if (id < kFirstProcess) return in(management_statements(), kFirstManagement);
  return in(process_statements(), kFirstProcess);
}

}  // namespace

std::string_view sql_text(Sql id) {
  return entry(id).text;
}
std::string_view sql_name(Sql id) {
  return entry(id).name;
}

}  // namespace perdure::sqlite
