#include "provider/rules/start_rule.h"
#include "provider/sqlite/lifecycle.h"
#include "provider/sqlite/operations.h"
#include "provider/sqlite/request_log.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/run_requests.h"

namespace perdure::sqlite {

namespace {

ExecutionSpec spec_of(const StartOrchestration& request, TimePoint now) {
  ExecutionSpec spec;
  spec.name = request.name;
  spec.version = request.version;
  spec.queue = request.queue;
  spec.input = request.input;
  spec.priority = request.priority;
  spec.start_at = add(now, request.delay);
  if (request.run_timeout > Duration::zero()) {
    spec.deadline = add(spec.start_at, request.run_timeout);
  }
  return spec;
}

/// Cancels what lives under the id and keeps the start for the commit that ends it; when the cancel
/// itself ends it (no turn yet), that commit is this one.
void cancel_and_store(WriteContext& context,
                      const StartOrchestration& request,
                      const InstanceRow& existing,
                      OrchestrationStarted& answer) {
  context.db.run(Sql::kStorePendingStart,
                 existing.key,
                 request.name,
                 request.version,
                 request.queue,
                 or_null(request.input),
                 request.delay,
                 request.run_timeout,
                 context.now,
                 request.priority);
  TakedownOrder order;
  order.reason = "replaced by a new start of '" + request.id + "'";
  order.cleanup_timeout = request.cleanup_timeout;
  TreeReach reach;
  take_down_run(context, existing.key, order, reach.touched);
  take_down_descendants(context, existing.key, existing.current, order, reach);
  answer.touched = std::move(reach.touched);
  answer.instance = existing.key;
  answer.execution = ExecutionNo{existing.current.value + 1};
  const auto after = load_instance(context.db, existing.key);
  const bool began = after && after->current == answer.execution;
  answer.outcome = began ? StartOutcome::kStarted : StartOutcome::kPending;
}

/// Whether what comes with the start is still to be delivered: an update that is known is not.
Result<bool> brings_news(Connection& db,
                         const StartOrchestration& request,
                         const std::optional<InstanceRow>& existing) {
  if (!request.with) return false;
  if (!existing || request.with->kind != RequestKind::kUpdate) return true;
  PERDURE_ASSIGN_OR_RETURN(
      const auto before,
      find_request(
          db, request.with->kind, existing->key, request.with->request, request.with->name));
  return !before;
}

}  // namespace

Result<OrchestrationStarted> start_orchestration(WriteContext& context,
                                                 const StartOrchestration& request) {
  PERDURE_RETURN_IF_ERROR(rules::check(request));
  PERDURE_ASSIGN_OR_RETURN(const auto before,
                           find_answer(context.db, RequestKind::kStart, request.request_id));
  OrchestrationStarted answer;
  if (before) {
    answer.outcome = *from_code<StartOutcome>(before->answer);
    answer.instance = before->instance;
    answer.execution = before->execution;
    const auto instance = load_instance(context.db, before->instance);
    if (instance) answer.id = instance->id;
    return answer;
  }
  answer.id = request.id;
  const auto existing = find_instance(context.db, request.id);
  PERDURE_ASSIGN_OR_RETURN(const bool news, brings_news(context.db, request, existing));
  if (request.with && !news) {  // the same call as before, whatever became of the run since
    answer.outcome = StartOutcome::kExisting;
    answer.instance = existing->key;
    answer.execution = existing->current;
    return answer;
  }
  std::optional<ExecutionStatus> status;
  if (existing) status = load_current(context.db, *existing).info.status;
  PERDURE_ASSIGN_OR_RETURN(
      const rules::StartStep step,
      rules::decide_start(request.id, status, request.on_conflict, request.on_reuse));
  switch (step) {
    case rules::StartStep::kCreate:
    case rules::StartStep::kNextExecution:
      answer.instance = begin_instance(
          context, request.id, existing, std::nullopt, spec_of(request, context.now));
      answer.execution = ExecutionNo{existing ? existing->current.value + 1 : 1};
      break;
    case rules::StartStep::kAnswerExisting:
      answer.outcome = StartOutcome::kExisting;
      answer.instance = existing->key;
      answer.execution = existing->current;
      if (news && request.with->kind == RequestKind::kSignal &&
          is_unknown(context.db, *existing, request.with->name)) {
        answer.unknown_signal = true;
        return answer;
      }
      break;
    case rules::StartStep::kCancelAndStore:
      cancel_and_store(context, request, *existing, answer);
      break;
  }
  if (news) deliver_with_start(context, answer.instance, answer.execution, *request.with);
  keep_answer(context,
              RequestKind::kStart,
              request.request_id,
              {answer.instance, answer.execution, code(answer.outcome), true, 0, false});
  return answer;
}

}  // namespace perdure::sqlite
