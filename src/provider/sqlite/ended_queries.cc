#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "provider/sqlite/run_requests.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/turn_item.h"

namespace perdure::sqlite {

namespace {

using Served = std::set<std::pair<std::string, std::string>>;
using Ended = std::pair<InstanceKey, ExecutionNo>;

struct FoundQuery {
  std::string key;  ///< of its row
  Message message;
};

/// Those of one execution.
struct Found {
  std::vector<FoundQuery> queries;
  bool more = false;  ///< the limit cut the list
};

struct UnreadableQuery {
  std::string key;  ///< of its row
  InstanceKey instance;
  std::string problem;
};

/// What one look at the open queries has found.
struct FoundQueries {
  std::map<Ended, Found> of;
  std::vector<UnreadableQuery> unreadable;
};

Message read_query(const CheckedRow& row, const std::string& key, InstanceKey instance) {
  const std::string prefix = request_key(RequestKind::kQuery, instance, {});
  if (!key.starts_with(prefix)) row.refuse(0, "is not that of a query to the instance");
  Message message;
  message.kind = MessageKind::kQuery;
  message.name = row.name(3);
  message.payload = row.text(4);
  message.text = key.substr(prefix.size());
  message.visible_at = row.time(5);
  return message;
}

/// A row of Sql::kEndedQueries. False: there is no room for it.
bool take_row(const Query& query,
              const FetchOrchestrationItems& request,
              std::size_t room,
              FoundQueries& found) {
  const std::string key = query.text(0);
  const CheckedRow row(query, "requests", key);
  try {
    const Ended ended{row.id<InstanceKey>(1), row.id<ExecutionNo>(2)};
    if (found.of.size() >= room && !found.of.contains(ended)) return false;
    Message message = read_query(row, key, ended.first);
    Found& same = found.of[ended];
    same.more = same.queries.size() >= request.max_messages;
    if (!same.more) same.queries.push_back({key, std::move(message)});
  } catch (const SqliteError& error) {
    if (!is_corrupt(error)) throw;
    found.unreadable.push_back({key, query.id<InstanceKey>(1), error.what()});
  }
  return true;
}

bool is_among(const std::vector<OrchestrationItem>& items, const Query& row) {
  return std::ranges::any_of(items, [&](const OrchestrationItem& item) {
    return item.instance == row.id<InstanceKey>(1) && item.execution == row.id<ExecutionNo>(2);
  });
}

/// Of executions that are not among the items: one execution is one item.
FoundQueries find_queries(WriteContext& context,
                          const FetchOrchestrationItems& request,
                          std::size_t room,
                          const std::vector<OrchestrationItem>& items) {
  Served served;
  for (const ServedOrchestration& each : request.served) served.emplace(each.name, each.version);
  FoundQueries found;
  Query row = context.db.query(Sql::kEndedQueries, request.queue, context.now);
  while (row.next()) {
    if (!served.contains({row.text(6), row.text(7)}) || is_among(items, row)) continue;
    if (!take_row(row, request, room, found)) break;
  }
  return found;
}

void describe_ended(Connection& db, OrchestrationItem& item) {
  // In case that it cannot be read: whoever gets the item must know that there is no lock.
  item.status = ExecutionStatus::kCompleted;
  try {
    describe_item(db, item, item.execution);
    if (!is_terminal(item.status)) {
      throw_corrupt("executions",
                    {item.instance.value, item.execution.value},
                    "it has not ended, and a query waits for its end no more");
    }
  } catch (const SqliteError& error) {
    if (!is_corrupt(error)) throw;
    item.problem = to_error(error);
    item.status = ExecutionStatus::kCompleted;
  }
}

OrchestrationItem hand_out(
    WriteContext& context, const Ended& ended, Found found, LockToken token, TimePoint until) {
  OrchestrationItem item;
  item.instance = ended.first;
  item.execution = ended.second;
  item.lock = token;
  item.locked_until = until;
  item.more_messages = found.more;
  for (FoundQuery& query : found.queries) {
    context.db.run(Sql::kTakeQuery, query.key, until, token.epoch, token.serial);
    item.messages.push_back(std::move(query.message));
  }
  std::ranges::stable_sort(item.messages, {}, &Message::visible_at);
  describe_ended(context.db, item);
  return item;
}

}  // namespace

std::optional<TimePoint> next_ended_query(Connection& db, TimePoint now) {
  Query row = db.query(Sql::kNextEndedQuery, now);
  if (!row.next() || !row.is_integer(0)) return std::nullopt;
  return row.time(0);
}

bool give_back_ended_queries(WriteContext& context,
                             InstanceKey instance,
                             LockToken token,
                             TimePoint at) {
  return context.db.run(Sql::kGiveBackQueries, instance, token.epoch, token.serial, at) > 0;
}

void free_ended_queries(WriteContext& context, Epoch epoch) {
  {
    Query row = context.db.query(Sql::kQueuesOfQueries, epoch);
    while (row.next()) context.topics.instances(row.text(0));
  }
  context.db.run(Sql::kFreeQueriesOfEpoch, epoch);
}

void take_ended_queries(WriteContext& context,
                        const FetchOrchestrationItems& request,
                        std::size_t most,
                        std::vector<OrchestrationItem>& items) {
  const std::size_t room = std::min(most, request.tokens.size() - items.size());
  if (room == 0) return;
  FoundQueries found = find_queries(context, request, room, items);
  for (const UnreadableQuery& each : found.unreadable) {
    set_request_aside(context, each.key, each.instance, each.problem);
  }
  const TimePoint until = add(context.now, request.lock_for);
  for (auto& [ended, same] : found.of) {
    items.push_back(hand_out(context, ended, std::move(same), request.tokens[items.size()], until));
  }
}

}  // namespace perdure::sqlite
