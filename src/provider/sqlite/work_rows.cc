#include "provider/sqlite/work_rows.h"

#include "provider/sqlite/operations.h"
#include "provider/sqlite/outbox.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/text_list.h"

namespace perdure::sqlite {

namespace {

constexpr std::int64_t kLongest = std::int64_t{1} << 60;

/// A row of kWorkOfExecution and kWorkOfEvent. It loses its reason to exist, readable or not.
struct CancelCandidate {
  WorkId id;
  std::optional<LockToken> lock;
  OnCancel on_cancel = OnCancel::kTryCancel;
  bool shielded = false;
  bool marked = false;
};

std::vector<CancelCandidate> read_candidates(Query rows) {
  std::vector<CancelCandidate> candidates;
  while (rows.next()) {
    CancelCandidate candidate;
    candidate.id = rows.id<WorkId>(0);
    if (!rows.is_null(2)) candidate.lock = LockToken{rows.id<Epoch>(1), rows.integer(2)};
    candidate.on_cancel = rows.code<OnCancel>(3).value_or(OnCancel::kTryCancel);
    candidate.shielded = rows.flag(4);
    candidate.marked = !rows.is_null(5);
    candidates.push_back(candidate);
  }
  return candidates;
}

void cancel_candidates(WriteContext& context,
                       const std::vector<CancelCandidate>& candidates,
                       rules::CancelCause cause,
                       std::vector<TouchedClaim>& touched) {
  for (CancelCandidate row : candidates) {
    // The token of a process that has ended holds nothing: such a row is queued.
    if (row.lock && !check_epoch(context.db, row.lock->epoch).ok()) row.lock.reset();
    const auto effect =
        rules::cancel_effect(cause, row.lock.has_value(), row.on_cancel, row.shielded, row.marked);
    switch (effect) {
      case rules::CancelEffect::kKeep:
        continue;
      case rules::CancelEffect::kCut:
        context.db.run(Sql::kCutWork, row.id);
        continue;
      case rules::CancelEffect::kDelete:
        context.db.run(Sql::kDeleteWork, row.id);
        break;
      case rules::CancelEffect::kEnd:
        end_work(context, row.id, MessageKind::kActivityCanceled, {}, {});
        break;
      case rules::CancelEffect::kMark:
        context.db.run(Sql::kMarkWork, row.id, context.now);
        break;
    }
    if (!row.lock) continue;
    touched.push_back({row.id, *row.lock, effect == rules::CancelEffect::kMark});
    context.topics.claims(row.lock->epoch);
  }
}

}  // namespace

void insert_work(WriteContext& context,
                 InstanceKey key,
                 ExecutionNo execution,
                 const NewWork& work) {
  const bool delayed = work.visible_at > context.now;
  const TimePoint visible_at = delayed ? work.visible_at : context.now;
  // Added to a time in SQL, where an overflow would not be an integer any more.
  const Duration close_within = std::min(work.timeouts.schedule_to_close, Duration{kLongest});
  const std::string never = join_list(work.retry.non_retryable);
  context.db.run(Sql::kInsertWork,
                 key,
                 execution,
                 work.event,
                 work.queue,
                 work.name,
                 or_null(work.input),
                 work.priority,
                 delayed ? WorkState::kDelayed : WorkState::kReady,
                 visible_at,
                 work.on_cancel,
                 work.shielded,
                 work.retry.max_attempts,
                 work.retry.first_delay,
                 work.retry.backoff,
                 work.retry.max_delay,
                 work.retry.jitter,
                 or_null(never),
                 work.timeouts.start_to_close,
                 work.timeouts.schedule_to_start,
                 close_within,
                 work.timeouts.heartbeat,
                 rules::expiry(work.timeouts, context.now, false),
                 context.now);
  context.topics.work(work.queue);
}

void cancel_work(WriteContext& context,
                 InstanceKey key,
                 ExecutionNo execution,
                 rules::CancelCause cause,
                 std::vector<TouchedClaim>& touched) {
  // A terminate leaves nothing, not even rows of earlier executions that were marked.
  const bool all = cause == rules::CancelCause::kTerminated;
  const auto rows = read_candidates(all ? context.db.query(Sql::kWorkOfInstance, key)
                                        : context.db.query(Sql::kWorkOfExecution, key, execution));
  cancel_candidates(context, rows, cause, touched);
}

void cancel_work_of(WriteContext& context,
                    InstanceKey key,
                    ExecutionNo execution,
                    EventId event,
                    rules::CancelCause cause,
                    std::vector<TouchedClaim>& touched) {
  const auto rows = read_candidates(context.db.query(Sql::kWorkOfEvent, key, execution, event));
  cancel_candidates(context, rows, cause, touched);
}

std::optional<Error> end_work(WriteContext& context,
                              WorkId id,
                              MessageKind tell,
                              const std::string& result,
                              const Failure& failure) {
  WorkOwner owner;
  try {
    Query row = context.db.query(Sql::kLoadSettling, id);
    if (!row.next()) return std::nullopt;
    owner = read_owner(row, id);
  } catch (const SqliteError& error) {
    if (!is_corrupt(error)) throw;
    context.db.run(Sql::kHoldWork, id);
    return to_error(error);
  }
  end_work_of(context, id, owner, tell, result, failure);
  return std::nullopt;
}

void end_work_of(WriteContext& context,
                 WorkId id,
                 const WorkOwner& owner,
                 MessageKind tell,
                 const std::string& result,
                 const Failure& failure) {
  context.db.run(Sql::kDeleteWork, id);
  if (owner.kind == OwnerKind::kNobody) return;
  // A marked row may outlive the execution that made the call.
  if (!may_wait(context.db, owner.instance, owner.execution)) return;
  Message message;
  message.kind = tell;
  message.execution = owner.execution;
  message.source = owner.event;
  message.payload = result;
  message.failure = failure;
  message.visible_at = context.now;
  enqueue(context, owner.instance, message);
}

}  // namespace perdure::sqlite
