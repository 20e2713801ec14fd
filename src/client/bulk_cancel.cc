#include "client/bulk_cancel.h"

#include <algorithm>
#include <utility>

#include "client/made_id.h"
#include "client/store_calls.h"

namespace perdure::client {

namespace {

/// Leaves room in the commits of the store for what others write.
constexpr std::size_t kLargestPortion = 64;
/// Descendants of a portion that are no reason to make the next one smaller.
constexpr std::int64_t kDescendants = 1'000;

bool is_told(const InstanceSummary& run) {
  return !run.problem && run.cancel_requested_at.has_value();
}

}  // namespace

void BulkCancel::cancel(std::span<const InstanceSummary> runs) {
  while (!runs.empty()) {
    const std::size_t size = std::min(portion_, runs.size());
    const std::int64_t descendants = cancel_together(runs.first(size));
    runs = runs.subspan(size);
    const bool large = descendants > kDescendants;
    portion_ = large ? std::max<std::size_t>(portion_ / 2, 1) : 2 * portion_;
    portion_ = std::min(portion_, kLargestPortion);
  }
}

CancelOrchestration BulkCancel::request_for(const std::string& id) const {
  CancelOrchestration request;
  request.id = id;
  request.reason = order_.reason;
  request.cleanup_timeout = order_.cleanup_timeout;
  request.request_id = request_id_or_made({});
  return request;
}

std::int64_t BulkCancel::cancel_together(std::span<const InstanceSummary> runs) {
  Portion portion;
  for (const InstanceSummary& run : runs) {
    if (is_told(run)) {
      ++done_.canceling;
    } else {
      portion.pending.push_back({request_for(run.id), nullptr});
    }
  }
  const CallTime time(order_.call_timeout);
  for (Backoff backoff; !portion.pending.empty(); backoff.pause(time)) {
    ask(portion, time);
    if (portion.pending.empty()) break;
    if (!time.passed()) continue;
    done_.unknown = std::count_if(portion.pending.begin(),
                                  portion.pending.end(),
                                  [](const Pending& each) { return each.unknown; });
    throw_error(unavailable(gave_up(*portion.trouble, time, "call again")));
  }
  return portion.descendants;
}

void BulkCancel::ask(Portion& portion, const CallTime& time) {
  for (Pending& each : portion.pending) each.slot = submit_within(store_, each.request, time);
  std::vector<Pending> again;
  for (Pending& each : portion.pending) {
    const Result<CancelAnswer> answer = answer_within(store_, *each.slot, time);
    if (answer.ok()) {
      tell_stopped(store_, each.request, *answer);
      portion.descendants += answer->descendants;
      count(each.request.id, *answer);
    } else if (passes(answer.code())) {
      portion.trouble = answer.error();
      each.unknown = each.unknown || answer.code() == ErrorCode::kCommitUnknown;
      again.push_back(std::move(each));
    } else {
      count(each.request.id, answer.error());
    }
  }
  portion.pending = std::move(again);
}

void BulkCancel::count(const std::string& id, const CancelAnswer& answer) {
  if (answer.changed) {
    ++done_.canceled;
    if (done_.ids.size() < order_.max_named) done_.ids.push_back(id);
  } else if (is_terminal(answer.status)) {
    ++done_.ended;
  } else {
    ++done_.canceling;
  }
}

void BulkCancel::count(const std::string& id, const Error& refused) {
  if (refused.code == ErrorCode::kNotFound) {
    ++done_.gone;
    return;
  }
  ++done_.unreadable;
  if (done_.problems.size() < order_.max_named) {
    done_.problems.push_back("run '" + id + "': " + refused.message);
  }
}

}  // namespace perdure::client
