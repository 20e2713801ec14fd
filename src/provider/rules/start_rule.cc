#include "provider/rules/start_rule.h"

#include <string>

#include "base/utf8.h"
#include "model/ids.h"

namespace perdure::rules {

namespace {

Status check_optional(std::string_view field, std::string_view value) {
  return value.empty() ? Status() : check_id(field, value);
}

Status check_not_negative(std::string_view field, Duration value) {
  if (value >= Duration::zero()) return {};
  return invalid_argument(std::string(field) + " must not be negative");
}

Status check_priority(int priority) {
  if (priority >= kLowestPriority && priority <= kHighestPriority) return {};
  return invalid_argument("priority must be " + std::to_string(kLowestPriority) + " to " +
                          std::to_string(kHighestPriority) + ", not " + std::to_string(priority));
}

Status check_limit(std::int64_t max_descendants) {
  if (max_descendants >= 0) return {};
  return invalid_argument("max_descendants must not be negative");
}

Status check_text(std::string_view field, std::string_view value) {
  if (is_valid_utf8(value)) return {};
  return invalid_argument(std::string(field) + " must be valid UTF-8");
}

Status check_with(const StartMessage& with, OnConflict on_conflict) {
  if (with.kind != RequestKind::kSignal && with.kind != RequestKind::kUpdate) {
    return invalid_argument("with.kind must be signal or update");
  }
  PERDURE_RETURN_IF_ERROR(check_id("with.name", with.name));
  PERDURE_RETURN_IF_ERROR(check_text("with.payload", with.payload));
  if (with.kind == RequestKind::kUpdate) {
    PERDURE_RETURN_IF_ERROR(check_id("with.request", with.request));
  }
  if (on_conflict != OnConflict::kCancelExisting) return {};
  return invalid_argument(
      "with must not come with on_conflict = cancel existing: there is no run "
      "yet that could take it");
}

bool may_follow(ExecutionStatus ended, OnReuse on_reuse) {
  switch (on_reuse) {
    case OnReuse::kAllow:
      return true;
    case OnReuse::kOnlyFailed:
      return ended != ExecutionStatus::kCompleted;
    case OnReuse::kReject:
      return false;
  }
  return false;
}

}  // namespace

Result<StartStep> decide_start(std::string_view id,
                               std::optional<ExecutionStatus> current,
                               OnConflict on_conflict,
                               OnReuse on_reuse) {
  if (!current) return StartStep::kCreate;
  const std::string quoted = "'" + std::string(id) + "'";
  if (is_terminal(*current)) {
    if (may_follow(*current, on_reuse)) return StartStep::kNextExecution;
    return conflict("the id " + quoted + " was used by a run that is " +
                    std::string(to_string(*current)) +
                    "; choose another id or allow its reuse (on_reuse)");
  }
  switch (on_conflict) {
    case OnConflict::kUseExisting:
      return StartStep::kAnswerExisting;
    case OnConflict::kCancelExisting:
      return StartStep::kCancelAndStore;
    case OnConflict::kFail:
      break;
  }
  return conflict("a run with the id " + quoted + " is " + std::string(to_string(*current)) +
                  "; choose another id, or set on_conflict to use or cancel it");
}

Status check_request_id(std::string_view request_id) {
  return check_optional("request_id", request_id);
}

Status check(const StartOrchestration& request) {
  PERDURE_RETURN_IF_ERROR(check_id("id", request.id));
  PERDURE_RETURN_IF_ERROR(check_id("name", request.name));
  PERDURE_RETURN_IF_ERROR(check_optional("version", request.version));
  PERDURE_RETURN_IF_ERROR(check_id("queue", request.queue));
  PERDURE_RETURN_IF_ERROR(check_request_id(request.request_id));
  PERDURE_RETURN_IF_ERROR(check_text("input", request.input));
  PERDURE_RETURN_IF_ERROR(check_priority(request.priority));
  PERDURE_RETURN_IF_ERROR(check_not_negative("delay", request.delay));
  PERDURE_RETURN_IF_ERROR(check_not_negative("cleanup_timeout", request.cleanup_timeout));
  PERDURE_RETURN_IF_ERROR(check_not_negative("run_timeout", request.run_timeout));
  return request.with ? check_with(*request.with, request.on_conflict) : Status();
}

Status check(const RaiseEvent& request) {
  PERDURE_RETURN_IF_ERROR(check_id("id", request.id));
  PERDURE_RETURN_IF_ERROR(check_id("name", request.name));
  PERDURE_RETURN_IF_ERROR(check_request_id(request.request_id));
  PERDURE_RETURN_IF_ERROR(check_text("payload", request.payload));
  PERDURE_RETURN_IF_ERROR(check_not_negative("delay", request.delay));
  PERDURE_RETURN_IF_ERROR(check_not_negative("buffer_for", request.buffer_for));
  if (!request.as_signal || request.buffer_for == Duration::zero()) return {};
  return invalid_argument("buffer_for must be zero for a signal: start the run with it instead");
}

Status check(const MakeRequest& request) {
  const bool is_query = request.kind == RequestKind::kQuery;
  if (!is_query && request.kind != RequestKind::kUpdate) {
    return invalid_argument("kind must be update or query");
  }
  PERDURE_RETURN_IF_ERROR(check_id("id", request.id));
  PERDURE_RETURN_IF_ERROR(check_id("request", request.request));
  PERDURE_RETURN_IF_ERROR(check_id("name", request.name));
  PERDURE_RETURN_IF_ERROR(check_text("payload", request.payload));
  if (!is_query || request.expires_after > Duration::zero()) return {};
  return invalid_argument("expires_after must be greater than zero for a query");
}

Status check(const CancelOrchestration& request) {
  PERDURE_RETURN_IF_ERROR(check_id("id", request.id));
  PERDURE_RETURN_IF_ERROR(check_text("reason", request.reason));
  PERDURE_RETURN_IF_ERROR(check_request_id(request.request_id));
  PERDURE_RETURN_IF_ERROR(check_limit(request.max_descendants));
  return check_not_negative("cleanup_timeout", request.cleanup_timeout);
}

Status check(const TerminateOrchestration& request) {
  PERDURE_RETURN_IF_ERROR(check_id("id", request.id));
  PERDURE_RETURN_IF_ERROR(check_text("reason", request.reason));
  PERDURE_RETURN_IF_ERROR(check_request_id(request.request_id));
  return check_limit(request.max_descendants);
}

}  // namespace perdure::rules
