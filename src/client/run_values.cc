#include "client/run_values.h"

#include <map>
#include <utility>

namespace perdure::client {

namespace {

Result<Json> parsed(const std::string& text, const InstanceInfo& run, const char* column) {
  if (text.empty()) return Json();
  try {
    return Json::parse(text);
  } catch (const Json::exception&) {
    return corrupt("table executions, run '" + run.id + "': " + column + " is no JSON text");
  }
}

/// Why it was canceled or terminated. Of a terminated run the row has the reason of an earlier
/// cancel alone.
Result<std::string> reason_of(Provider& store,
                              const InstanceInfo& run,
                              const ExecutionInfo& execution) {
  if (execution.status != ExecutionStatus::kTerminated) return execution.cancel_reason;
  HistoryQuery last;
  last.instance = run.key;
  last.execution = execution.execution;
  last.after = EventId{execution.last_event.value - 1};
  last.limit = 1;
  PERDURE_ASSIGN_OR_RETURN(auto pages, store.read_history({last}));
  PERDURE_ASSIGN_OR_RETURN(HistoryPage page, std::move(pages.front()));
  // It may have been deleted since.
  return page.events.empty() ? execution.cancel_reason : std::move(page.events.front().text);
}

std::string blocked_text(BlockedReason reason) {
  return reason == BlockedReason::kNone ? std::string() : std::string(to_string(reason));
}

}  // namespace

Result<RunStatus> run_status(Provider& store,
                             const InstanceInfo& run,
                             const ExecutionInfo& execution) {
  RunStatus status;
  status.id = run.id;
  status.name = run.name;
  status.version = run.version;
  status.queue = run.queue;
  status.execution = execution.execution.value;
  status.status = execution.status;
  status.blocked = blocked_text(execution.blocked);
  status.blocked_detail = execution.blocked_detail;
  status.blocked_since = execution.blocked_since;
  PERDURE_ASSIGN_OR_RETURN(status.custom_status,
                           parsed(execution.custom_status, run, "custom_status"));
  PERDURE_ASSIGN_OR_RETURN(status.output, parsed(execution.output, run, "output"));
  status.failure = execution.failure;
  PERDURE_ASSIGN_OR_RETURN(status.cancel_reason, reason_of(store, run, execution));
  status.cancel_requested_at = execution.cancel_requested_at;
  status.canceled_at = execution.canceled_at;
  status.deadline = execution.deadline;
  status.started_at = execution.started_at;
  status.completed_at = execution.completed_at;
  return status;
}

InstanceFilter instance_filter(const RunFilter& filter) {
  InstanceFilter wanted;
  wanted.name = filter.name;
  wanted.queue = filter.queue;
  wanted.statuses = filter.statuses;
  wanted.id_prefix = filter.id_prefix;
  wanted.created_from = filter.created_from;
  wanted.created_before = filter.created_before;
  if (!filter.parent.empty()) wanted.parent = filter.parent;
  wanted.roots_only = filter.roots_only;
  return wanted;
}

RunSummary run_summary(InstanceSummary summary) {
  RunSummary run;
  run.id = std::move(summary.id);
  run.name = std::move(summary.name);
  run.version = std::move(summary.version);
  run.queue = std::move(summary.queue);
  run.is_child = summary.parent.has_value();
  run.created_at = summary.created_at;
  run.execution = summary.execution.value;
  run.status = summary.status;
  run.blocked = blocked_text(summary.blocked);
  run.cancel_requested_at = summary.cancel_requested_at;
  run.started_at = summary.started_at;
  run.completed_at = summary.completed_at;
  if (summary.problem) run.problem = std::move(summary.problem->message);
  return run;
}

RunTree run_tree(InstanceTree tree) {
  RunTree runs;
  runs.more = tree.more;
  std::map<InstanceKey, std::string> ids;
  for (TreeNode& node : tree.nodes) {
    ids[node.instance.key] = node.instance.id;
    RunTreeNode run;
    run.depth = node.depth;
    if (node.depth > 0 && node.instance.parent) run.parent = ids[node.instance.parent->instance];
    run.run = run_summary(std::move(node.instance));
    runs.nodes.push_back(std::move(run));
  }
  return runs;
}

RunEvent run_event(HistoryEvent event) {
  return {event.id.value,
          std::string(to_string(event.kind)),
          event.source.value,
          std::move(event.name),
          std::move(event.payload),
          std::move(event.text),
          event.number,
          std::move(event.failure),
          event.at};
}

EventDelivered event_delivered(EventDelivery answer) {
  switch (answer) {
    case EventDelivery::kDelivered:
      return EventDelivered::kDelivered;
    case EventDelivery::kBuffered:
      return EventDelivered::kBuffered;
    case EventDelivery::kNotFound:
      return EventDelivered::kNotFound;
    case EventDelivery::kEnded:
    case EventDelivery::kUnknown:  // of signals alone
      return EventDelivered::kEnded;
  }
  return EventDelivered::kNotFound;
}

}  // namespace perdure::client
