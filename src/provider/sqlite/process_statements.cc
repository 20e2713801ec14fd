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
