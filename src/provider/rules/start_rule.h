#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "model/status.h"
#include "provider/client_requests.h"
#include "provider/run_requests.h"

/// What a start does to an id, decided once for every provider. Pure.
namespace perdure::rules {

enum class StartStep : std::uint8_t {
  kCreate,          ///< the id is new
  kNextExecution,   ///< the id has ended and may be used again
  kAnswerExisting,  ///< use the live one
  kCancelAndStore,  ///< cancel the live one, store the start until it has ended
};

/// `current` is the status of the id's current execution; nullopt when the id is unknown.
/// Conflict when the policies forbid the start.
Result<StartStep> decide_start(std::string_view id,
                               std::optional<ExecutionStatus> current,
                               OnConflict on_conflict,
                               OnReuse on_reuse);

/// InvalidArgument that names the field: id, name, version, queue, request id, durations.
Status check(const StartOrchestration& request);
Status check(const RaiseEvent& request);
Status check(const MakeRequest& request);
Status check(const CancelOrchestration& request);
Status check(const TerminateOrchestration& request);
/// An empty one is none.
Status check_request_id(std::string_view request_id);

}  // namespace perdure::rules
