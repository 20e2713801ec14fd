#include "provider/rules/work_rule.h"
#include "provider/sqlite/operations.h"
#include "provider/sqlite/outbox.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/work_rows.h"

namespace perdure::sqlite {

namespace {

struct SettlingRow {
  WorkOwner owner;
  std::string queue;
  OnCancel on_cancel = OnCancel::kTryCancel;
  bool marked = false;
};

/// The row, when the token still holds it. A lapsed claim that nobody took keeps its token.
std::optional<SettlingRow> load_settling(Connection& db, WorkId id, const LockToken& lock) {
  Query query = db.query(Sql::kLoadSettling, id);
  if (!query.next() || query.is_null(8)) return std::nullopt;
  if (LockToken{query.id<Epoch>(7), query.integer(8)} != lock) return std::nullopt;
  const CheckedRow row(query, "worker_queue", {id.value});
  SettlingRow result;
  result.owner = read_owner(query, id);
  result.queue = row.text(4);
  result.on_cancel = row.code<OnCancel>(5);
  result.marked = !row.is_null(6);
  return result;
}

void make_ready_again(WriteContext& context,
                      const SettledWork& entry,
                      const SettlingRow& row,
                      bool failed) {
  const WorkOutcome& outcome = entry.outcome;
  const bool delayed = outcome.delay > Duration::zero();
  const WorkState state = delayed ? WorkState::kDelayed : WorkState::kReady;
  const TimePoint visible_at = add(context.now, std::max(outcome.delay, Duration::zero()));
  if (failed) {
    context.db.run(Sql::kRetryWork,
                   entry.id,
                   state,
                   visible_at,
                   or_null(outcome.failure.type),
                   or_null(outcome.failure.message),
                   outcome.failure.retryable,
                   or_null(outcome.failure.details),
                   entry.heartbeat_details);
  } else {
    context.db.run(Sql::kGiveBackWork, entry.id, state, visible_at, entry.heartbeat_details);
  }
  context.topics.work(row.queue);
}

std::string_view outcome_point(WorkOutcome::Kind outcome) {
  switch (outcome) {
    case WorkOutcome::Kind::kCompleted:
      return "store.complete";
    case WorkOutcome::Kind::kFailed:
      return "store.fail";
    case WorkOutcome::Kind::kRetryAt:
      return "store.retry";
    case WorkOutcome::Kind::kCanceled:
      return "store.stopped";
    case WorkOutcome::Kind::kGivenBack:
      break;
  }
  return "store.give_back";
}

}  // namespace

Status settle_work(WriteContext& context, const SettledWork& entry) {
  pass_failpoint(outcome_point(entry.outcome.kind));
  PERDURE_RETURN_IF_ERROR(check_epoch(context.db, entry.lock.epoch));
  const auto row = load_settling(context.db, entry.id, entry.lock);
  if (!row) {
    return lock_lost("work " + std::to_string(entry.id.value) + " is not held by token " +
                     to_string(entry.lock) + " any more: it was canceled, taken or settled");
  }
  const WorkOutcome& outcome = entry.outcome;
  const auto settlement = rules::settle(outcome.kind, row->owner.kind, row->on_cancel, row->marked);
  switch (settlement.row) {
    case rules::Settlement::Row::kRetry:
      make_ready_again(context, entry, *row, true);
      break;
    case rules::Settlement::Row::kGiveBack:
      make_ready_again(context, entry, *row, false);
      break;
    case rules::Settlement::Row::kDelete:
      if (settlement.tell) {
        end_work_of(
            context, entry.id, row->owner, *settlement.tell, outcome.result, outcome.failure);
      } else {
        context.db.run(Sql::kDeleteWork, entry.id);
      }
      break;
  }
  return {};
}

Result<std::vector<ClaimState>> renew_work(WriteContext& context,
                                           const RenewWorkItemLocks& request) {
  pass_failpoint("store.renew");
  if (request.lock_for <= Duration::zero()) {
    return invalid_argument("lock_for must be greater than zero");
  }
  std::vector<ClaimState> states;
  if (!check_epoch(context.db, request.epoch).ok()) {
    states.assign(request.claims.size(), ClaimState::kGone);
    return states;
  }
  const TimePoint until = add(context.now, request.lock_for);
  for (const HeldClaim& claim : request.claims) {
    const ClaimState state =
        claim.lock.epoch == request.epoch ? claim_state(context.db, claim) : ClaimState::kGone;
    states.push_back(state);
    if (state == ClaimState::kGone) continue;
    if (claim.heartbeat_details) {
      context.db.run(Sql::kRenewWorkWithDetails,
                     claim.id,
                     claim.lock.epoch,
                     claim.lock.serial,
                     until,
                     *claim.heartbeat_details);
    } else {
      context.db.run(Sql::kRenewWork, claim.id, claim.lock.epoch, claim.lock.serial, until);
    }
  }
  return states;
}

}  // namespace perdure::sqlite
