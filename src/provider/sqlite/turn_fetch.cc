#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <tuple>

#include "provider/sqlite/operations.h"
#include "provider/sqlite/outbox.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/run_requests.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/turn_item.h"

namespace perdure::sqlite {

namespace {

/// Of payloads in one item; the rest follows in the next turn.
constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

struct DueInstance {
  std::int64_t priority;
  TimePoint due;
  InstanceKey key;

  /// Higher priority first, then by time.
  bool operator<(const DueInstance& other) const {
    return std::tie(other.priority, due, key) < std::tie(priority, other.due, other.key);
  }
};

/// Calls `look(priority)` for every priority that an unlocked instance has, the highest first,
/// until it answers false. Each is one step down the index.
template <class Look>
void each_priority(Connection& db,
                   const std::string& queue,
                   const ServedOrchestration& served,
                   const Look& look) {
  for (std::int64_t below = std::numeric_limits<std::int64_t>::max();;) {
    {
      Query row = db.query(Sql::kNextPriority, queue, served.name, served.version, below);
      if (!row.next()) return;
      below = row.integer(0);
    }
    if (!look(below)) return;
  }
}

std::vector<DueInstance> due_instances(WriteContext& context,
                                       const FetchOrchestrationItems& request) {
  std::vector<DueInstance> due;
  for (const ServedOrchestration& served : request.served) {
    std::size_t wanted = request.tokens.size();
    each_priority(context.db, request.queue, served, [&](std::int64_t priority) {
      Query row = context.db.query(Sql::kDueInstances,
                                   request.queue,
                                   served.name,
                                   served.version,
                                   priority,
                                   context.now,
                                   wanted);
      while (row.next()) {
        due.push_back({priority, row.time(1), row.id<InstanceKey>(0)});
        --wanted;
      }
      return wanted > 0;
    });
  }
  {
    Query row =
        context.db.query(Sql::kDuePastCleanup, request.queue, context.now, request.tokens.size());
    while (row.next()) {
      due.push_back({row.integer(2), row.time(1), row.id<InstanceKey>(0)});
    }
  }
  std::sort(due.begin(), due.end());
  // A name may have been listed twice, and one that is served be past its cleanup.
  std::set<InstanceKey> seen;
  std::erase_if(due, [&](const DueInstance& each) { return !seen.insert(each.key).second; });
  if (due.size() > request.tokens.size()) due.resize(request.tokens.size());
  return due;
}

/// Lines that no fetch would find by their time. They come behind the others and share their slots.
std::vector<InstanceKey> damaged_lines(WriteContext& context,
                                       const FetchOrchestrationItems& request,
                                       std::size_t limit) {
  std::vector<InstanceKey> found;
  for (const ServedOrchestration& served : request.served) {
    if (found.size() >= limit) break;
    Query row = context.db.query(
        Sql::kDamagedLines, request.queue, served.name, served.version, limit - found.size());
    while (row.next()) found.push_back(row.id<InstanceKey>(0));
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::optional<TimePoint> next_due(Connection& db, const FetchOrchestrationItems& request) {
  std::optional<TimePoint> next;
  for (const ServedOrchestration& served : request.served) {
    each_priority(db, request.queue, served, [&](std::int64_t priority) {
      Query row = db.query(Sql::kDueInstances,
                           request.queue,
                           served.name,
                           served.version,
                           priority,
                           TimePoint::max(),
                           1);
      if (row.next() && (!next || row.time(1) < *next)) next = row.time(1);
      return true;
    });
  }
  Query row = db.query(Sql::kDuePastCleanup, request.queue, TimePoint::max(), 1);
  if (row.next() && (!next || row.time(1) < *next)) next = row.time(1);
  return next;
}

/// When the first lock that was taken before ends by itself, should its holder not do it.
std::optional<TimePoint> next_lock_end(Connection& db) {
  Query row = db.query(Sql::kNextLockEnd);
  if (!row.next() || !row.is_integer(0)) return std::nullopt;
  return row.time(0);
}

void take_message(const Query& row, OrchestrationItem& item, std::vector<MessageId>& ids) {
  ids.push_back(row.id<MessageId>(0));
  try {
    item.messages.push_back(read_message(row));
  } catch (const SqliteError& error) {
    if (!is_corrupt(error)) throw;
    item.problem = to_error(error);
  }
}

/// Reads and marks the visible messages. A row that cannot be read is marked like the others and
/// becomes the item's problem.
void take_messages(WriteContext& context, std::size_t limit, OrchestrationItem& item) {
  limit = std::min(limit, kNoLimit);
  std::vector<MessageId> ids;
  std::size_t bytes = 0;
  {
    Query row = context.db.query(Sql::kVisibleMessages, item.instance, context.now, limit + 1);
    while (row.next()) {
      if (ids.size() == limit || bytes > kMostBytes) {
        item.more_messages = true;
        break;
      }
      take_message(row, item, ids);
      if (!item.messages.empty()) bytes += item.messages.back().payload.size();
    }
  }
  if (!item.more_messages) {
    context.db.run(
        Sql::kMarkVisible, item.instance, context.now, item.lock.epoch, item.lock.serial);
    return;
  }
  // A cancel is the newest message and must not wait behind the cut: every commit without it would
  // be refused.
  const bool has_cancel = std::any_of(item.messages.begin(),
                                      item.messages.end(),
                                      [](const auto& m) { return m.kind == MessageKind::kCancel; });
  if (!has_cancel) {
    Query row = context.db.query(Sql::kVisibleCancel, item.instance, context.now);
    if (row.next()) take_message(row, item, ids);
  }
  for (MessageId id : ids) context.db.run(Sql::kMarkMessage, id, item.lock.epoch, item.lock.serial);
}

/// No marked message becomes visible later than this, so that a commit need not look at all of a
/// long queue.
TimePoint marked_until(const OrchestrationItem& item, TimePoint now) {
  if (!item.more_messages || item.messages.empty() || item.problem) return now;
  return item.messages.back().visible_at;
}

std::optional<Error> problem_of(const QueueHead& head) {
  if (!head.unreadable) return std::nullopt;
  return corrupt("table orchestrator_queue, key " + std::to_string(head.unreadable->value) +
                 ": visible_at is no integer");
}

/// Locks one instance; nullopt when it turned out to have no visible message.
std::optional<OrchestrationItem> lock_instance(WriteContext& context,
                                               InstanceKey key,
                                               LockToken token,
                                               const FetchOrchestrationItems& request) {
  drop_expired_queries(context, key);
  const QueueHead head = queue_head(context.db, key);
  const auto due = head.due();
  const auto ready = load_ready(context.db, key);
  if (!due || *due > context.now) {
    // Its messages were deleted (a dropped timer), or the line is damaged: it is set right instead.
    const bool damaged = ready && ready->problem;
    if (damaged) {
      context.db.run(Sql::kUnlockAfterAbandon, key, TimePoint{}, 0, 0, due);
    } else {
      context.db.run(Sql::kLowerReady, key, due);
    }
    return std::nullopt;
  }
  OrchestrationItem item;
  item.instance = key;
  item.lock = token;
  item.locked_until = add(context.now, request.lock_for);
  item.losses = ready ? ready->losses : 0;
  item.deferrals = ready ? ready->deferrals : 0;
  if (ready) item.cleanup_at = ready->cleanup_at;
  item.problem = problem_of(head);
  if (ready && ready->problem) item.problem = ready->problem;
  take_messages(context, request.max_messages, item);
  context.db.run(Sql::kLockInstance,
                 key,
                 token.epoch,
                 token.serial,
                 item.locked_until,
                 context.now,
                 marked_until(item, context.now));
  try {
    describe_item(context.db, item);
  } catch (const SqliteError& error) {
    if (!is_corrupt(error)) throw;
    item.problem = to_error(error);
  }
  return item;
}

}  // namespace

Result<FetchedOrchestrationItems> fetch_orchestration_items(
    WriteContext& context, const FetchOrchestrationItems& request) {
  pass_failpoint("store.fetch");
  PERDURE_RETURN_IF_ERROR(check_tokens(context.db, request.epoch, request.tokens));
  if (request.lock_for <= Duration::zero()) {
    return invalid_argument("lock_for must be greater than zero");
  }
  if (request.max_messages == 0) return invalid_argument("max_messages must be at least 1");
  {
    Query freed = context.db.query(Sql::kFreeExpiredLocks, context.now);
    while (freed.next()) context.topics.instances(freed.text(0));
  }
  FetchedOrchestrationItems answer;
  answer.now = context.now;
  const std::optional<TimePoint> lock_end = next_lock_end(context.db);
  // One token is for them first: live runs may have a turn for each of the others, always.
  take_ended_queries(context, request, 1, answer.items);
  for (const DueInstance& due : due_instances(context, request)) {
    if (answer.items.size() == request.tokens.size()) break;
    auto item = lock_instance(context, due.key, request.tokens[answer.items.size()], request);
    if (item) answer.items.push_back(std::move(*item));
  }
  const std::size_t free = request.tokens.size() - answer.items.size();
  for (const InstanceKey key : damaged_lines(context, request, free)) {
    auto item = lock_instance(context, key, request.tokens[answer.items.size()], request);
    if (item) answer.items.push_back(std::move(*item));
  }
  take_ended_queries(context, request, request.tokens.size(), answer.items);
  if (answer.items.size() < request.tokens.size()) {
    answer.next_at = next_due(context.db, request);
    for (const auto& other : {lock_end, next_ended_query(context.db, context.now)}) {
      if (other) answer.next_at = std::min(answer.next_at.value_or(*other), *other);
    }
  }
  return answer;
}

}  // namespace perdure::sqlite
