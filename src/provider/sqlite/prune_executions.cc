#include <algorithm>

#include "provider/rules/start_rule.h"
#include "provider/sqlite/management.h"
#include "provider/sqlite/removal.h"
#include "provider/sqlite/request_log.h"
#include "provider/sqlite/rows.h"

namespace perdure::sqlite {

namespace {

constexpr std::int64_t kPruned = 100;

std::vector<ExecutionNo> prunable(
    Connection& db, InstanceKey key, ExecutionNo after, ExecutionNo newest, TimePoint before) {
  std::vector<ExecutionNo> found;
  Query row = db.query(Sql::kPrunableExecutions, key, after, newest, before, kPruned);
  while (row.next()) found.push_back(row.id<ExecutionNo>(0));
  return found;
}

bool has_cascade(Connection& db, InstanceKey key, ExecutionNo execution) {
  return db.query(Sql::kCascadeOf, key, execution).next();
}

ExecutionsPruned pruned_before(const std::vector<std::int64_t>& numbers) {
  ExecutionsPruned answer;
  answer.executions = numbers[0];
  answer.events = numbers[1];
  answer.more = numbers[2] != 0;
  answer.removing = numbers[3] != 0;
  return answer;
}

}  // namespace

Result<ExecutionsPruned> prune_executions(WriteContext& context, const PruneExecutions& request) {
  if (request.limit <= 0) return invalid_argument("limit must be at least 1");
  if (request.keep_last < 0) return invalid_argument("keep_last must not be negative");
  PERDURE_RETURN_IF_ERROR(rules::check_request_id(request.request_id));
  PERDURE_ASSIGN_OR_RETURN(const auto stored,
                           find_answer(context.db, RequestKind::kPrune, request.request_id, 4));
  if (stored) return pruned_before(stored->numbers);
  const auto instance = find_instance(context.db, request.id);
  if (!instance) return not_found("no instance '" + request.id + "'");
  const std::int64_t keep = std::clamp<std::int64_t>(request.keep_last, 1, instance->current.value);
  const ExecutionNo newest{instance->current.value - keep};
  const TimePoint before = request.completed_before.value_or(TimePoint::max());

  Remover remover(context, request.limit);
  ExecutionsPruned answer;
  ExecutionNo after{0};
  while (!answer.more) {
    const auto found = prunable(context.db, instance->key, after, newest, before);
    if (found.empty()) break;
    for (ExecutionNo execution : found) {
      after = execution;
      // Who is still to be canceled is found by the link to this execution.
      if (has_cascade(context.db, instance->key, execution)) continue;
      if (remover.exhausted() || !remover.delete_execution(instance->key, execution)) {
        answer.more = true;
        break;
      }
      ++answer.executions;
      remover.carry_on();
    }
  }
  answer.removing = !remover.carry_on();
  answer.events = remover.events;
  answer.touched = std::move(remover.touched);
  keep_numbers(context,
               RequestKind::kPrune,
               request.request_id,
               {answer.executions, answer.events, answer.more ? 1 : 0, answer.removing ? 1 : 0});
  return answer;
}

}  // namespace perdure::sqlite
