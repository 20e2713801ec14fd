#include <array>

#include "provider/sqlite/statement_entry.h"

namespace perdure::sqlite {

namespace {

using Entry = StatementEntry;

// Literal: work state 3 = claimed.
constexpr std::array kProcessEntries{
    Entry{Sql::kInsertProcess,
          "insert_process",
          "INSERT INTO processes (host, pid, queues, registered_at) VALUES (?1, ?2, ?3, ?4)"},
    Entry{Sql::kProcessEnded, "process_ended", "SELECT ended_at FROM processes WHERE epoch = ?1"},
    Entry{Sql::kHeartbeat,
          "heartbeat",
          "UPDATE processes SET heartbeat = heartbeat + 1 "
          "WHERE epoch = ?1 AND typeof(ended_at) <> 'integer' RETURNING heartbeat"},
    Entry{Sql::kEndProcess, "end_process", "UPDATE processes SET ended_at = ?2 WHERE epoch = ?1"},
    // Index: processes_live, worker_queue_claimed, instance_ready_locked.
    Entry{Sql::kLiveProcesses,
          "live_processes",
          "SELECT epoch, host, pid, queues, heartbeat, registered_at, ended_at, "
          "EXISTS (SELECT 1 FROM worker_queue AS w WHERE w.state = 3 AND w.lock_epoch = p.epoch) "
          "OR EXISTS (SELECT 1 FROM instance_ready AS r "
          "  WHERE r.lock_token IS NOT NULL AND r.lock_epoch = p.epoch) "
          "FROM processes AS p WHERE typeof(ended_at) <> 'integer' ORDER BY epoch"},
    // Index: worker_queue_claimed, instance_ready_locked.
    Entry{Sql::kHoldsMore,
          "holds_more",
          "SELECT EXISTS (SELECT 1 FROM worker_queue "
          "  WHERE state = 3 AND lock_epoch = ?1 AND work_id <> ?2) "
          "OR EXISTS (SELECT 1 FROM instance_ready "
          "  WHERE lock_token IS NOT NULL AND lock_epoch = ?1)"},
    Entry{Sql::kFirstClaim,
          "first_claim",
          "SELECT losses, claimed_at FROM worker_queue WHERE state = 3 AND lock_epoch = ?1 "
          "LIMIT 1"},
    Entry{Sql::kDeclareSignal,
          "declare_signal",
          "INSERT OR IGNORE INTO declared_signals (orchestration, version, name, epoch) "
          "VALUES (?1, ?2, ?3, ?4)"},
    Entry{Sql::kDeclaresSignal,
          "declares_signal",
          "SELECT 1 FROM declared_signals WHERE orchestration = ?1 AND version = ?2 AND name = ?3 "
          "LIMIT 1"},
    // Index: declared_signals_by_epoch.
    Entry{Sql::kForgetSignals, "forget_signals", "DELETE FROM declared_signals WHERE epoch = ?1"},
    Entry{Sql::kKeepSignal,
          "keep_signal",
          "INSERT OR IGNORE INTO kept_signals (name, instance_key, event_id) VALUES (?1, ?2, ?3)"},
    Entry{Sql::kTakeKeptSignal,
          "take_kept_signal",
          "DELETE FROM kept_signals WHERE name = ?1 AND instance_key = ?2 AND event_id = ?3"},
    // Index: kept_signals_by_instance.
    Entry{Sql::kForgetKeptSignals,
          "forget_kept_signals",
          "DELETE FROM kept_signals WHERE instance_key = ?1"},
    Entry{Sql::kRunsThatKeep,
          "runs_that_keep",
          "SELECT k.instance_key, i.current_execution FROM kept_signals AS k "
          "CROSS JOIN instances AS i ON i.instance_key = k.instance_key "
          "WHERE k.name = ?3 AND i.name = ?1 AND i.version = ?2"},
    // What others declare of code that this process has, and does not declare itself. Index:
    // declared_signals_by_epoch.
    Entry{Sql::kRunsOthersServe,
          "runs_others_serve",
          "SELECT k.instance_key, i.current_execution FROM declared_signals AS mine "
          "CROSS JOIN declared_signals AS other ON other.orchestration = mine.orchestration "
          "  AND other.version = mine.version AND other.epoch <> mine.epoch "
          "CROSS JOIN kept_signals AS k ON k.name = other.name "
          "CROSS JOIN instances AS i ON i.instance_key = k.instance_key "
          "WHERE mine.epoch = ?1 AND mine.name = '' "
          "AND i.name = mine.orchestration AND i.version = mine.version "
          "AND NOT EXISTS (SELECT 1 FROM declared_signals AS same "
          "  WHERE same.orchestration = mine.orchestration AND same.version = mine.version "
          "  AND same.name = other.name AND same.epoch = mine.epoch)"},
};

static_assert(in_order(kProcessEntries, static_cast<std::size_t>(kFirstProcess)),
              "every Sql has its text, in the order of the enum");
static_assert(static_cast<std::size_t>(kFirstProcess) + kProcessEntries.size() ==
              static_cast<std::size_t>(Sql::kCount));

}  // namespace

std::span<const StatementEntry> process_statements() {
  return kProcessEntries;
}

}  // namespace perdure::sqlite
