#include <algorithm>
#include <limits>
#include <set>

#include "provider/sqlite/management.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

namespace {

/// Rows that one page looks at.
constexpr std::size_t kScannedRows = 10'000;
/// UTF-8 has no such byte: behind every text that begins with what stands before it.
constexpr char kBehindAll = '\xff';

void read_instance(const CheckedRow& row, InstanceSummary& summary) {
  summary.name = row.name(2);
  summary.version = row.text(3);
  summary.queue = row.name(4);
  summary.execution = row.id<ExecutionNo>(5);
  if (!row.is_null(6)) {
    summary.parent = ParentLink{.instance = row.id<InstanceKey>(6),
                                .execution = row.id<ExecutionNo>(7),
                                .event = row.id<EventId>(8),
                                .close_policy = row.code<ClosePolicy>(9),
                                .shielded = row.flag(16)};
  }
  summary.created_at = row.time(10);
  summary.id = row.name(1);
}

void read_execution(const CheckedRow& row, InstanceSummary& summary) {
  summary.status = row.code<ExecutionStatus>(11);
  summary.blocked = row.code<BlockedReason>(12);
  summary.cancel_requested_at = row.optional_time(13);
  summary.started_at = row.time(14);
  summary.completed_at = row.optional_time(15);
}

void set_problem(InstanceSummary& summary, Error problem) {
  summary.problem = std::move(problem);
  summary.blocked = BlockedReason::kCorrupt;
}

/// A row of kSummaryOf, kListByKey and kListLive.
InstanceSummary read_summary(const Query& row) {
  InstanceSummary summary;
  summary.key = row.id<InstanceKey>(0);
  summary.id = row.text(1);
  try {
    read_instance(CheckedRow(row, "instances", {summary.key.value}), summary);
    read_execution(CheckedRow(row, "executions", {summary.key.value, summary.execution.value}),
                   summary);
  } catch (const SqliteError& error) {
    if (!is_corrupt(error)) throw;
    set_problem(summary, to_error(error));
  }
  return summary;
}

/// A live instance with a damaged line takes no turns: that is shown, the rest is as it is.
void look_at_line(Connection& db, InstanceSummary& summary) {
  if (summary.problem || is_terminal(summary.status)) return;
  if (auto problem = line_problem(db, summary.key)) set_problem(summary, std::move(*problem));
}

std::optional<InstanceSummary> load_summary(Connection& db, InstanceKey key) {
  Query row = db.query(Sql::kSummaryOf, key);
  if (!row.next()) return std::nullopt;
  return read_summary(row);
}

bool wants_status(const InstanceFilter& filter, ExecutionStatus status) {
  return filter.statuses.empty() ||
         std::find(filter.statuses.begin(), filter.statuses.end(), status) != filter.statuses.end();
}

bool applies(const InstanceFilter& filter,
             std::optional<InstanceKey> parent,
             const InstanceSummary& summary) {
  if (!filter.name.empty() && summary.name != filter.name) return false;
  if (!filter.queue.empty() && summary.queue != filter.queue) return false;
  if (summary.id.compare(0, filter.id_prefix.size(), filter.id_prefix) != 0) return false;
  if (filter.created_from && summary.created_at < *filter.created_from) return false;
  if (filter.created_before && summary.created_at >= *filter.created_before) return false;
  if (parent && (!summary.parent || summary.parent->instance != *parent)) return false;
  if (filter.roots_only && summary.parent) return false;
  return summary.problem || wants_status(filter, summary.status);
}

/// One page under way.
class Listing {
 public:
  Listing(Connection& db, const ListInstances& request, std::optional<InstanceKey> parent)
      : db_(db),
        request_(request),
        parent_(parent),
        before_(request.after ? request.after->last.value
                              : std::numeric_limits<std::int64_t>::max()) {}

  /// Few candidates are taken from an index of their own, many by looking at the newest.
  InstancePage run() {
    std::optional<std::vector<InstanceKey>> keys;
    if (parent_) keys = few(db_.query(Sql::kChildKeys, *parent_, kScannedRows + 1));
    const std::string& prefix = request_.filter.id_prefix;
    if (!keys && !prefix.empty()) {
      keys = few(db_.query(Sql::kKeysByPrefix, prefix, prefix + kBehindAll, kScannedRows + 1));
    }
    if (keys) {
      look_at(*keys);
    } else {
      scan(only_live() ? Sql::kListLive : Sql::kListByKey);
    }
    return std::move(page_);
  }

 private:
  static std::optional<std::vector<InstanceKey>> few(Query row) {
    std::vector<InstanceKey> keys;
    while (row.next()) keys.push_back(row.id<InstanceKey>(0));
    if (keys.size() > kScannedRows) return std::nullopt;
    return keys;
  }

  bool only_live() const {
    const auto& statuses = request_.filter.statuses;
    return !statuses.empty() &&
           std::none_of(statuses.begin(), statuses.end(), [](ExecutionStatus status) {
             return is_terminal(status);
           });
  }

  /// False when the page is full and this one is beyond it.
  bool take(InstanceSummary summary) {
    if (!applies(request_.filter, parent_, summary)) return true;
    if (page_.instances.size() == request_.limit) {
      page_.next = ListCursor{page_.instances.back().key};
      return false;
    }
    look_at_line(db_, summary);
    page_.instances.push_back(std::move(summary));
    return true;
  }

  void look_at(std::vector<InstanceKey>& keys) {
    std::sort(keys.begin(), keys.end(), std::greater<>());
    for (InstanceKey key : keys) {
      if (key.value >= before_) continue;
      auto summary = load_summary(db_, key);
      if (summary && !take(std::move(*summary))) return;
    }
  }

  void scan(Sql statement) {
    std::size_t looked_at = 0;
    InstanceKey last;
    Query row = db_.query(statement, before_, kScannedRows);
    while (row.next()) {
      ++looked_at;
      last = row.id<InstanceKey>(0);
      if (!take(read_summary(row))) return;
    }
    if (looked_at == kScannedRows) page_.next = ListCursor{last};
  }

  Connection& db_;
  const ListInstances& request_;
  const std::optional<InstanceKey> parent_;
  const std::int64_t before_;
  InstancePage page_;
};

Error no_instance(const std::string& id) {
  return not_found("no instance '" + id + "'");
}

ExecutionInfo read_listed(Connection& db, InstanceKey key, ExecutionNo number) {
  ExecutionInfo info;
  info.execution = number;
  try {
    if (auto execution = load_execution(db, key, number)) info = std::move(execution->info);
  } catch (const SqliteError& error) {
    if (!is_corrupt(error)) throw;
    info.problem = to_error(error);
  }
  return info;
}

std::int64_t count(Query row, int column = 0) {
  return row.next() ? row.integer(column) : 0;
}

}  // namespace

Result<InstancePage> list_instances(Connection& db, const ListInstances& request) {
  if (request.limit == 0) return invalid_argument("limit must be at least 1");
  std::optional<InstanceKey> parent;
  if (request.filter.parent) {
    parent = find_key(db, *request.filter.parent);
    if (!parent) return InstancePage{};
  }
  return Listing(db, request, parent).run();
}

Result<InstanceTree> get_tree(Connection& db, const TreeQuery& query) {
  if (query.limit == 0) return invalid_argument("limit must be at least 1");
  if (query.max_depth < 0) return invalid_argument("max_depth must not be negative");
  const auto root = find_key(db, query.id);
  if (!root) return no_instance(query.id);
  const std::size_t limit = std::min(query.limit, kNoLimit);
  InstanceTree tree;
  std::set<InstanceKey> seen{*root};
  tree.nodes.push_back({*load_summary(db, *root), 0});
  // An id that was used again may be its own descendant: nobody is visited twice.
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const InstanceKey parent = tree.nodes[i].instance.key;
    const int depth = tree.nodes[i].depth + 1;
    Query row = db.query(Sql::kChildKeys, parent, limit + 1);
    while (row.next()) {
      const auto child = row.id<InstanceKey>(0);
      if (!seen.insert(child).second) continue;
      if (depth > query.max_depth || tree.nodes.size() == limit) {
        tree.more = true;
        break;
      }
      if (auto summary = load_summary(db, child))
        tree.nodes.push_back({std::move(*summary), depth});
    }
  }
  return tree;
}

Result<ExecutionPage> list_executions(Connection& db, const ListExecutions& request) {
  const auto key = find_key(db, request.id);
  if (!key) return no_instance(request.id);
  const std::size_t limit = std::min(request.limit, kNoLimit);
  const ExecutionNo before =
      request.before.value_or(ExecutionNo{std::numeric_limits<std::int64_t>::max()});
  ExecutionPage page;
  Query row = db.query(Sql::kListExecutions, *key, before, limit + 1);
  while (row.next()) {
    if (page.executions.size() == limit) {
      page.more = true;
      break;
    }
    page.executions.push_back(read_listed(db, *key, row.id<ExecutionNo>(0)));
  }
  return page;
}

Result<InstanceStats> get_stats(Connection& db, const std::string& id) {
  InstanceKey key;
  ExecutionNo current;
  {
    Query row = db.query(Sql::kFindInstance, id);
    if (!row.next()) return no_instance(id);
    key = row.id<InstanceKey>(0);
    current = CheckedRow(row, "instances", {key.value}).id<ExecutionNo>(5);
  }
  InstanceStats stats;
  stats.executions = count(db.query(Sql::kCountExecutions, key));
  {
    Query row = db.query(Sql::kHistorySize, key, current);
    if (row.next()) {
      stats.events = row.integer(0);
      stats.history_bytes = row.integer(1);
    }
  }
  stats.queued_messages = count(db.query(Sql::kCountMessages, key));
  stats.work_rows = count(db.query(Sql::kCountWork, key));
  stats.children = count(db.query(Sql::kCountChildren, key));
  return stats;
}

}  // namespace perdure::sqlite
