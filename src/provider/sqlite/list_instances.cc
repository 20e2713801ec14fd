#include <algorithm>
#include <limits>
#include <set>

#include "provider/sqlite/management.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

namespace {

/// Rows that one page looks at.
constexpr std::size_t kScanned = 10'000;
/// UTF-8 has no such byte: behind every text that begins with what stands before it.
constexpr char kBehindAll = '\xff';

/// A code of a row that may be damaged; the first problem is kept.
template <StoredCode E>
E read_code(const Query& row, int column, std::string_view table, InstanceSummary& summary) {
  const auto value = row.is_integer(column) ? row.code<E>(column) : std::nullopt;
  if (value) return *value;
  if (!summary.problem) {
    summary.problem = corrupt("table " + std::string(table) + ", key " +
                              std::to_string(summary.key.value) + ": unknown code");
  }
  return E{};
}

/// A row of kSummaryOf, kListByKey and kListLive.
InstanceSummary read_summary(const Query& row) {
  InstanceSummary summary;
  summary.key = row.id<InstanceKey>(0);
  summary.id = row.text(1);
  summary.name = row.text(2);
  summary.version = row.text(3);
  summary.queue = row.text(4);
  summary.execution = row.id<ExecutionNo>(5);
  if (!row.is_null(6)) {
    summary.parent =
        ParentLink{.instance = row.id<InstanceKey>(6),
                   .execution = row.id<ExecutionNo>(7),
                   .event = row.id<EventId>(8),
                   .close_policy = read_code<ClosePolicy>(row, 9, "instances", summary)};
  }
  summary.created_at = row.time(10);
  summary.status = read_code<ExecutionStatus>(row, 11, "executions", summary);
  summary.blocked = read_code<BlockedReason>(row, 12, "executions", summary);
  summary.cancel_requested_at = row.optional_time(13);
  summary.started_at = row.time(14);
  summary.completed_at = row.optional_time(15);
  return summary;
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
    if (parent_) keys = few(db_.query(Sql::kChildKeys, *parent_, kScanned + 1));
    const std::string& prefix = request_.filter.id_prefix;
    if (!keys && !prefix.empty()) {
      keys = few(db_.query(Sql::kKeysByPrefix, prefix, prefix + kBehindAll, kScanned + 1));
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
    if (keys.size() > kScanned) return std::nullopt;
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
    Query row = db_.query(statement, before_, kScanned);
    while (row.next()) {
      ++looked_at;
      last = row.id<InstanceKey>(0);
      if (!take(read_summary(row))) return;
    }
    if (looked_at == kScanned) page_.next = ListCursor{last};
  }

  Connection& db_;
  const ListInstances& request_;
  const std::optional<InstanceKey> parent_;
  const std::int64_t before_;
  InstancePage page_;
};

std::optional<InstanceKey> find_key(Connection& db, const std::string& id) {
  Query row = db.query(Sql::kFindInstance, id);
  if (!row.next()) return std::nullopt;
  return row.id<InstanceKey>(0);
}

Error no_instance(const std::string& id) {
  return not_found("no instance '" + id + "'");
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
    auto execution = load_execution(db, *key, row.id<ExecutionNo>(0));
    if (execution) page.executions.push_back(std::move(execution->info));
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
    current = row.id<ExecutionNo>(5);
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
