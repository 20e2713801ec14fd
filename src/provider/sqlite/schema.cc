#include "provider/sqlite/schema.h"

#include <array>

namespace perdure::sqlite {

namespace {

// Keys are sequential and never reused (AUTOINCREMENT). Times and durations are microseconds. A
// lock token is (lock_epoch, lock_token). Codes: docs/storage-format.md. Literals in partial
// indexes: message kind 5 = timer_fired, 12 = cancel; work state 1 = ready, 2 = delayed, 3 =
// claimed, 4 = held; three losses make a suspect. A removal of execution 0 is one of the whole
// instance; `descend` while it may have descendants left. The indexes of damaged rows find what no
// other index leads to, because a column of their order or condition is not what it should be; they
// are empty in a sound store; their conditions are evaluated by every write, and a list (IN) would
// be built anew each time. A process has ended when it has a time of its end, and no other
// value.
constexpr std::string_view kInitial = R"sql(
CREATE TABLE instances (
  instance_key      INTEGER PRIMARY KEY AUTOINCREMENT,
  id                TEXT    NOT NULL UNIQUE,
  name              TEXT    NOT NULL,
  version           TEXT    NOT NULL,
  queue             TEXT    NOT NULL,
  current_execution INTEGER NOT NULL,
  parent_key        INTEGER,
  parent_execution  INTEGER,
  parent_event      INTEGER,
  close_policy      INTEGER,
  created_at        INTEGER NOT NULL,
  priority          INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX instances_by_parent ON instances (parent_key, parent_execution, parent_event)
  WHERE parent_key IS NOT NULL;

CREATE TABLE executions (
  instance_key          INTEGER NOT NULL,
  execution             INTEGER NOT NULL,
  status                INTEGER NOT NULL,
  blocked_reason        INTEGER NOT NULL DEFAULT 0,
  blocked_detail        TEXT,
  blocked_since         INTEGER,
  output                TEXT,
  failure_type          TEXT,
  failure_message       TEXT,
  failure_retryable     INTEGER NOT NULL DEFAULT 1,
  failure_details       TEXT,
  cancel_requested_at   INTEGER,
  cancel_reason         TEXT,
  canceled_at           INTEGER,
  deadline              INTEGER,
  custom_status         TEXT,
  custom_status_version INTEGER NOT NULL DEFAULT 0,
  last_event            INTEGER NOT NULL,
  last_turn_epoch       INTEGER NOT NULL DEFAULT 0,
  last_turn             INTEGER NOT NULL DEFAULT 0,
  last_change           INTEGER NOT NULL DEFAULT 0,
  started_at            INTEGER NOT NULL,
  completed_at          INTEGER,
  engine_version        TEXT,
  PRIMARY KEY (instance_key, execution)
) WITHOUT ROWID;
CREATE INDEX executions_by_end ON executions (completed_at, instance_key, execution)
  WHERE completed_at IS NOT NULL;

CREATE TABLE history (
  instance_key      INTEGER NOT NULL,
  execution         INTEGER NOT NULL,
  event_id          INTEGER NOT NULL,
  kind              INTEGER NOT NULL,
  source_event      INTEGER NOT NULL DEFAULT 0,
  name              TEXT,
  payload           TEXT,
  text              TEXT,
  number            INTEGER NOT NULL DEFAULT 0,
  failure_type      TEXT,
  failure_message   TEXT,
  failure_retryable INTEGER NOT NULL DEFAULT 1,
  failure_details   TEXT,
  at                INTEGER NOT NULL,
  PRIMARY KEY (instance_key, execution, event_id)
) WITHOUT ROWID;

CREATE TABLE orchestrator_queue (
  message_id        INTEGER PRIMARY KEY AUTOINCREMENT,
  instance_key      INTEGER NOT NULL,
  kind              INTEGER NOT NULL,
  execution         INTEGER NOT NULL DEFAULT 0,
  source_event      INTEGER NOT NULL DEFAULT 0,
  name              TEXT,
  payload           TEXT,
  text              TEXT,
  failure_type      TEXT,
  failure_message   TEXT,
  failure_retryable INTEGER NOT NULL DEFAULT 1,
  failure_details   TEXT,
  shielded          INTEGER NOT NULL DEFAULT 0,
  visible_at        INTEGER NOT NULL,
  mark_epoch        INTEGER,
  mark              INTEGER
);
CREATE INDEX orchestrator_queue_by_instance ON orchestrator_queue (instance_key, visible_at);
CREATE INDEX orchestrator_queue_timers ON orchestrator_queue (instance_key, execution, source_event)
  WHERE kind = 5;
CREATE INDEX orchestrator_queue_cancels ON orchestrator_queue (instance_key) WHERE kind = 12;

CREATE TABLE instance_ready (
  instance_key INTEGER PRIMARY KEY,
  queue        TEXT    NOT NULL,
  name         TEXT    NOT NULL,
  version      TEXT    NOT NULL,
  ready_at     INTEGER,
  not_before   INTEGER NOT NULL DEFAULT 0,
  cleanup_at   INTEGER,
  lock_epoch   INTEGER,
  lock_token   INTEGER,
  locked_until INTEGER,
  locked_at    INTEGER,
  marked_until INTEGER,
  losses       INTEGER NOT NULL DEFAULT 0,
  deferrals    INTEGER NOT NULL DEFAULT 0,
  priority     INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX instance_ready_due
  ON instance_ready (queue, name, version, priority, max(ready_at, not_before))
  WHERE lock_token IS NULL AND ready_at IS NOT NULL;
CREATE INDEX instance_ready_past_cleanup
  ON instance_ready (queue, max(ready_at, not_before, cleanup_at))
  WHERE lock_token IS NULL AND ready_at IS NOT NULL AND cleanup_at IS NOT NULL;
CREATE INDEX instance_ready_damaged ON instance_ready (queue, name, version)
  WHERE (lock_token IS NULL AND ready_at IS NOT NULL
         AND (typeof(ready_at) <> 'integer' OR typeof(not_before) <> 'integer'
              OR typeof(priority) <> 'integer' OR priority > 2147483647
              OR priority < -2147483648))
     OR (lock_token IS NOT NULL
         AND (typeof(lock_token) <> 'integer' OR typeof(lock_epoch) <> 'integer'
              OR typeof(locked_until) <> 'integer'));
CREATE INDEX instance_ready_locked ON instance_ready (lock_epoch, locked_until)
  WHERE lock_token IS NOT NULL;

CREATE TABLE worker_queue (
  work_id             INTEGER PRIMARY KEY AUTOINCREMENT,
  owner_kind          INTEGER NOT NULL,
  owner_key           INTEGER NOT NULL,
  owner_execution     INTEGER NOT NULL,
  owner_event         INTEGER NOT NULL,
  queue               TEXT    NOT NULL,
  name                TEXT    NOT NULL,
  input               TEXT,
  priority            INTEGER NOT NULL,
  state               INTEGER NOT NULL,
  visible_at          INTEGER NOT NULL,
  lock_epoch          INTEGER,
  lock_token          INTEGER,
  locked_until        INTEGER,
  claimed_at          INTEGER,
  first_claimed_at    INTEGER,
  cancel_requested_at INTEGER,
  on_cancel           INTEGER NOT NULL,
  shielded            INTEGER NOT NULL,
  retry_max_attempts  INTEGER NOT NULL,
  retry_first_delay   INTEGER NOT NULL,
  retry_backoff       REAL    NOT NULL,
  retry_max_delay     INTEGER NOT NULL,
  retry_jitter        REAL    NOT NULL,
  retry_never         TEXT,
  start_to_close      INTEGER NOT NULL,
  schedule_to_start   INTEGER NOT NULL,
  schedule_to_close   INTEGER NOT NULL,
  heartbeat_timeout   INTEGER NOT NULL,
  expires_at          INTEGER,
  failures            INTEGER NOT NULL DEFAULT 0,
  losses              INTEGER NOT NULL DEFAULT 0,
  deferrals           INTEGER NOT NULL DEFAULT 0,
  failure_type        TEXT,
  failure_message     TEXT,
  failure_retryable   INTEGER NOT NULL DEFAULT 1,
  failure_details     TEXT,
  heartbeat_details   TEXT,
  created_at          INTEGER NOT NULL
);
CREATE INDEX worker_queue_ready ON worker_queue (queue, name, priority DESC, work_id)
  WHERE state = 1 AND losses < 3;
CREATE INDEX worker_queue_suspects ON worker_queue (queue, name, priority DESC, work_id)
  WHERE state = 1 AND losses >= 3;
CREATE INDEX worker_queue_delayed ON worker_queue (visible_at) WHERE state = 2;
CREATE INDEX worker_queue_claimed ON worker_queue (lock_epoch, locked_until) WHERE state = 3;
CREATE INDEX worker_queue_owner
  ON worker_queue (owner_kind, owner_key, owner_execution, owner_event);
CREATE INDEX worker_queue_expiring ON worker_queue (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX worker_queue_held ON worker_queue (queue, name) WHERE state = 4;
CREATE INDEX worker_queue_damaged ON worker_queue (work_id)
  WHERE (state <> 1 AND state <> 2 AND state <> 3 AND state <> 4)
     OR (state = 2 AND typeof(visible_at) <> 'integer')
     OR (state = 3 AND (typeof(lock_epoch) <> 'integer' OR typeof(locked_until) <> 'integer'));

CREATE TABLE processes (
  epoch         INTEGER PRIMARY KEY AUTOINCREMENT,
  host          TEXT    NOT NULL,
  pid           INTEGER NOT NULL,
  queues        TEXT,
  heartbeat     INTEGER NOT NULL DEFAULT 0,
  registered_at INTEGER NOT NULL,
  ended_at      INTEGER
);
CREATE INDEX processes_live ON processes (epoch) WHERE typeof(ended_at) <> 'integer';

CREATE TABLE requests (
  request_id   TEXT    PRIMARY KEY,
  operation    INTEGER NOT NULL,
  instance_key INTEGER NOT NULL DEFAULT 0,
  execution    INTEGER NOT NULL DEFAULT 0,
  answer       INTEGER NOT NULL,
  changed      INTEGER NOT NULL DEFAULT 0,
  reached      INTEGER NOT NULL DEFAULT 0,
  cascading    INTEGER NOT NULL DEFAULT 0,
  name         TEXT,
  payload      TEXT,
  reply        TEXT,
  failure_type      TEXT,
  failure_message   TEXT,
  failure_retryable INTEGER NOT NULL DEFAULT 1,
  failure_details   TEXT,
  replied_at   INTEGER,
  at           INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX requests_by_age ON requests (at);

CREATE TABLE pending_starts (
  instance_key INTEGER PRIMARY KEY,
  name         TEXT    NOT NULL,
  version      TEXT    NOT NULL,
  queue        TEXT    NOT NULL,
  input        TEXT,
  delay        INTEGER NOT NULL,
  run_timeout  INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  priority     INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE cascades (
  cascade_id   INTEGER PRIMARY KEY AUTOINCREMENT,
  operation    INTEGER NOT NULL,
  instance_key INTEGER NOT NULL,
  execution    INTEGER NOT NULL,
  reason       TEXT,
  cleanup_time INTEGER NOT NULL,
  created_at   INTEGER NOT NULL
);
CREATE INDEX cascades_by_instance ON cascades (instance_key, execution);

CREATE TABLE removals (
  instance_key INTEGER NOT NULL,
  execution    INTEGER NOT NULL,
  forced       INTEGER NOT NULL,
  descend      INTEGER NOT NULL,
  PRIMARY KEY (instance_key, execution)
) WITHOUT ROWID;
CREATE INDEX removals_to_descend ON removals (instance_key) WHERE descend = 1;
CREATE INDEX removals_damaged ON removals (instance_key)
  WHERE typeof(instance_key) <> 'integer' OR typeof(execution) <> 'integer'
     OR forced NOT IN (0, 1) OR descend NOT IN (0, 1);

CREATE TABLE leaders (
  role       TEXT    PRIMARY KEY,
  epoch      INTEGER NOT NULL,
  held_until INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE changes (
  change_seq   INTEGER PRIMARY KEY AUTOINCREMENT,
  kind         INTEGER NOT NULL,
  instance_key INTEGER NOT NULL,
  execution    INTEGER NOT NULL,
  status       INTEGER NOT NULL,
  at           INTEGER NOT NULL
);

CREATE TABLE early_events (
  early_id    INTEGER PRIMARY KEY AUTOINCREMENT,
  instance_id TEXT    NOT NULL,
  name        TEXT    NOT NULL,
  payload     TEXT,
  visible_at  INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL
);
CREATE INDEX early_events_by_instance ON early_events (instance_id, early_id);
CREATE INDEX early_events_by_expiry ON early_events (expires_at);

CREATE TABLE writer_marks (
  writer INTEGER PRIMARY KEY,
  mark   INTEGER NOT NULL,
  at     INTEGER NOT NULL
);
)sql";

// Requests to runs (updates, queries) live beside the answers of other calls. `open`: 0 = nothing
// is to be done, 1 = it waits for a turn or its handler runs, 2 = a query to an execution that has
// ended; `taken_until`: whoever fetched such a query, with the token (taken_epoch, taken_serial),
// has so long to answer it; `message_id`: of the message by which it came, which may be gone. A row
// goes when it has expired: answers after a day, as those that were there before. Signals are
// declared by processes that have not ended; the empty name: that the process has the code. Kept
// signals are those of current executions. A shielded instance was called under a shield of its
// parent; a cascade `of_end` comes from a run that has ended, and reaches those too.
constexpr std::string_view kRequestsOfRuns = R"sql(
ALTER TABLE requests ADD COLUMN open INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN expires_at INTEGER;
ALTER TABLE requests ADD COLUMN taken_until INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN taken_epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN taken_serial INTEGER NOT NULL DEFAULT 0;
UPDATE requests SET expires_at = at + 86400000000;
DROP INDEX requests_by_age;
CREATE INDEX requests_by_expiry ON requests (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX requests_open ON requests (open, instance_key) WHERE open > 0;
CREATE TABLE declared_signals (
  orchestration TEXT    NOT NULL,
  version       TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  epoch         INTEGER NOT NULL,
  PRIMARY KEY (orchestration, version, name, epoch)
) WITHOUT ROWID;
CREATE INDEX declared_signals_by_epoch ON declared_signals (epoch);
CREATE TABLE kept_signals (
  name         TEXT    NOT NULL,
  instance_key INTEGER NOT NULL,
  event_id     INTEGER NOT NULL,
  PRIMARY KEY (name, instance_key, event_id)
) WITHOUT ROWID;
CREATE INDEX kept_signals_by_instance ON kept_signals (instance_key);
ALTER TABLE requests ADD COLUMN message_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN shielded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cascades ADD COLUMN of_end INTEGER NOT NULL DEFAULT 0;
)sql";

constexpr std::array kMigrations{
    Migration{1, "initial", kInitial},
    Migration{2, "requests_of_runs", kRequestsOfRuns},
};

}  // namespace

std::span<const Migration> schema_migrations() {
  return kMigrations;
}

}  // namespace perdure::sqlite
