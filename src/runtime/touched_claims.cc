#include "runtime/touched_claims.h"

#include <map>
#include <string>
#include <utility>

#include "model/status.h"
#include "provider/stop_reasons.h"
#include "runtime/attempts.h"

namespace perdure::runtime {

namespace {

using Run = std::pair<std::string, ExecutionNo>;

std::string reason_of(Provider& provider, const Run& run) {
  const auto info = provider.get_execution(run.first, run.second);
  if (!info.ok()) return info.code() == ErrorCode::kNotFound ? kRunDeleted : kClaimGone;
  if (info->status == ExecutionStatus::kTerminated) return kRunTerminated;
  if (!info->cancel_reason.empty()) return info->cancel_reason;
  if (info->status == ExecutionStatus::kCanceling || info->status == ExecutionStatus::kCanceled) {
    return kRunCanceled;
  }
  return is_terminal(info->status) ? kRunEnded : kClaimGone;
}

}  // namespace

void stop_touched(Provider& provider,
                  const std::vector<std::shared_ptr<Attempt>>& held,
                  const std::vector<ClaimState>& states) {
  std::map<Run, std::vector<std::shared_ptr<Attempt>>> touched;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const Attempt& attempt = *held[i];
    if (states[i] == ClaimState::kRenewed || attempt.is_settled() || attempt.stopped_by()) continue;
    touched[{attempt.instance_id(), attempt.item().owner.execution}].push_back(held[i]);
  }
  for (const auto& [run, attempts] : touched) {
    const std::string reason = reason_of(provider, run);
    std::vector<Stop> stops;
    stops.reserve(attempts.size());
    for (const auto& attempt : attempts) stops.push_back({attempt, StopCause::kCanceled, reason});
    stop_all(stops);
  }
}

}  // namespace perdure::runtime
