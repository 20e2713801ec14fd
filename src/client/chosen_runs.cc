#include "client/chosen_runs.h"

#include <algorithm>
#include <utility>

#include "client/run_values.h"
#include "client/store_calls.h"
#include "model/status.h"

namespace perdure::client {

namespace {

constexpr std::size_t kRunsOfPage = 500;

}  // namespace

bool chooses(const RunFilter& filter) {
  return !filter.name.empty() || !filter.queue.empty() || !filter.id_prefix.empty() ||
         !filter.parent.empty() || filter.created_from || filter.created_before;
}

RunFilter live_filter(const RunFilter& filter, bool every_run) {
  if (!every_run && !chooses(filter)) {
    throw InvalidArgument(
        "filter: it would take every live run of the store; set name, queue, id_prefix, parent, "
        "created_from or created_before, or the option every_run if that is meant");
  }
  RunFilter live = filter;
  for (const ExecutionStatus status : filter.statuses) {
    if (!is_terminal(status)) continue;
    throw InvalidArgument("statuses: a run that is " + std::string(to_string(status)) +
                          " has ended and cannot be canceled; leave it out");
  }
  if (!live.statuses.empty()) return live;
  for (const auto& row : CodeTable<ExecutionStatus>::rows()) {
    if (!is_terminal(row.value)) live.statuses.push_back(row.value);
  }
  return live;
}

ChosenRuns::ChosenRuns(Provider& store, const RunFilter& live_filter, Duration call_timeout)
    : store_(store),
      filter_(instance_filter(live_filter)),
      call_timeout_(call_timeout),
      // What began in this moment began before.
      begun_before_(std::min(store.clock().now() + Duration(1),
                             live_filter.created_before.value_or(TimePoint::max()))) {}

void ChosenRuns::look_through(const Each& each) {
  std::optional<ListCursor> at;
  do {
    InstancePage page = page_behind(at);
    if (!page.instances.empty()) {
      parts_.push_back({at, page.instances.front().key, page.instances.back().key});
    }
    for (InstanceSummary& run : page.instances) each(std::move(run));
    at = page.next;
  } while (at);
}

std::vector<InstanceSummary> ChosenRuns::take_oldest() {
  std::vector<InstanceSummary> runs;
  while (runs.empty() && !parts_.empty()) {
    runs = runs_of(parts_.back());
    parts_.pop_back();
  }
  std::reverse(runs.begin(), runs.end());
  return runs;
}

std::vector<InstanceSummary> ChosenRuns::runs_of(const Part& part) {
  std::vector<InstanceSummary> runs;
  // More may apply by now than a page holds.
  for (std::optional<ListCursor> at = part.after;;) {
    InstancePage page = page_behind(at);
    for (InstanceSummary& run : page.instances) {
      if (run.key < part.oldest) return runs;
      if (run.key <= part.newest) runs.push_back(std::move(run));
    }
    at = page.next;
    if (!at || at->last <= part.oldest) return runs;
  }
}

InstancePage ChosenRuns::page_behind(const std::optional<ListCursor>& after) {
  return read(
      CallTime(call_timeout_),
      [&]() -> Result<InstancePage> {
        PERDURE_ASSIGN_OR_RETURN(InstancePage page,
                                 store_.list_instances({filter_, after, kRunsOfPage}));
        std::vector<InstanceSummary> chosen;
        for (InstanceSummary& run : page.instances) {
          PERDURE_ASSIGN_OR_RETURN(const bool in_time, began_in_time(run));
          if (in_time) chosen.push_back(std::move(run));
        }
        page.instances = std::move(chosen);
        return page;
      },
      "call again");
}

Result<bool> ChosenRuns::began_in_time(const InstanceSummary& run) {
  // The first execution is as old as the id, which the filter has looked at.
  if (run.problem || run.execution.value == 1 || run.started_at < begun_before_) return true;
  // A run is as old as the first of the executions that continued each other.
  ListExecutions request{.id = run.id, .before = run.execution};
  for (;;) {
    const auto page = store_.list_executions(request);
    if (!page.ok() && page.code() == ErrorCode::kNotFound) return true;  // its cancel tells
    if (!page.ok()) return page.error();
    for (const ExecutionInfo& earlier : page->executions) {
      if (earlier.problem) continue;
      if (earlier.status != ExecutionStatus::kContinuedAsNew) return false;
      if (earlier.started_at < begun_before_) return true;
    }
    // What came before them was pruned: taken for as old as the id.
    if (!page->more || page->executions.empty()) return true;
    request.before = page->executions.back().execution;
  }
}

}  // namespace perdure::client
