#include "tests/processes/histories.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "runtime/histories.h"

namespace perdure::test {

namespace {

template <class T>
T or_throw(Result<T> answer) {
  if (!answer.ok()) throw std::runtime_error(answer.error().message);
  return std::move(answer).value();
}

void read_run(Provider& store, const InstanceSummary& run, std::vector<StoredExecution>& all) {
  if (run.problem) throw std::runtime_error(run.problem->message);
  const ExecutionPage page = or_throw(store.list_executions({.id = run.id}));
  if (page.more) throw std::runtime_error("more executions than expected");
  for (const ExecutionInfo& each : page.executions) {
    if (each.problem) throw std::runtime_error(each.problem->message);
    auto events =
        runtime::read_histories(store, {{run.key, each.execution, each.last_event}}, 1'000);
    all.push_back(
        {run.id, run.name, each.execution, each.status, or_throw(std::move(events.front()))});
  }
}

bool is_answer(EventKind kind) {
  switch (kind) {
    case EventKind::kActivityCompleted:
    case EventKind::kActivityFailed:
    case EventKind::kActivityCanceled:
    case EventKind::kTimerFired:
    case EventKind::kChildCompleted:
    case EventKind::kChildFailed:
    case EventKind::kChildCanceled:
    case EventKind::kChildTerminated:
    case EventKind::kChildStartFailed:
    case EventKind::kUndoCompleted:
    case EventKind::kUndoFailed:
      return true;
    default:
      return false;
  }
}

bool is_drop(EventKind kind) {
  return kind == EventKind::kActivityDropped || kind == EventKind::kTimerDropped ||
         kind == EventKind::kChildDropped;
}

bool wants_an_answer(EventKind kind) {
  return kind == EventKind::kActivityScheduled || kind == EventKind::kTimerCreated ||
         kind == EventKind::kChildScheduled || kind == EventKind::kUndoScheduled;
}

}  // namespace

std::int64_t StoredExecution::count(EventKind kind) const {
  return std::ranges::count(events, kind, &HistoryEvent::kind);
}

std::vector<StoredExecution> read_all(Provider& store) {
  std::vector<StoredExecution> all;
  ListInstances list{.limit = 1'000};
  do {
    const InstancePage page = or_throw(store.list_instances(list));
    for (const InstanceSummary& each : page.instances) read_run(store, each, all);
    list.after = page.next;
  } while (list.after);
  std::ranges::sort(all, {}, [](const StoredExecution& each) {
    return std::pair(each.id, each.execution.value);
  });
  return all;
}

std::string violation_in(const StoredExecution& execution) {
  const std::string where =
      "run '" + execution.id + "' execution " + std::to_string(execution.execution.value) + ": ";
  std::set<EventId> open;
  std::set<EventId> answered;
  for (const HistoryEvent& event : execution.events) {
    const std::string at = "event " + std::to_string(event.id.value) + " (" +
                           std::string(to_string(event.kind)) + ") ";
    if (is_terminal(event.kind) != (&event == &execution.events.back())) {
      return where + at + "the end is the last event, and only that";
    }
    if (wants_an_answer(event.kind)) open.insert(event.id);
    if (is_answer(event.kind) && !answered.insert(event.source).second) {
      return where + at + "answers a second time";
    }
    if (is_answer(event.kind) || is_drop(event.kind)) open.erase(event.source);
  }
  if (open.empty()) return {};
  return where + "event " + std::to_string(open.begin()->value) + " was never answered";
}

std::string left_in_queues(Provider& store) {
  std::string left;
  for (const QueueDepth& queue : or_throw(store.queue_depths()).queues) {
    left += queue.queue + ": " + std::to_string(queue.instances_ready) + " ready, " +
            std::to_string(queue.instances_delayed) + " delayed, " +
            std::to_string(queue.instances_locked) + " locked;";
    for (const WorkDepth& work : queue.work) {
      left += " " + work.name + " " +
              std::to_string(work.ready + work.delayed + work.claimed + work.held);
    }
  }
  return left;
}

}  // namespace perdure::test
