#include <array>

#include "provider/sqlite/statement_entry.h"

namespace perdure::sqlite {

namespace {

using Entry = StatementEntry;

// Literals: work state 1 = ready, 2 = delayed, 3 = claimed, 4 = held; owner kind 0 = nobody (cut),
// 1 = activity.
constexpr std::array kWorkEntries{
    Entry{Sql::kInsertWork,
          "insert_work",
          "INSERT INTO worker_queue (owner_kind, owner_key, owner_execution, owner_event, queue, "
          "name, input, priority, state, visible_at, on_cancel, shielded, retry_max_attempts, "
          "retry_first_delay, retry_backoff, retry_max_delay, retry_jitter, retry_never, "
          "start_to_close, schedule_to_start, schedule_to_close, heartbeat_timeout, expires_at, "
          "created_at) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, "
          "?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)"},
    // Index: worker_queue_delayed.
    Entry{Sql::kPromoteDelayed,
          "promote_delayed",
          "UPDATE worker_queue SET state = 1 WHERE work_id = ?1"},
    Entry{Sql::kDueDelayed,
          "due_delayed",
          "SELECT work_id, queue FROM worker_queue WHERE state = 2 AND visible_at <= ?1 "
          "ORDER BY visible_at LIMIT ?2"},
    // Index: worker_queue_claimed. The token stays: a lapsed claim that nobody took may still
    // settle.
    Entry{Sql::kFreeLapsed,
          "free_lapsed",
          "UPDATE worker_queue SET state = 1, losses = losses + 1, visible_at = ?2 "
          "WHERE work_id = ?1"},
    Entry{Sql::kLapsedToFree,
          "lapsed_to_free",
          "SELECT work_id, queue FROM worker_queue "
          "WHERE state = 3 AND locked_until <= ?1 AND cancel_requested_at IS NULL "
          "AND owner_kind <> 0 AND losses + 1 < ?2 "
          "AND lock_epoch IN (SELECT epoch FROM processes WHERE typeof(ended_at) <> 'integer') "
          "LIMIT ?3"},
    // Index: worker_queue_ready, worker_queue_suspects, in their order. A row whose time is over is
    // left to the sweep, which tells its owner.
    Entry{Sql::kReadyWork,
          "ready_work",
          "SELECT work_id, priority FROM worker_queue WHERE queue = ?1 AND name = ?2 "
          "AND state = 1 AND losses < 3 AND (expires_at IS NULL OR expires_at > ?4) "
          "ORDER BY priority DESC, work_id LIMIT ?3"},
    Entry{Sql::kSuspectWork,
          "suspect_work",
          "SELECT work_id, priority FROM worker_queue WHERE queue = ?1 AND name = ?2 "
          "AND state = 1 AND losses >= 3 AND losses + 1 < ?5 "
          "AND (expires_at IS NULL OR expires_at > ?4) ORDER BY priority DESC, work_id LIMIT ?3"},
    Entry{Sql::kTrialWork,
          "trial_work",
          "SELECT work_id, priority FROM worker_queue WHERE queue = ?1 AND name = ?2 "
          "AND state = 1 AND losses >= 3 AND losses + 1 >= ?5 "
          "AND (expires_at IS NULL OR expires_at > ?4) ORDER BY priority DESC, work_id LIMIT ?3"},
    Entry{Sql::kClaimWork,
          "claim_work",
          "UPDATE worker_queue SET state = 3, lock_epoch = ?2, lock_token = ?3, "
          "locked_until = ?4, claimed_at = ?5, first_claimed_at = coalesce(first_claimed_at, ?5), "
          "expires_at = CASE WHEN expires_at IS NULL THEN NULL "
          "  WHEN schedule_to_close > 0 THEN created_at + schedule_to_close ELSE NULL END "
          "WHERE work_id = ?1"},
    Entry{Sql::kLoadClaimed,
          "load_claimed",
          "SELECT w.owner_kind, w.owner_key, w.owner_execution, w.owner_event, w.queue, w.name, "
          "w.input, w.priority, w.visible_at, w.on_cancel, w.shielded, w.retry_max_attempts, "
          "w.retry_first_delay, w.retry_backoff, w.retry_max_delay, w.retry_jitter, "
          "w.retry_never, w.start_to_close, w.schedule_to_start, w.schedule_to_close, "
          "w.heartbeat_timeout, w.failures, w.losses, w.deferrals, w.failure_type, "
          "w.failure_message, w.failure_retryable, w.failure_details, w.heartbeat_details, "
          "w.created_at, w.first_claimed_at, w.claimed_at, i.id, i.name, i.version, w.state "
          "FROM worker_queue AS w LEFT JOIN instances AS i ON i.instance_key = w.owner_key "
          "WHERE w.work_id = ?1"},
    Entry{Sql::kHoldWork,
          "hold_work",
          "UPDATE worker_queue SET state = 4, lock_epoch = NULL, lock_token = NULL, "
          "locked_until = NULL, expires_at = NULL WHERE work_id = ?1"},
    Entry{Sql::kLoadSettling,
          "load_settling",
          "SELECT owner_kind, owner_key, owner_execution, owner_event, queue, on_cancel, "
          "cancel_requested_at, lock_epoch, lock_token, failures, losses "
          "FROM worker_queue WHERE work_id = ?1"},
    Entry{Sql::kRetryWork,
          "retry_work",
          "UPDATE worker_queue SET state = ?2, visible_at = ?3, failures = failures + 1, "
          "failure_type = ?4, failure_message = ?5, failure_retryable = ?6, failure_details = ?7, "
          "heartbeat_details = coalesce(?8, heartbeat_details), lock_epoch = NULL, "
          "lock_token = NULL, locked_until = NULL WHERE work_id = ?1"},
    Entry{Sql::kGiveBackWork,
          "give_back_work",
          "UPDATE worker_queue SET state = ?2, visible_at = ?3, deferrals = deferrals + 1, "
          "heartbeat_details = coalesce(?4, heartbeat_details), lock_epoch = NULL, "
          "lock_token = NULL, locked_until = NULL WHERE work_id = ?1"},
    Entry{Sql::kDeleteWork, "delete_work", "DELETE FROM worker_queue WHERE work_id = ?1"},
    // A marked or cut row keeps token and lease and is claimed: nobody takes it, and time ends it.
    Entry{Sql::kMarkWork,
          "mark_work",
          "UPDATE worker_queue SET state = 3, cancel_requested_at = ?2, expires_at = NULL "
          "WHERE work_id = ?1"},
    Entry{Sql::kCutWork,
          "cut_work",
          "UPDATE worker_queue SET state = 3, owner_kind = 0, expires_at = NULL "
          "WHERE work_id = ?1"},
    // Index: worker_queue_owner.
    Entry{Sql::kWorkOfInstance,
          "work_of_instance",
          "SELECT work_id, lock_epoch, lock_token, on_cancel, shielded, cancel_requested_at "
          "FROM worker_queue WHERE owner_kind = 1 AND owner_key = ?1"},
    Entry{Sql::kWorkOfExecution,
          "work_of_execution",
          "SELECT work_id, lock_epoch, lock_token, on_cancel, shielded, cancel_requested_at "
          "FROM worker_queue WHERE owner_kind = 1 AND owner_key = ?1 AND owner_execution = ?2"},
    Entry{Sql::kWorkOfEvent,
          "work_of_event",
          "SELECT work_id, lock_epoch, lock_token, on_cancel, shielded, cancel_requested_at "
          "FROM worker_queue WHERE owner_kind = 1 AND owner_key = ?1 AND owner_execution = ?2 "
          "AND owner_event = ?3"},
    // A renewal also takes back a lapsed claim that nobody took.
    Entry{Sql::kRenewWork,
          "renew_work",
          "UPDATE worker_queue SET state = 3, locked_until = ?4 "
          "WHERE work_id = ?1 AND lock_epoch = ?2 AND lock_token = ?3"},
    Entry{Sql::kRenewWorkWithDetails,
          "renew_work_with_details",
          "UPDATE worker_queue SET state = 3, locked_until = ?4, heartbeat_details = ?5 "
          "WHERE work_id = ?1 AND lock_epoch = ?2 AND lock_token = ?3"},
    Entry{Sql::kCheckWork,
          "check_work",
          "SELECT lock_epoch, lock_token, cancel_requested_at FROM worker_queue "
          "WHERE work_id = ?1"},
    // Index: worker_queue_claimed.
    Entry{Sql::kClaimsOfEpoch,
          "claims_of_epoch",
          "SELECT work_id, lock_token, cancel_requested_at IS NOT NULL FROM worker_queue "
          "WHERE state = 3 AND lock_epoch = ?1"},
    // Index: worker_queue_claimed. What a fetch leaves to the sweep: unwanted rows and poison.
    Entry{Sql::kLapsedToEnd,
          "lapsed_to_end",
          "SELECT work_id, cancel_requested_at IS NOT NULL OR owner_kind = 0, losses, queue, "
          "lock_epoch, lock_token FROM worker_queue "
          "WHERE state = 3 AND locked_until <= ?1 "
          "AND lock_epoch IN (SELECT epoch FROM processes WHERE typeof(ended_at) <> 'integer') "
          "AND (cancel_requested_at IS NOT NULL OR owner_kind = 0 OR losses + 1 >= ?2) LIMIT ?3"},
    Entry{Sql::kWorkOfEpoch,
          "work_of_epoch",
          "SELECT work_id, cancel_requested_at IS NOT NULL OR owner_kind = 0, losses, queue, "
          "lock_epoch, lock_token FROM worker_queue WHERE state = 3 AND lock_epoch = ?1"},
    Entry{Sql::kFreeWork,
          "free_work",
          "UPDATE worker_queue SET state = 1, losses = losses + 1, visible_at = ?2, "
          "lock_epoch = NULL, lock_token = NULL, locked_until = NULL WHERE work_id = ?1"},
    Entry{Sql::kDeferWork,
          "defer_work",
          "UPDATE worker_queue SET state = 1, deferrals = deferrals + 1, visible_at = ?2, "
          "lock_epoch = NULL, lock_token = NULL, locked_until = NULL WHERE work_id = ?1"},
    // Index: worker_queue_expiring. A marked row has its own end.
    Entry{Sql::kExpiredWork,
          "expired_work",
          "SELECT work_id, lock_epoch, lock_token FROM worker_queue "
          "WHERE expires_at IS NOT NULL AND expires_at <= ?1 AND cancel_requested_at IS NULL "
          "ORDER BY expires_at LIMIT ?2"},
    Entry{Sql::kNextDelayed,
          "next_delayed",
          "SELECT visible_at FROM worker_queue WHERE state = 2 ORDER BY visible_at LIMIT 1"},
    Entry{Sql::kNextLapse,
          "next_lapse",
          "SELECT (SELECT w.locked_until FROM worker_queue AS w "
          "  WHERE w.state = 3 AND w.lock_epoch = p.epoch ORDER BY w.locked_until LIMIT 1) "
          "FROM processes AS p WHERE typeof(p.ended_at) <> 'integer'"},
    Entry{Sql::kNextExpiry,
          "next_expiry",
          "SELECT expires_at FROM worker_queue WHERE expires_at IS NOT NULL "
          "ORDER BY expires_at LIMIT 1"},
};

static_assert(in_order(kWorkEntries, static_cast<std::size_t>(kFirstWork)),
              "every Sql has its text, in the order of the enum");
static_assert(static_cast<std::size_t>(kFirstWork) + kWorkEntries.size() ==
              static_cast<std::size_t>(kFirstRequest));

}  // namespace

std::span<const StatementEntry> work_statements() {
  return kWorkEntries;
}

}  // namespace perdure::sqlite
