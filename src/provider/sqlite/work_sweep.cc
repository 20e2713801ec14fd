#include <algorithm>

#include "provider/rules/work_rule.h"
#include "provider/sqlite/lapse.h"
#include "provider/sqlite/operations.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/run_requests.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/work_rows.h"
#include "provider/stop_reasons.h"

namespace perdure::sqlite {

namespace {

struct QueuedRow {
  WorkId id;
  std::string queue;
};

std::vector<QueuedRow> read_rows(Query rows) {
  std::vector<QueuedRow> found;
  while (rows.next()) found.push_back({rows.id<WorkId>(0), rows.text(1)});
  return found;
}

void free_lapsed_row(WriteContext& context, WorkId id, const std::string& queue) {
  context.db.run(Sql::kFreeLapsed, id, context.now);
  context.topics.work(queue);
}

void touch(
    WriteContext& context, WorkId id, const LockToken& lock, const char* reason, SweptWork& swept) {
  swept.touched.push_back({id, lock, false, reason});
  context.topics.claims(lock.epoch);
}

/// Rows whose lease lapsed and that a fetch leaves alone: most must not run again. Their worker may
/// be slow, not dead.
void end_lapsed(WriteContext& context, std::int64_t limit, int max_losses, SweptWork& swept) {
  const auto rows =
      read_lapsed(context.db, context.db.query(Sql::kLapsedToEnd, context.now, max_losses, limit));
  for (const LapsedRow& row : rows) {
    const auto effect = end_lapsed_row(context, row, max_losses, swept.problems);
    if (effect == rules::LapseEffect::kReady) {
      free_lapsed_row(context, row.id, row.queue);
      ++swept.lost;
      continue;
    }
    const bool poison = effect == rules::LapseEffect::kPoison;
    ++(poison ? swept.poisoned : swept.ended);
    touch(context, row.id, row.lock, poison ? kCallPoisoned : kClaimGone, swept);
  }
}

void end_overdue(WriteContext& context, std::int64_t limit, SweptWork& swept) {
  std::vector<std::pair<WorkId, std::optional<LockToken>>> rows;
  {
    Query row = context.db.query(Sql::kExpiredWork, context.now, limit);
    while (row.next()) {
      std::optional<LockToken> lock;
      if (!row.is_null(2)) lock = LockToken{row.id<Epoch>(1), row.integer(2)};
      rows.emplace_back(row.id<WorkId>(0), lock);
    }
  }
  Failure failure;
  failure.type = kTimeoutFailure;
  failure.message = "the call was not done in its time (schedule_to_start or schedule_to_close)";
  failure.retryable = false;
  for (const auto& [id, lock] : rows) {
    const auto problem = end_work(context, id, MessageKind::kActivityFailed, {}, failure);
    if (problem) swept.problems.push_back(*problem);
    ++swept.timed_out;
    if (lock) touch(context, id, *lock, kCallTimedOut, swept);
  }
}

/// Rows that no other step finds, because their state or the time it waits for cannot be read.
std::int64_t set_damaged_aside(WriteContext& context, std::int64_t limit, SweptWork& swept) {
  std::vector<WorkId> rows;
  {
    Query row = context.db.query(Sql::kDamagedWork, limit);
    while (row.next()) rows.push_back(row.id<WorkId>(0));
  }
  for (WorkId id : rows) {
    context.db.run(Sql::kSetWorkAside, id);
    swept.problems.push_back(corrupt("table worker_queue, key " + std::to_string(id.value) +
                                     ": state, visible_at, lock_epoch or locked_until cannot be "
                                     "read; the row was set aside"));
  }
  return static_cast<std::int64_t>(rows.size());
}

std::optional<TimePoint> next_sweep(WriteContext& context) {
  std::optional<TimePoint> next;
  const auto consider = [&next](Query rows) {
    while (rows.next()) {
      if (rows.is_integer(0) && (!next || rows.time(0) < *next)) next = rows.time(0);
    }
  };
  consider(context.db.query(Sql::kNextDelayed));
  consider(context.db.query(Sql::kNextLapse));
  consider(context.db.query(Sql::kNextExpiry));
  return next;
}

}  // namespace

bool holds_more(Connection& db, Epoch epoch, WorkId other_than) {
  Query row = db.query(Sql::kHoldsMore, epoch, other_than);
  return row.next() && row.flag(0);
}

std::vector<LapsedRow> read_lapsed(Connection& db, Query rows) {
  std::vector<LapsedRow> found;
  while (rows.next()) {
    found.push_back({rows.id<WorkId>(0),
                     rows.flag(1),
                     static_cast<int>(rows.integer(2)) + 1,
                     rows.text(3),
                     LockToken{rows.id<Epoch>(4), rows.integer(5)}});
  }
  for (LapsedRow& row : found) row.alone = !holds_more(db, row.lock.epoch, row.id);
  return found;
}

rules::LapseEffect end_lapsed_row(WriteContext& context,
                                  const LapsedRow& row,
                                  int max_losses,
                                  std::vector<Error>& problems) {
  const auto effect = rules::lapse_effect(row.unwanted, row.losses, max_losses, row.alone);
  std::optional<Error> problem;
  if (effect == rules::LapseEffect::kCanceled) {
    problem = end_work(context, row.id, MessageKind::kActivityCanceled, {}, {});
  } else if (effect == rules::LapseEffect::kPoison) {
    Failure failure;
    failure.type = kPoisonFailure;
    failure.message = "its claim was lost " + std::to_string(row.losses) +
                      " times: the handler seems to end the process that runs it";
    failure.retryable = false;
    problem = end_work(context, row.id, MessageKind::kActivityFailed, {}, failure);
  }
  if (problem) problems.push_back(*problem);
  return effect;
}

std::int64_t promote_due(WriteContext& context, std::int64_t limit) {
  const auto rows = read_rows(context.db.query(Sql::kDueDelayed, context.now, limit));
  for (const QueuedRow& row : rows) {
    context.db.run(Sql::kPromoteDelayed, row.id);
    context.topics.work(row.queue);
  }
  return static_cast<std::int64_t>(rows.size());
}

std::int64_t free_lapsed(WriteContext& context, int max_losses, std::int64_t limit) {
  const auto rows = read_rows(context.db.query(Sql::kLapsedToFree, context.now, max_losses, limit));
  for (const QueuedRow& row : rows) free_lapsed_row(context, row.id, row.queue);
  return static_cast<std::int64_t>(rows.size());
}

Status check_max_losses(int max_losses) {
  if (max_losses >= kSuspectLosses) return {};
  return invalid_argument("max_losses must be at least " + std::to_string(kSuspectLosses) +
                          ", not " + std::to_string(max_losses));
}

Result<SweptWork> sweep_work(WriteContext& context, const SweepWorkItems& request) {
  if (request.limit <= 0) return invalid_argument("limit must be at least 1");
  PERDURE_RETURN_IF_ERROR(check_max_losses(request.max_losses));
  SweptWork swept;
  std::int64_t left = request.limit;
  left -= set_damaged_aside(context, left, swept);
  pass_failpoint("store.call_timeout");
  end_overdue(context, left, swept);
  left -= swept.timed_out;
  pass_failpoint("store.lease_sweep");
  end_lapsed(context, left, request.max_losses, swept);
  left -= swept.ended + swept.poisoned + swept.lost;
  swept.promoted = promote_due(context, left);
  left -= swept.promoted;
  swept.lost += free_lapsed(context, request.max_losses, left);
  context.db.run(Sql::kDropExpiredEarlyEvents, context.now, request.limit);
  drop_expired_requests(context, request.limit);
  swept.next_at = next_sweep(context);
  return swept;
}

}  // namespace perdure::sqlite
