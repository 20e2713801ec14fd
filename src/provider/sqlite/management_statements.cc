#include <array>

#include "provider/sqlite/statement_entry.h"

namespace perdure::sqlite {

namespace {

using Entry = StatementEntry;

#define PERDURE_SUMMARY_COLUMNS                                                           \
  "i.instance_key, i.id, i.name, i.version, i.queue, i.current_execution, i.parent_key, " \
  "i.parent_execution, i.parent_event, i.close_policy, i.created_at, e.status, "          \
  "e.blocked_reason, e.cancel_requested_at, e.started_at, e.completed_at, i.shielded "
#define PERDURE_CURRENT_EXECUTION                                 \
  "LEFT JOIN executions AS e ON e.instance_key = i.instance_key " \
  "AND e.execution = i.current_execution "
#define PERDURE_BYTES(column) "ifnull(length(CAST(" column " AS BLOB)), 0)"

// Literals: work state 1 = ready, 2 = delayed, 3 = claimed, 4 = held; owner kind 0 = nobody (cut),
// 1 = activity.
constexpr std::array
    kManagementEntries{
        Entry{Sql::kWriteMark,
              "write_mark",
              "INSERT INTO writer_marks (writer, mark, at) VALUES (?1, ?2, ?3) "
              "ON CONFLICT (writer) DO UPDATE SET mark = excluded.mark, at = excluded.at"},
        Entry{Sql::kReadMark, "read_mark", "SELECT mark FROM writer_marks WHERE writer = ?1"},
        // Keys are random: every new writer looks at some rows, together they look at all.
        Entry{
            Sql::kDropOldMarks,
            "drop_old_marks",
            "DELETE FROM writer_marks WHERE at < ?2 AND writer IN (SELECT writer FROM writer_marks "
            "WHERE writer > ?1 ORDER BY writer LIMIT 100)"},

        Entry{Sql::kSummaryOf,
              "summary_of",
              "SELECT " PERDURE_SUMMARY_COLUMNS "FROM instances AS i " PERDURE_CURRENT_EXECUTION
              "WHERE i.instance_key = ?1"},
        // The primary key is the order.
        Entry{Sql::kListByKey,
              "list_by_key",
              "SELECT " PERDURE_SUMMARY_COLUMNS "FROM instances AS i " PERDURE_CURRENT_EXECUTION
              "WHERE i.instance_key < ?1 ORDER BY i.instance_key DESC LIMIT ?2"},
        // A live instance has a line, and an ended one has none.
        Entry{Sql::kListLive,
              "list_live",
              "SELECT " PERDURE_SUMMARY_COLUMNS "FROM instance_ready AS r "
              "CROSS JOIN instances AS i ON i.instance_key = "
              "r.instance_key " PERDURE_CURRENT_EXECUTION
              "WHERE r.instance_key < ?1 ORDER BY r.instance_key DESC LIMIT ?2"},
        // Index: unique id.
        Entry{Sql::kKeysByPrefix,
              "keys_by_prefix",
              "SELECT instance_key FROM instances WHERE id >= ?1 AND id < ?2 LIMIT ?3"},
        // Index: instances_by_parent, in its order.
        Entry{Sql::kChildKeys,
              "child_keys",
              "SELECT instance_key, current_execution FROM instances WHERE parent_key = ?1 "
              "ORDER BY parent_execution, parent_event LIMIT ?2"},
        Entry{Sql::kListExecutions,
              "list_executions",
              "SELECT execution FROM executions WHERE instance_key = ?1 AND execution < ?2 "
              "ORDER BY execution DESC LIMIT ?3"},

        Entry{Sql::kCountExecutions,
              "count_executions",
              "SELECT count(*) FROM executions WHERE instance_key = ?1"},
        Entry{Sql::kHistorySize,
              "history_size",
              "SELECT count(*), ifnull(sum(" PERDURE_BYTES("name") " + " PERDURE_BYTES("payload") " + " PERDURE_BYTES("text") " + " PERDURE_BYTES(
                  "failure_type") " + " PERDURE_BYTES("failure_message") " + " PERDURE_BYTES("failu"
                                                                                             "re_"
                                                                                             "detai"
                                                                                             "ls") "), 0) "
                                                                                                   "FROM history WHERE instance_key = ?1 AND execution = ?2"},
        Entry{Sql::kCountMessages,
              "count_messages",
              "SELECT count(*) FROM orchestrator_queue WHERE instance_key = ?1"},
        // Index: worker_queue_owner.
        Entry{Sql::kCountWork,
              "count_work",
              "SELECT count(*) FROM worker_queue WHERE owner_kind IN (0, 1) AND owner_key = ?1"},
        Entry{Sql::kCountChildren,
              "count_children",
              "SELECT count(*) FROM instances WHERE parent_key = ?1"},

        // Counts go through the partial index that holds just the rows which are counted.
        Entry{Sql::kDepthInstances,
              "depth_instances",
              "SELECT queue, sum(max(ready_at, not_before) <= ?1), sum(max(ready_at, not_before) > "
              "?1), "
              "min(max(ready_at, not_before)) FROM instance_ready INDEXED BY instance_ready_due "
              "WHERE lock_token IS NULL AND ready_at IS NOT NULL GROUP BY queue"},
        Entry{Sql::kDepthLocked,
              "depth_locked",
              "SELECT queue, count(*) FROM instance_ready INDEXED BY instance_ready_locked "
              "WHERE lock_token IS NOT NULL GROUP BY queue"},
        Entry{Sql::kDepthReady,
              "depth_ready",
              "SELECT queue, name, count(*), min(work_id) "
              "FROM worker_queue INDEXED BY worker_queue_ready "
              "WHERE state = 1 AND losses < 3 GROUP BY queue, name"},
        Entry{Sql::kDepthSuspects,
              "depth_suspects",
              "SELECT queue, name, count(*), min(work_id) "
              "FROM worker_queue INDEXED BY worker_queue_suspects "
              "WHERE state = 1 AND losses >= 3 GROUP BY queue, name"},
        Entry{Sql::kDepthDelayed,
              "depth_delayed",
              "SELECT queue, name, sum(visible_at <= ?1), sum(visible_at > ?1), min(visible_at) "
              "FROM worker_queue INDEXED BY worker_queue_delayed "
              "WHERE state = 2 GROUP BY queue, name"},
        Entry{Sql::kDepthClaimed,
              "depth_claimed",
              "SELECT queue, name, count(*) FROM worker_queue INDEXED BY worker_queue_claimed "
              "WHERE state = 3 GROUP BY queue, name"},
        Entry{Sql::kDepthHeld,
              "depth_held",
              "SELECT queue, name, count(*) FROM worker_queue INDEXED BY worker_queue_held "
              "WHERE state = 4 GROUP BY queue, name"},
        Entry{Sql::kWorkVisibleAt,
              "work_visible_at",
              "SELECT visible_at FROM worker_queue WHERE work_id = ?1"},

        Entry{Sql::kReadChanges,
              "read_changes",
              "SELECT c.change_seq, c.kind, c.instance_key, i.id, c.execution, c.status, c.at "
              "FROM changes AS c LEFT JOIN instances AS i ON i.instance_key = c.instance_key "
              "WHERE c.change_seq > ?1 ORDER BY c.change_seq LIMIT ?2"},
        Entry{Sql::kOldestChange, "oldest_change", "SELECT min(change_seq) FROM changes"},
        Entry{Sql::kNewestChange, "newest_change", "SELECT max(change_seq) FROM changes"},
        Entry{Sql::kChangeTimes,
              "change_times",
              "SELECT change_seq, at FROM changes WHERE change_seq <= ?1 ORDER BY change_seq LIMIT "
              "?2"},
        Entry{Sql::kTrimChanges, "trim_changes", "DELETE FROM changes WHERE change_seq <= ?1"},

        // Index: instances_by_parent for each level, then the primary key of the lines.
        Entry{Sql::kLiveInTree,
              "live_in_tree",
              "WITH RECURSIVE tree (instance_key) AS (VALUES (?1) UNION "
              "  SELECT child.instance_key FROM tree"
              "  JOIN instances AS child ON child.parent_key = tree.instance_key) "
              "SELECT r.instance_key FROM tree "
              "CROSS JOIN instance_ready AS r ON r.instance_key = tree.instance_key LIMIT 1"},
        // Index: worker_queue_owner.
        Entry{Sql::kWorkToRemove,
              "work_to_remove",
              "SELECT work_id, lock_epoch, lock_token FROM worker_queue "
              "WHERE owner_kind IN (0, 1) AND owner_key = ?1"},
        Entry{Sql::kExecutionWorkToRemove,
              "execution_work_to_remove",
              "SELECT work_id, lock_epoch, lock_token FROM worker_queue "
              "WHERE owner_kind IN (0, 1) AND owner_key = ?1 AND owner_execution = ?2"},
        Entry{Sql::kEndOfExecution,
              "end_of_execution",
              "SELECT status, completed_at FROM executions WHERE instance_key = ?1 AND execution = "
              "?2"},
        // Index: executions_by_end, in its order.
        Entry{Sql::kEndedExecutions,
              "ended_executions",
              "SELECT completed_at, instance_key, execution FROM executions "
              "INDEXED BY executions_by_end WHERE completed_at IS NOT NULL AND completed_at < ?1 "
              "AND (completed_at, instance_key, execution) > (?2, ?3, ?4) "
              "ORDER BY completed_at, instance_key, execution LIMIT ?5"},
        Entry{Sql::kPrunableExecutions,
              "prunable_executions",
              "SELECT execution FROM executions WHERE instance_key = ?1 "
              "AND execution > ?2 AND execution <= ?3 "
              "AND +completed_at < ?4 ORDER BY execution LIMIT ?5"},
        Entry{Sql::kDeleteExecution,
              "delete_execution",
              "DELETE FROM executions WHERE instance_key = ?1 AND execution = ?2"},
        Entry{Sql::kDeleteInstance,
              "delete_instance",
              "DELETE FROM instances WHERE instance_key = ?1"},
        Entry{
            Sql::kOrphanChild,
            "orphan_child",
            "UPDATE instances SET parent_key = NULL, parent_execution = NULL, parent_event = NULL, "
            "close_policy = NULL WHERE instance_key = ?1"},
        // Index: instances_by_parent.
        Entry{
            Sql::kOrphanChildren,
            "orphan_children",
            "UPDATE instances SET parent_key = NULL, parent_execution = NULL, parent_event = NULL, "
            "close_policy = NULL WHERE instance_key IN (SELECT instance_key FROM instances "
            "WHERE parent_key = ?1 AND parent_execution = ?2 LIMIT ?3)"},
        // Index: cascades_by_instance.
        Entry{Sql::kCascadeOf,
              "cascade_of",
              "SELECT 1 FROM cascades WHERE instance_key = ?1 AND execution = ?2 LIMIT 1"},
        Entry{Sql::kDeleteCascadesOf,
              "delete_cascades_of",
              "DELETE FROM cascades WHERE instance_key = ?1"},

        Entry{Sql::kInsertRemoval,
              "insert_removal",
              "INSERT OR REPLACE INTO removals (instance_key, execution, forced, descend) "
              "VALUES (?1, ?2, ?3, ?4)"},
        // Index: removals_to_descend, in its order.
        Entry{Sql::kRemovalsToDescend,
              "removals_to_descend",
              "SELECT instance_key, forced FROM removals WHERE descend = 1 AND instance_key > 0 "
              "AND typeof(instance_key) = 'integer' AND typeof(execution) = 'integer' "
              "AND forced IN (0, 1) ORDER BY instance_key LIMIT ?1"},
        Entry{Sql::kRemovals,
              "removals",
              "SELECT instance_key, execution FROM removals WHERE instance_key > 0 "
              "AND typeof(instance_key) = 'integer' AND typeof(execution) = 'integer' "
              "AND forced IN (0, 1) AND descend IN (0, 1) "
              "ORDER BY instance_key, execution LIMIT ?1"},
        Entry{Sql::kDescended,
              "descended",
              "UPDATE removals SET descend = 0 WHERE instance_key = ?1 AND execution = 0"},
        Entry{Sql::kDeleteRemoval,
              "delete_removal",
              "DELETE FROM removals WHERE instance_key = ?1 AND execution = ?2"},
        Entry{Sql::kRemoveHistory,
              "remove_history",
              "DELETE FROM history WHERE (instance_key, execution, event_id) IN "
              "(SELECT instance_key, execution, event_id FROM history WHERE instance_key = ?1 "
              "LIMIT ?2)"},
        Entry{Sql::kRemoveExecutionHistory,
              "remove_execution_history",
              "DELETE FROM history WHERE (instance_key, execution, event_id) IN "
              "(SELECT instance_key, execution, event_id FROM history "
              "WHERE instance_key = ?1 AND execution = ?2 LIMIT ?3)"},
        Entry{Sql::kRemoveExecutions,
              "remove_executions",
              "DELETE FROM executions WHERE (instance_key, execution) IN "
              "(SELECT instance_key, execution FROM executions WHERE instance_key = ?1 LIMIT ?2)"},

        // Indexes: those of damaged rows.
        Entry{Sql::kDamagedLines,
              "damaged_lines",
              "SELECT instance_key FROM instance_ready INDEXED BY instance_ready_damaged "
              "WHERE queue = ?1 AND name = ?2 AND version = ?3 AND ("
              "(lock_token IS NULL AND ready_at IS NOT NULL"
              " AND (typeof(ready_at) <> 'integer' OR typeof(not_before) <> 'integer'"
              " OR typeof(priority) <> 'integer' OR priority > 2147483647"
              " OR priority < -2147483648)) OR "
              "(lock_token IS NOT NULL AND (typeof(lock_token) <> 'integer'"
              " OR typeof(lock_epoch) <> 'integer' OR typeof(locked_until) <> 'integer'))) "
              "LIMIT ?4"},
        Entry{Sql::kDamagedWork,
              "damaged_work",
              "SELECT work_id FROM worker_queue INDEXED BY worker_queue_damaged "
              "WHERE (state <> 1 AND state <> 2 AND state <> 3 AND state <> 4) "
              "OR (state = 2 AND typeof(visible_at) <> 'integer') "
              "OR (state = 3 AND (typeof(lock_epoch) <> 'integer'"
              " OR typeof(locked_until) <> 'integer')) LIMIT ?1"},
        // The token stays: who holds it can still settle.
        Entry{Sql::kSetWorkAside,
              "set_work_aside",
              "UPDATE worker_queue SET state = 4, expires_at = NULL WHERE work_id = ?1"},
        // Index: worker_queue_owner, of which only damaged rows lie beyond the known kinds.
        Entry{Sql::kStrangeWorkOf,
              "strange_work_of",
              "SELECT work_id FROM worker_queue WHERE (owner_kind > 1 OR owner_kind < 0) "
              "AND owner_key = ?1"},
        Entry{Sql::kDamagedRemovals,
              "damaged_removals",
              "SELECT instance_key, execution FROM removals INDEXED BY removals_damaged "
              "WHERE typeof(instance_key) <> 'integer' OR typeof(execution) <> 'integer' "
              "OR forced NOT IN (0, 1) OR descend NOT IN (0, 1) LIMIT ?1"},
    };

#undef PERDURE_SUMMARY_COLUMNS
#undef PERDURE_CURRENT_EXECUTION
#undef PERDURE_BYTES

static_assert(in_order(kManagementEntries, static_cast<std::size_t>(kFirstManagement)),
              "every Sql has its text, in the order of the enum");
static_assert(static_cast<std::size_t>(kFirstManagement) + kManagementEntries.size() ==
              static_cast<std::size_t>(kFirstProcess));

}  // namespace

std::span<const StatementEntry> management_statements() {
  return kManagementEntries;
}

}  // namespace perdure::sqlite
