#include "provider/sqlite/reads.h"

#include <algorithm>

#include "provider/sqlite/rows.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/text_list.h"

namespace perdure::sqlite {

namespace {

/// Numbers have no gaps.
void check_order(const std::vector<HistoryEvent>& events, const HistoryQuery& query) {
  if (events.size() < 2) return;
  const std::int64_t expected = events[events.size() - 2].id.value + 1;
  if (events.back().id.value == expected) return;
  throw_corrupt("history",
                {query.instance.value, query.execution.value, expected},
                "the row is missing, and later ones are there");
}

/// One row more than asked for tells whether there are more.
HistoryPage read_page(Connection& db, const HistoryQuery& query) {
  HistoryPage page;
  const std::size_t limit = std::min(query.limit, kNoLimit);
  Query row = db.query(Sql::kReadHistory, query.instance, query.execution, query.after, limit + 1);
  while (row.next()) {
    if (page.events.size() == limit) {
      page.more = true;
      break;
    }
    page.events.push_back(read_event(row, query.instance, query.execution));
    check_order(page.events, query);
  }
  return page;
}

/// A row of Sql::kLiveProcesses.
void read_process(const CheckedRow& row, ProcessInfo& process) {
  process.host = row.text(1);
  process.pid = row.integer(2);
  process.queues = split_list(row.text(3));
  process.heartbeat = row.count(4);
  process.registered_at = row.time(5);
  if (!row.is_null(6)) row.refuse(6, "is no integer");
}

Error no_instance(const std::string& id) {
  return not_found("no instance '" + id + "'");
}

}  // namespace

Batch<HistoryPage> read_history(Connection& db, const std::vector<HistoryQuery>& queries) {
  Batch<HistoryPage> pages;
  for (const HistoryQuery& query : queries) {
    try {
      pages.emplace_back(read_page(db, query));
    } catch (const SqliteError& error) {
      if (!is_corrupt(error)) throw;
      pages.emplace_back(to_error(error));
    }
  }
  return pages;
}

Result<InstanceInfo> get_instance(Connection& db, const std::string& id) {
  auto instance = find_instance(db, id);
  if (!instance) return no_instance(id);
  ExecutionRow execution = load_current(db, *instance);
  InstanceInfo info;
  info.key = instance->key;
  info.id = std::move(instance->id);
  info.name = std::move(instance->name);
  info.version = std::move(instance->version);
  info.queue = std::move(instance->queue);
  info.parent = instance->parent;
  info.created_at = instance->created_at;
  info.last_change = execution.last_change;
  info.current = std::move(execution.info);
  if (!is_terminal(info.current.status) && info.current.blocked == BlockedReason::kNone) {
    if (const auto problem = line_problem(db, info.key)) {
      info.current.blocked = BlockedReason::kCorrupt;
      info.current.blocked_detail = problem->message;
    }
  }
  return info;
}

Result<ExecutionInfo> get_execution(Connection& db, const std::string& id, ExecutionNo execution) {
  const auto instance = find_instance(db, id);
  if (!instance) return no_instance(id);
  auto row = load_execution(db, instance->key, execution);
  if (!row) {
    return not_found("instance '" + id + "' has no execution " + std::to_string(execution.value));
  }
  return std::move(row->info);
}

std::vector<ProcessInfo> list_processes(Connection& db) {
  std::vector<ProcessInfo> processes;
  Query row = db.query(Sql::kLiveProcesses);
  while (row.next()) {
    ProcessInfo process;
    process.epoch = row.id<Epoch>(0);
    process.holds = row.flag(7);
    try {
      read_process(CheckedRow(row, "processes", {process.epoch.value}), process);
    } catch (const SqliteError& error) {
      if (!is_corrupt(error)) throw;
      process.problem = to_error(error);
    }
    processes.push_back(std::move(process));
  }
  return processes;
}

}  // namespace perdure::sqlite
