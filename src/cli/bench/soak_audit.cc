#include "cli/bench/soak_audit.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <perdure/failure.h>

#include "cli/bench/soak_code.h"
#include "model/status.h"

namespace perdure::bench {

namespace {

constexpr std::size_t kMostNodes = 10'000;
constexpr std::size_t kMostListed = 1'000;

bool is_answer_of_activity(EventKind kind) {
  return kind == EventKind::kActivityCompleted || kind == EventKind::kActivityFailed;
}

bool is_late_by_itself(const HistoryEvent& event) {
  return event.kind == EventKind::kActivityCompleted ? event.payload == std::to_string(kLateResult)
                                                     : event.failure.type == kLateFailure;
}

void count_events(const std::vector<HistoryEvent>& history, SoakCounts& counts) {
  for (const HistoryEvent& event : history) {
    if (event.kind == EventKind::kActivityFailed && event.failure.type == kTimeoutFailure) {
      ++counts.timeouts;
    }
    if (event.kind == EventKind::kUndoCompleted) ++counts.undone;
  }
}

void count_end(ExecutionStatus status, SoakCounts& counts) {
  if (status == ExecutionStatus::kCompleted) ++counts.completed;
  if (status == ExecutionStatus::kFailed) ++counts.failed;
  if (status == ExecutionStatus::kCanceled) ++counts.canceled;
  if (status == ExecutionStatus::kContinuedAsNew) ++counts.continued;
}

/// Looks at one run of a tree.
class RunCheck {
 public:
  RunCheck(Provider& store, SoakCounts& counts) : store_(store), counts_(counts) {}

  Status check(const InstanceSummary& run, bool canceled) {
    ++counts_.runs;
    who_ = "run '" + run.id + "'";
    if (run.problem) found(run.problem->message);
    if (canceled && run.status != ExecutionStatus::kCanceled && is_terminal(run.status)) {
      found("was canceled and ended as " + std::string(to_string(run.status)));
    }
    if (!canceled && run.name == kSoakCleaner.name() && run.cancel_requested_at) {
      found("cleans up, and was canceled with those above it");
    }
    ListExecutions list;
    list.id = run.id;
    PERDURE_ASSIGN_OR_RETURN(const ExecutionPage page, store_.list_executions(list));
    for (const ExecutionInfo& execution : page.executions) {
      PERDURE_RETURN_IF_ERROR(check_execution(run, execution));
    }
    return check_rest(run);
  }

  std::vector<std::string> take_problems() { return std::move(problems_); }

 private:
  void found(const std::string& what) { problems_.push_back(who_ + " " + what); }

  Status check_execution(const InstanceSummary& run, const ExecutionInfo& execution) {
    PERDURE_ASSIGN_OR_RETURN(auto pages,
                             store_.read_history({{run.key, execution.execution, EventId{}}}));
    PERDURE_ASSIGN_OR_RETURN(const HistoryPage page, std::move(pages.front()));
    const std::string status(to_string(execution.status));
    count_end(execution.status, counts_);
    count_events(page.events, counts_);
    if (!is_terminal(execution.status)) {
      found("has no terminal state: it is " + status);
    } else if (page.events.empty() || !is_terminal(page.events.back().kind)) {
      found("is " + status + " and its history has no end");
    } else if (execution.cancel_requested_at && execution.status != ExecutionStatus::kCanceled) {
      found("was told to stop and ended as " + status);
    }
    for (const std::string& late : late_results(page.events)) found(late);
    return {};
  }

  /// Of a run that has ended: nobody runs or waits for it any more.
  Status check_rest(const InstanceSummary& run) {
    if (!is_terminal(run.status)) return {};
    PERDURE_ASSIGN_OR_RETURN(const InstanceStats stats, store_.get_stats(run.id));
    if (stats.work_rows + stats.queued_messages == 0) return {};
    found("has ended and " + std::to_string(stats.work_rows) + " work rows and " +
          std::to_string(stats.queued_messages) + " messages are left");
    return {};
  }

  Provider& store_;
  SoakCounts& counts_;
  std::string who_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> runnable_below(const InstanceTree& tree) {
  std::vector<std::string> runnable;
  std::set<InstanceKey> reached;
  for (const TreeNode& node : tree.nodes) {
    const InstanceSummary& run = node.instance;
    if (node.depth == 0) {
      reached.insert(run.key);
      continue;
    }
    const bool below = run.parent && run.parent->close_policy != ClosePolicy::kAbandon &&
                       !run.parent->shielded && reached.contains(run.parent->instance);
    if (!below) continue;
    reached.insert(run.key);
    if (!is_terminal(run.status) && !run.cancel_requested_at) runnable.push_back(run.id);
  }
  return runnable;
}

std::vector<std::string> late_results(const std::vector<HistoryEvent>& history) {
  std::vector<std::string> late;
  std::map<EventId, std::string_view> calls;
  bool canceled = false;
  for (const HistoryEvent& event : history) {
    if (event.kind == EventKind::kActivityScheduled) calls[event.id] = event.name;
    if (event.kind == EventKind::kCancelRequested) canceled = true;
    if (!is_answer_of_activity(event.kind)) continue;
    const std::string_view activity = calls[event.source];
    if (outlasts_cancel(activity) || (!canceled && !is_late_by_itself(event))) continue;
    late.push_back("took a late result of '" + std::string(activity) + "' as event " +
                   std::to_string(event.id.value));
  }
  return late;
}

Result<std::vector<std::string>> check_tree(Provider& store,
                                            const std::string& root,
                                            const std::set<std::string>& canceled,
                                            SoakCounts& counts) {
  TreeQuery query;
  query.id = root;
  query.limit = kMostNodes;
  PERDURE_ASSIGN_OR_RETURN(const InstanceTree tree, store.get_tree(query));
  RunCheck check(store, counts);
  std::set<std::string> seen;
  for (const TreeNode& node : tree.nodes) {
    seen.insert(node.instance.id);
    PERDURE_RETURN_IF_ERROR(check.check(node.instance, canceled.contains(node.instance.id)));
  }
  std::vector<std::string> problems = check.take_problems();
  for (const std::string& id : canceled) {
    if (!seen.contains(id)) problems.push_back("run '" + id + "' was canceled and is gone");
  }
  return problems;
}

Result<std::vector<std::string>> ids_with_prefix(Provider& store,
                                                 const std::string& prefix,
                                                 const std::vector<ExecutionStatus>& statuses) {
  std::vector<std::string> ids;
  ListInstances list;
  list.filter.id_prefix = prefix;
  list.filter.statuses = statuses;
  list.limit = kMostListed;
  do {
    PERDURE_ASSIGN_OR_RETURN(const InstancePage page, store.list_instances(list));
    for (const InstanceSummary& run : page.instances) ids.push_back(run.id);
    list.after = page.next;
  } while (list.after);
  return ids;
}

Result<std::vector<std::string>> left_of_deleted(Provider& store, const std::string& root) {
  // Children are named after their parents.
  PERDURE_ASSIGN_OR_RETURN(std::vector<std::string> left, ids_with_prefix(store, root + "/", {}));
  const auto itself = store.get_instance(root);
  if (itself.ok()) {
    left.push_back(root);
  } else if (itself.code() != ErrorCode::kNotFound) {
    return itself.error();
  }
  return left;
}

Result<std::int64_t> work_in_queues(Provider& store) {
  PERDURE_ASSIGN_OR_RETURN(const QueueDepths depths, store.queue_depths());
  std::int64_t sum = 0;
  for (const QueueDepth& queue : depths.queues) {
    for (const WorkDepth& work : queue.work) {
      sum += work.ready + work.delayed + work.claimed + work.held;
    }
  }
  return sum;
}

}  // namespace perdure::bench
