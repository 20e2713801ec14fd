#include "provider/rules/start_rule.h"
#include "provider/sqlite/lifecycle.h"
#include "provider/sqlite/operations.h"
#include "provider/sqlite/request_log.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

namespace {

CancelAnswer answer_again(const StoredAnswer& before) {
  CancelAnswer answer;
  answer.changed = before.changed;
  answer.status = *from_code<ExecutionStatus>(before.answer);
  answer.descendants = before.reached;
  answer.cascading = before.cascading;
  return answer;
}

/// Cancel and terminate by a client differ in the order alone.
Result<CancelAnswer> take_down(WriteContext& context,
                               const std::string& id,
                               std::optional<ExecutionNo> execution,
                               const std::string& request_id,
                               const TakedownOrder& order) {
  pass_failpoint(order.kind == RequestKind::kCancel ? "store.cancel" : "store.terminate");
  PERDURE_ASSIGN_OR_RETURN(const auto before, find_answer(context.db, order.kind, request_id));
  if (before) {
    const auto first = load_instance(context.db, before->instance);
    if (first && first->id != id) {
      return invalid_argument("request_id '" + request_id + "' was used for run '" + first->id +
                              "' before: take another one");
    }
    return answer_again(*before);
  }
  const auto instance = find_instance(context.db, id);
  if (!instance) return not_found("no instance '" + id + "'");

  CancelAnswer answer;
  TreeReach reach;
  const bool meant = !execution || *execution == instance->current;
  answer.changed = meant && take_down_run(context, instance->key, order, reach.touched);
  if (answer.changed) {
    take_down_descendants(context, instance->key, instance->current, order, reach);
  }
  answer.touched = std::move(reach.touched);
  answer.problems = std::move(reach.problems);
  answer.descendants = reach.descendants;
  answer.cascading = reach.more;
  // Of the execution that was addressed; a stored start may have begun the next one.
  answer.status = load_current(context.db, *instance).info.status;
  keep_answer(context,
              order.kind,
              request_id,
              {instance->key,
               instance->current,
               code(answer.status),
               answer.changed,
               answer.descendants,
               answer.cascading});
  return answer;
}

struct Cascade {
  std::int64_t id;
  InstanceKey instance;
  ExecutionNo execution;
  TakedownOrder order;
};

Cascade read_cascade(const Query& query) {
  const CheckedRow row(query, "cascades", {query.integer(0)});
  Cascade cascade{query.integer(0), row.id<InstanceKey>(2), row.id<ExecutionNo>(3), {}};
  cascade.order.kind = row.code<RequestKind>(1);
  const bool takes_down =
      cascade.order.kind == RequestKind::kCancel || cascade.order.kind == RequestKind::kTerminate;
  if (!takes_down) row.refuse(1, "is neither cancel nor terminate");
  cascade.order.reason = row.text(4);
  cascade.order.cleanup_timeout = row.duration(5);
  cascade.order.of_end = row.flag(6);
  return cascade;
}

/// One that cannot be read stays where it is, for whoever mends it.
std::vector<Cascade> load_cascades(Connection& db, std::vector<Error>& problems) {
  std::vector<Cascade> cascades;
  Query row = db.query(Sql::kLoadCascades, 0);
  while (row.next()) {
    try {
      cascades.push_back(read_cascade(row));
    } catch (const SqliteError& error) {
      if (!is_corrupt(error)) throw;
      problems.push_back(to_error(error));
    }
  }
  return cascades;
}

}  // namespace

Result<CancelAnswer> cancel_orchestration(WriteContext& context,
                                          const CancelOrchestration& request) {
  PERDURE_RETURN_IF_ERROR(rules::check(request));
  TakedownOrder order;
  order.kind = RequestKind::kCancel;
  order.reason = request.reason;
  order.cleanup_timeout = request.cleanup_timeout;
  order.max_descendants = request.max_descendants;
  return take_down(context, request.id, request.execution, request.request_id, order);
}

Result<CancelAnswer> terminate_orchestration(WriteContext& context,
                                             const TerminateOrchestration& request) {
  PERDURE_RETURN_IF_ERROR(rules::check(request));
  TakedownOrder order;
  order.kind = RequestKind::kTerminate;
  order.reason = request.reason;
  order.max_descendants = request.max_descendants;
  return take_down(context, request.id, std::nullopt, request.request_id, order);
}

Result<CascadesCarriedOn> carry_on_cascades(WriteContext& context, const CarryOnCascades& request) {
  if (request.limit <= 0) return invalid_argument("limit must be at least 1");
  CascadesCarriedOn answer;
  for (const Cascade& cascade : load_cascades(context.db, answer.problems)) {
    const std::int64_t left = request.limit - answer.reached;
    if (left <= 0) {
      ++answer.remaining;
      continue;
    }
    TreeReach reach;
    answer.reached +=
        reach_descendants(context, cascade.instance, cascade.execution, cascade.order, left, reach);
    answer.touched.insert(answer.touched.end(), reach.touched.begin(), reach.touched.end());
    answer.problems.insert(answer.problems.end(), reach.problems.begin(), reach.problems.end());
    if (reach.more) {
      ++answer.remaining;
    } else {
      context.db.run(Sql::kDeleteCascade, cascade.id);
    }
  }
  return answer;
}

}  // namespace perdure::sqlite
