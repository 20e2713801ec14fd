#include <unordered_set>

#include "provider/sqlite/kept_signals.h"
#include "provider/sqlite/lapse.h"
#include "provider/sqlite/operations.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/run_requests.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/text_list.h"

namespace perdure::sqlite {

namespace {

/// Frees the claims of an epoch; marked rows, and poison, end here.
void free_work(WriteContext& context, const EndProcess& request, ProcessEnded& ended) {
  auto rows = read_lapsed(context.db, context.db.query(Sql::kWorkOfEpoch, request.epoch));
  for (LapsedRow& row : rows) {
    if (request.charge != Charge::kLoss) row.losses = 0;
    if (end_lapsed_row(context, row, request.max_losses, ended.problems) !=
        rules::LapseEffect::kReady) {
      ++ended.ended_rows;
      continue;
    }
    context.db.run(
        request.charge == Charge::kLoss ? Sql::kFreeWork : Sql::kDeferWork, row.id, context.now);
    context.topics.work(row.queue);
    ++ended.freed_claims;
  }
}

void free_locks(WriteContext& context, Epoch epoch, Charge charge, ProcessEnded& ended) {
  {
    Query row = context.db.query(Sql::kQueuesOfLocks, epoch);
    while (row.next()) context.topics.instances(row.text(0));
  }
  ended.freed_locks = context.db.run(
      Sql::kFreeLocksOfEpoch, epoch, charge == Charge::kLoss, charge == Charge::kDeferral);
}

}  // namespace

Result<Epoch> register_process(WriteContext& context, const RegisterProcess& request) {
  const std::string queues = join_list(request.queues);
  context.db.run(Sql::kInsertProcess, request.host, request.pid, or_null(queues), context.now);
  const Epoch epoch{context.db.last_insert_id()};
  for (const DeclaredSignals& code : request.declared) {
    context.db.run(Sql::kDeclareSignal, code.orchestration, code.version, "", epoch);
    for (const std::string& signal : code.signals) {
      context.db.run(Sql::kDeclareSignal, code.orchestration, code.version, signal, epoch);
    }
  }
  wake_for_process(context, request.declared);
  return epoch;
}

bool is_declared(Connection& db, const InstanceRow& instance, const std::string& signal) {
  return db.query(Sql::kDeclaresSignal, instance.name, instance.version, signal).next();
}

Status check_epoch(Connection& db, Epoch epoch) {
  Query row = db.query(Sql::kProcessEnded, epoch);
  if (!row.next())
    return lock_lost("process " + std::to_string(epoch.value) + " is not registered");
  if (!row.is_integer(0)) return {};
  return lock_lost("process " + std::to_string(epoch.value) + " has ended: register anew");
}

Status check_tokens(Connection& db, Epoch epoch, const std::vector<LockToken>& tokens) {
  std::unordered_set<LockToken> seen;
  for (const LockToken& token : tokens) {
    if (token.epoch != epoch || token.serial <= 0) {
      return invalid_argument("token " + to_string(token) + " was not made by process " +
                              std::to_string(epoch.value));
    }
    if (!seen.insert(token).second) {
      return invalid_argument("token " + to_string(token) + " is listed twice");
    }
  }
  return check_epoch(db, epoch);
}

Result<std::int64_t> heartbeat_process(WriteContext& context, const HeartbeatProcess& request) {
  PERDURE_RETURN_IF_ERROR(check_epoch(context.db, request.epoch));
  Query row = context.db.query(Sql::kHeartbeat, request.epoch);
  if (!row.next()) return lock_lost("process has ended: register anew");
  const std::int64_t counter = row.integer(0);
  row.next();
  return counter;
}

Result<ProcessEnded> end_process(WriteContext& context, const EndProcess& request) {
  pass_failpoint(request.charge == Charge::kLoss ? "store.take_over" : "store.release");
  PERDURE_RETURN_IF_ERROR(check_max_losses(request.max_losses));
  const Epoch epoch = request.epoch;
  ProcessEnded ended;
  {
    Query row = context.db.query(Sql::kProcessEnded, epoch);
    if (!row.next()) return not_found("no process " + std::to_string(epoch.value));
    if (row.is_integer(0)) return ended;
  }
  ended.changed = true;
  context.db.run(Sql::kEndProcess, epoch, context.now);
  wake_for_others(context, epoch);
  context.db.run(Sql::kForgetSignals, epoch);
  free_work(context, request, ended);
  free_locks(context, epoch, request.charge, ended);
  free_ended_queries(context, epoch);
  context.topics.claims(epoch);
  return ended;
}

}  // namespace perdure::sqlite
