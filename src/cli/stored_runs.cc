#include "cli/stored_runs.h"

#include <utility>

#include "model/status.h"
#include "replayer/recorded_history.h"
#include "runtime/histories.h"

namespace perdure::cli {

namespace {

using Which = ReplaySelection::Which;

constexpr std::size_t kPageOfEvents = 10'000;

bool applies(Which which, ExecutionStatus status) {
  return which == Which::kAll || (which == Which::kEnded) == is_terminal(status);
}

const std::vector<ExecutionStatus>& live_statuses() {
  static const std::vector<ExecutionStatus> live = [] {
    std::vector<ExecutionStatus> found;
    for (const auto& row : CodeTable<ExecutionStatus>::rows()) {
      if (!is_terminal(row.value)) found.push_back(row.value);
    }
    return found;
  }();
  return live;
}

}  // namespace

Status StoredRuns::replay(const ReplaySelection& selection) {
  if (selection.ids.empty()) return replay_listed(selection);
  for (const std::string& id : selection.ids) {
    PERDURE_RETURN_IF_ERROR(replay_chosen(id, selection));
  }
  return {};
}

Status StoredRuns::replay_listed(const ReplaySelection& selection) {
  ListInstances list;
  list.filter.name = selection.name;
  if (selection.which == Which::kRunning) list.filter.statuses = live_statuses();
  do {
    PERDURE_ASSIGN_OR_RETURN(const InstancePage page, store_.list_instances(list));
    for (const InstanceSummary& each : page.instances) {
      const Run run{each.key,
                    each.id,
                    each.name,
                    each.version,
                    each.queue,
                    each.execution,
                    !selection.name.empty()};
      if (each.problem) {
        PERDURE_RETURN_IF_ERROR(take(run, {}, *each.problem));
      } else {
        PERDURE_RETURN_IF_ERROR(replay_run(run, selection.which));
      }
    }
    list.after = page.next;
  } while (list.after);
  return {};
}

Status StoredRuns::replay_chosen(const std::string& id, const ReplaySelection& selection) {
  const Result<InstanceInfo> found = store_.get_instance(id);
  if (!found.ok()) {
    const Run unknown{.id = id};
    if (found.code() != ErrorCode::kNotFound) return take(unknown, {}, found.error());
    tell_unreadable(unknown, {}, "there is no such run");
    return {};
  }
  if (!selection.name.empty() && found->name != selection.name) return {};
  return replay_run({found->key,
                     found->id,
                     found->name,
                     found->version,
                     found->queue,
                     found->current.execution,
                     true},
                    selection.which);
}

Status StoredRuns::replay_run(const Run& run, Which which) {
  // Of the executions of a run only the current one can be live.
  if (which == Which::kRunning) return replay_current(run);
  ListExecutions list{.id = run.id};
  for (bool more = true; more;) {
    const Result<ExecutionPage> page = store_.list_executions(list);
    if (!page.ok()) return take(run, {}, page.error());
    for (const ExecutionInfo& each : page->executions) {
      list.before = each.execution;
      if (each.problem) {
        PERDURE_RETURN_IF_ERROR(take(run, each.execution, *each.problem));
      } else if (applies(which, each.status)) {
        PERDURE_RETURN_IF_ERROR(replay_execution(run, each));
      }
    }
    more = page->more;
  }
  return {};
}

Status StoredRuns::replay_current(const Run& run) {
  const Result<ExecutionInfo> current = store_.get_execution(run.id, run.current);
  if (!current.ok()) return take(run, run.current, current.error());
  if (!applies(Which::kRunning, current->status)) return {};
  return replay_execution(run, *current);
}

Status StoredRuns::replay_execution(const Run& run, const ExecutionInfo& execution) {
  Batch<std::vector<HistoryEvent>> read = runtime::read_histories(
      store_, {{run.key, execution.execution, execution.last_event}}, kPageOfEvents);
  if (!read.front().ok()) {
    // Deleted or pruned since: a history that ends too soon is no damage then.
    const Result<ExecutionInfo> still = store_.get_execution(run.id, execution.execution);
    if (!still.ok() && still.code() == ErrorCode::kNotFound) return {};
    return take(run, execution.execution, read.front().error());
  }
  InstanceInfo info;
  info.id = run.id;
  info.name = run.name;
  info.version = run.version;
  info.queue = run.queue;
  const replayer::RecordedHistory history =
      replayer::recorded_history(info, execution, std::move(read.front()).value());
  tell_(check_.check(history, run.asked_for));
  return {};
}

Status StoredRuns::take(const Run& run, ExecutionNo execution, const Error& error) {
  if (error.code == ErrorCode::kNotFound) return {};
  if (error.code != ErrorCode::kCorrupt) return error;
  tell_unreadable(run, execution, error.message);
  return {};
}

void StoredRuns::tell_unreadable(const Run& run,
                                 ExecutionNo execution,
                                 const std::string& problem) {
  ReplayResult result;
  result.kind = ReplayResult::Kind::kUnreadable;
  result.execution = execution.value;
  result.report.instance_id = run.id;
  result.report.orchestration = run.name;
  result.problem = problem;
  tell_(result);
}

}  // namespace perdure::cli
