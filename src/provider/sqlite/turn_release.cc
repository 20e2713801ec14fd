#include "provider/sqlite/operations.h"
#include "provider/sqlite/outbox.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/run_requests.h"

namespace perdure::sqlite {

namespace {

Error not_held(InstanceKey instance, const LockToken& lock) {
  return lock_lost("instance " + std::to_string(instance.value) + " is not locked by token " +
                   to_string(lock) + " any more");
}

/// A cancel that this turn has not seen must not wait for its backoff.
bool unseen_cancel(Connection& db, const AbandonedOrchestrationItem& entry) {
  return db.query(Sql::kUnconsumedCancel, entry.instance, entry.lock.epoch, entry.lock.serial)
      .next();
}

}  // namespace

Status abandon_turn(WriteContext& context, const AbandonedOrchestrationItem& entry) {
  // Whatever else is damaged: a lock that is held can be given back.
  const auto ready = load_ready(context.db, entry.instance);
  if (!ready || ready->lock != entry.lock) {
    const TimePoint at = add(context.now, entry.delay);
    if (give_back_ended_queries(context, entry.instance, entry.lock, at)) return {};
    return not_held(entry.instance, entry.lock);
  }
  PERDURE_RETURN_IF_ERROR(check_epoch(context.db, entry.lock.epoch));
  TimePoint not_before{};
  if (entry.delay > Duration::zero() && !unseen_cancel(context.db, entry)) {
    not_before = add(context.now, entry.delay);
  }
  context.db.run(Sql::kUnlockAfterAbandon,
                 entry.instance,
                 not_before,
                 entry.charge == Charge::kLoss,
                 entry.charge == Charge::kDeferral,
                 queue_head(context.db, entry.instance).due());
  if (entry.blocked != BlockedReason::kNone) {
    context.db.run(Sql::kBlockExecution,
                   entry.instance,
                   entry.blocked,
                   or_null(entry.blocked_detail),
                   context.now);
    context.topics.run(entry.instance);
  }
  context.topics.instances(ready->queue);
  return {};
}

Result<TimePoint> renew_turn(WriteContext& context,
                             const HeldOrchestrationItem& entry,
                             Duration lock_for) {
  if (lock_for <= Duration::zero()) return invalid_argument("lock_for must be greater than zero");
  PERDURE_RETURN_IF_ERROR(check_epoch(context.db, entry.lock.epoch));
  const TimePoint until = add(context.now, lock_for);
  const auto renewed = context.db.run(Sql::kRenewInstanceLock,
                                      entry.instance,
                                      entry.lock.epoch,
                                      entry.lock.serial,
                                      until,
                                      context.now);
  if (renewed == 0) return not_held(entry.instance, entry.lock);
  return until;
}

}  // namespace perdure::sqlite
