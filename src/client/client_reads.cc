#include <algorithm>
#include <utility>

#include <perdure/client.h>

#include "client/checked_id.h"
#include "client/cursors.h"
#include "client/run_values.h"
#include "client/store_calls.h"
#include "client/wait_for_end.h"
#include "model/option_ranges.h"
#include "replayer/recorded_history.h"

namespace perdure {

namespace {

constexpr std::size_t kMostRuns = 10'000;
constexpr std::size_t kMostEvents = 100'000;

/// A run with one of its executions; 0: with the current one.
Result<InstanceInfo> find_execution(Provider& store, const std::string& id, std::int64_t number) {
  PERDURE_ASSIGN_OR_RETURN(InstanceInfo run, store.get_instance(id));
  if (number != 0 && number != run.current.execution.value) {
    PERDURE_ASSIGN_OR_RETURN(run.current, store.get_execution(id, ExecutionNo{number}));
  }
  return run;
}

Result<HistoryPage> read_page(Provider& store,
                              const InstanceInfo& run,
                              EventId after,
                              std::size_t limit) {
  PERDURE_ASSIGN_OR_RETURN(auto pages,
                           store.read_history({{run.key, run.current.execution, after, limit}}));
  return std::move(pages.front());
}

/// All events up to the last one that was there when the run was looked at.
Result<std::vector<HistoryEvent>> read_all(Provider& store, const InstanceInfo& run) {
  constexpr std::size_t kPage = 10'000;
  std::vector<HistoryEvent> events;
  while (events.size() < static_cast<std::size_t>(run.current.last_event.value)) {
    const EventId after = events.empty() ? EventId{} : events.back().id;
    PERDURE_ASSIGN_OR_RETURN(HistoryPage page, read_page(store, run, after, kPage));
    if (page.events.empty()) return not_found("run '" + run.id + "' was deleted meanwhile");
    std::move(page.events.begin(), page.events.end(), std::back_inserter(events));
  }
  // Later ones belong to turns that the row did not tell of.
  events.resize(static_cast<std::size_t>(run.current.last_event.value));
  return events;
}

Result<std::string> write_history(Provider& store, const std::string& id, std::int64_t execution) {
  PERDURE_ASSIGN_OR_RETURN(const InstanceInfo run, find_execution(store, id, execution));
  PERDURE_ASSIGN_OR_RETURN(auto events, read_all(store, run));
  return replayer::to_history_json(replayer::recorded_history(run, run.current, std::move(events)));
}

QueueState queue_state(QueueDepth depth) {
  QueueState state;
  state.queue = std::move(depth.queue);
  state.runs_ready = depth.instances_ready;
  state.runs_delayed = depth.instances_delayed;
  state.runs_locked = depth.instances_locked;
  state.oldest_run = depth.oldest_instance;
  for (WorkDepth& work : depth.work) {
    state.calls.push_back({std::move(work.name),
                           work.ready,
                           work.delayed,
                           work.claimed,
                           work.held,
                           work.oldest_ready});
  }
  return state;
}

}  // namespace

RunStatus Client::status(std::string_view id, std::int64_t execution) const {
  const std::string checked = client::checked_id("id", id);
  return client::read(client::CallTime(options_.call_timeout), [&]() -> Result<RunStatus> {
    PERDURE_ASSIGN_OR_RETURN(const InstanceInfo run, find_execution(*store_, checked, execution));
    return client::run_status(*store_, run, run.current);
  });
}

RunStatus Client::wait_for_end(std::string_view id, const Which& run, Duration timeout) const {
  if (timeout < Duration::zero()) throw InvalidArgument("timeout must not be negative");
  const client::WantedRun wanted{
      client::checked_id("id", id), run.execution, InstanceKey{run.key}};
  return client::wait_for_end(*store_, wanted, client::CallTime(timeout));
}

RunPage Client::list(const RunFilter& filter, const PageOptions& page) const {
  option_ranges::check_size("limit", page.limit, 1, kMostRuns);
  ListInstances request;
  request.filter = client::instance_filter(filter);
  if (!page.after.empty()) request.after = client::read_list_cursor(page.after);
  const client::CallTime time(options_.call_timeout);
  RunPage runs;
  // The store looks at a bounded number of rows at a time, and may find few of many.
  do {
    request.limit = page.limit - runs.runs.size();
    InstancePage found = client::read(time, [&] { return store_->list_instances(request); });
    for (InstanceSummary& each : found.instances) {
      runs.runs.push_back(client::run_summary(std::move(each)));
    }
    request.after = found.next;
  } while (request.after && runs.runs.size() < page.limit && !time.passed());
  if (request.after) runs.next = client::write_cursor(*request.after);
  return runs;
}

RunTree Client::tree(std::string_view id, const TreeOptions& options) const {
  option_ranges::check_count("max_depth", options.max_depth, 0, 1'000);
  option_ranges::check_size("limit", options.limit, 1, kMostRuns);
  const TreeQuery query{client::checked_id("id", id), options.max_depth, options.limit};
  return client::run_tree(client::read(client::CallTime(options_.call_timeout),
                                       [&] { return store_->get_tree(query); }));
}

HistoryEvents Client::history(std::string_view id, const HistoryOptions& options) const {
  option_ranges::check_size("limit", options.limit, 1, kMostEvents);
  const std::string checked = client::checked_id("id", id);
  return client::read(client::CallTime(options_.call_timeout), [&]() -> Result<HistoryEvents> {
    PERDURE_ASSIGN_OR_RETURN(const InstanceInfo run,
                             find_execution(*store_, checked, options.execution));
    PERDURE_ASSIGN_OR_RETURN(HistoryPage page,
                             read_page(*store_, run, EventId{options.after}, options.limit));
    HistoryEvents history;
    history.execution = run.current.execution.value;
    history.more = page.more;
    for (HistoryEvent& event : page.events) {
      history.events.push_back(client::run_event(std::move(event)));
    }
    return history;
  });
}

std::string Client::history_json(std::string_view id, std::int64_t execution) const {
  const std::string checked = client::checked_id("id", id);
  return client::read(client::CallTime(options_.call_timeout),
                      [&] { return write_history(*store_, checked, execution); });
}

QueueStates Client::queues() const {
  QueueDepths depths =
      client::read(client::CallTime(options_.call_timeout), [&] { return store_->queue_depths(); });
  QueueStates states;
  states.now = depths.now;
  for (QueueDepth& queue : depths.queues) states.queues.push_back(queue_state(std::move(queue)));
  return states;
}

}  // namespace perdure
