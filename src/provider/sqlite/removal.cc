#include "provider/sqlite/removal.h"

#include <algorithm>

#include "model/request.h"
#include "model/status.h"
#include "provider/sqlite/operations.h"
#include "provider/sqlite/rows.h"

namespace perdure::sqlite {

namespace {

constexpr ExecutionNo kAllExecutions{0};
constexpr std::int64_t kPortion = 100;

}  // namespace

Remover::Remover(WriteContext& context, std::int64_t limit)
    : context_(context),
      stop_at_(context.db.total_changes() + std::min(limit, static_cast<std::int64_t>(kNoLimit))) {}

std::int64_t Remover::left() const {
  return stop_at_ - context_.db.total_changes();
}

void Remover::delete_instance(InstanceKey key, ExecutionNo current, bool forced) {
  remove_work(key, std::nullopt);
  announce(key, current);
  context_.db.run(Sql::kDeleteMessages, key);
  context_.db.run(Sql::kDeleteReady, key);
  context_.db.run(Sql::kDeletePendingStart, key);
  context_.db.run(Sql::kDeleteCascadesOf, key);
  context_.db.run(Sql::kDropOpenRequests, key);
  context_.db.run(Sql::kForgetKeptSignals, key);
  context_.db.run(Sql::kDeleteInstance, key);
  context_.db.run(Sql::kInsertRemoval, key, kAllExecutions, forced, true);
  to_descend_.push_back({key, forced});
  ++instances;
}

bool Remover::delete_execution(InstanceKey key, ExecutionNo execution) {
  const std::int64_t portion = std::max<std::int64_t>(left(), 1);
  if (context_.db.run(Sql::kOrphanChildren, key, execution, portion) == portion) return false;
  remove_work(key, execution);
  context_.db.run(Sql::kDeleteExecution, key, execution);
  if (context_.db.run(Sql::kDropOpenRequestsOf, key, execution) > 0) context_.topics.run(key);
  context_.db.run(Sql::kInsertRemoval, key, execution, false, false);
  to_purge_.push_back({key, execution});
  return true;
}

bool Remover::carry_on() {
  const bool done = go_on();
  if (!done) context_.topics.carry_on();
  return done;
}

bool Remover::go_on() {
  while (!exhausted() && !to_descend_.empty()) {
    const Deleted deleted = to_descend_.front();
    if (!descend(deleted)) return false;
    to_descend_.pop_front();
    to_purge_.push_back({deleted.key, kAllExecutions});
  }
  while (!exhausted() && !to_purge_.empty()) {
    if (!purge(to_purge_.front())) return false;
    to_purge_.pop_front();
  }
  return to_descend_.empty() && to_purge_.empty();
}

bool Remover::carry_on_stored() {
  name_damaged();
  for (;;) {
    load_stored();
    if (to_descend_.empty() && to_purge_.empty()) return true;
    if (exhausted() || !carry_on()) return false;
  }
}

void Remover::load_stored() {
  {
    Query row = context_.db.query(Sql::kRemovalsToDescend, kPortion);
    while (row.next()) to_descend_.push_back({row.id<InstanceKey>(0), row.flag(1)});
  }
  if (!to_descend_.empty()) return;
  Query row = context_.db.query(Sql::kRemovals, kPortion);
  while (row.next()) to_purge_.push_back({row.id<InstanceKey>(0), row.id<ExecutionNo>(1)});
}

void Remover::name_damaged() {
  Query row = context_.db.query(Sql::kDamagedRemovals, kPortion);
  while (row.next()) {
    problems.push_back(corrupt("table removals, key " + row.text(0) + "/" + row.text(1) +
                               ": a column is not what it should be; nothing is removed for it"));
  }
}

/// Also rows that were cut off: a worker runs nothing for an instance that does not exist.
void Remover::remove_work(InstanceKey key, std::optional<ExecutionNo> execution) {
  struct Row {
    WorkId id;
    std::optional<LockToken> lock;
  };
  std::vector<Row> rows;
  if (!execution) {
    Query row = context_.db.query(Sql::kStrangeWorkOf, key);
    while (row.next()) rows.push_back({row.id<WorkId>(0), std::nullopt});
  }
  {
    Query row = execution ? context_.db.query(Sql::kExecutionWorkToRemove, key, *execution)
                          : context_.db.query(Sql::kWorkToRemove, key);
    while (row.next()) {
      Row work{row.id<WorkId>(0), std::nullopt};
      if (!row.is_null(2)) work.lock = LockToken{row.id<Epoch>(1), row.integer(2)};
      rows.push_back(work);
    }
  }
  for (const Row& work : rows) {
    context_.db.run(Sql::kDeleteWork, work.id);
    // The token of a process that has ended holds nothing.
    if (!work.lock || !check_epoch(context_.db, work.lock->epoch).ok()) continue;
    touched.push_back({work.id, *work.lock, false});
    context_.topics.claims(work.lock->epoch);
  }
}

void Remover::announce(InstanceKey key, ExecutionNo current) {
  ExecutionStatus last = ExecutionStatus::kTerminated;
  {
    Query row = context_.db.query(Sql::kEndOfExecution, key, current);
    if (row.next()) last = row.code<ExecutionStatus>(0).value_or(last);
  }
  // The number comes from a row that may be damaged.
  current.value = std::max<std::int64_t>(current.value, 0);
  context_.db.run(Sql::kInsertChange, ChangeKind::kDeleted, key, current, last, context_.now);
  context_.topics.run(key);
}

bool Remover::descend(const Deleted& deleted) {
  for (;;) {
    if (exhausted()) return false;
    std::vector<std::pair<InstanceKey, ExecutionNo>> children;
    {
      Query row = context_.db.query(Sql::kChildKeys, deleted.key, kPortion);
      while (row.next()) children.emplace_back(row.id<InstanceKey>(0), row.id<ExecutionNo>(1));
    }
    for (const auto& [child, current] : children) {
      if (exhausted()) return false;
      if (!deleted.forced && load_ready(context_.db, child)) {
        context_.db.run(Sql::kOrphanChild, child);
      } else {
        delete_instance(child, current, deleted.forced);
      }
    }
    if (children.empty()) break;
  }
  context_.db.run(Sql::kDescended, deleted.key);
  return true;
}

bool Remover::purge(const Rows& rows) {
  const bool all = rows.execution == kAllExecutions;
  const std::int64_t portion = left();
  const std::int64_t removed =
      all ? context_.db.run(Sql::kRemoveHistory, rows.key, portion)
          : context_.db.run(Sql::kRemoveExecutionHistory, rows.key, rows.execution, portion);
  events += removed;
  if (removed == portion) return false;
  if (all) {
    const std::int64_t rest = left();
    if (context_.db.run(Sql::kRemoveExecutions, rows.key, rest) == rest) return false;
  }
  context_.db.run(Sql::kDeleteRemoval, rows.key, rows.execution);
  return true;
}

}  // namespace perdure::sqlite
