#include "provider/sqlite/run_requests.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/log.h"
#include "provider/rules/start_rule.h"
#include "provider/sqlite/operations.h"
#include "provider/sqlite/outbox.h"
#include "provider/sqlite/reads.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

namespace {

/// Column `open` of a row; 0 when nothing is to be done.
enum class Open : std::uint8_t { kForTurn = 1, kForReplay = 2 };

MessageKind message_of(RequestKind kind) {
  switch (kind) {
    case RequestKind::kUpdate:
      return MessageKind::kUpdate;
    case RequestKind::kQuery:
      return MessageKind::kQuery;
    default:
      return MessageKind::kSignal;
  }
}

/// A row of Sql::kLoadRunRequest, of this instance.
RequestState read_state(const CheckedRow& row, InstanceKey instance) {
  RequestState state;
  state.instance = instance;
  if (row.id<InstanceKey>(1) != instance) row.refuse(1, "is not that of its key");
  static_cast<void>(row.id<ExecutionNo>(2));
  static_cast<void>(row.name(3));
  state.stage = row.code<RequestStage>(4);
  if (!is_final(state.stage) && row.integer(5) == 0) {
    row.refuse(5, "is 0, but there is no reply: the request was set aside");
  }
  state.reply = row.text(6);
  state.failure = row.failure(7);
  return state;
}

/// Puts a message into the queue of a live run, in the order of `at`, and answers its id. Throws
/// when its line cannot be read.
MessageId send_to(WriteContext& context, InstanceKey to, const StartMessage& content, TimePoint at) {
  check_line(context.db, to);
  Message message;
  message.kind = message_of(content.kind);
  message.name = content.name;
  message.payload = content.payload;
  if (content.kind != RequestKind::kSignal) message.text = content.request;
  message.visible_at = at;
  if (!enqueue(context, to, message)) {
    throw_corrupt("instance_ready", {to.value}, "the row is missing");
  }
  return MessageId{context.db.last_insert_id()};
}

void insert_row(WriteContext& context,
                InstanceKey instance,
                ExecutionNo execution,
                const StartMessage& content,
                Open open,
                MessageId message,
                std::optional<TimePoint> expires_at) {
  context.db.run(Sql::kInsertRunRequest,
                 request_key(content.kind, instance, content.request),
                 content.kind,
                 instance,
                 execution,
                 RequestStage::kWaiting,
                 content.name,
                 or_null(content.payload),
                 static_cast<int>(open),
                 expires_at,
                 context.now,
                 message);
}

void write_reply(WriteContext& context, InstanceKey instance, const Reply& reply) {
  const std::string key = request_key(reply.kind, instance, reply.request);
  if (!is_final(reply.stage)) {
    context.db.run(Sql::kAcceptRequest, key);
    return;
  }
  std::optional<TimePoint> expires_at;
  if (reply.kind == RequestKind::kUpdate) expires_at = add(context.now, kRepliesKeptFor);
  context.db.run(Sql::kAnswerRequest,
                 key,
                 reply.stage,
                 or_null(reply.payload),
                 or_null(reply.failure.type),
                 or_null(reply.failure.message),
                 reply.failure.retryable,
                 or_null(reply.failure.details),
                 context.now,
                 expires_at);
}

bool has_open_requests(Connection& db, InstanceKey instance) {
  return db.query(Sql::kHasOpenRequests, instance).next();
}

/// Those that a turn has taken, or those that none has.
void close_updates(WriteContext& context,
                   InstanceKey instance,
                   bool taken,
                   const std::string& message) {
  context.db.run(Sql::kCloseUpdates,
                 instance,
                 taken,
                 taken ? RequestStage::kCut : RequestStage::kRefused,
                 kRunEndedFailure,
                 message,
                 context.now,
                 add(context.now, kRepliesKeptFor));
}

/// Ids of updates whose message waits. One look at the queue, however many are asked for.
std::unordered_set<std::string> queued_updates(Connection& db, InstanceKey instance) {
  std::unordered_set<std::string> found;
  Query row = db.query(Sql::kQueuedUpdates, instance);
  while (row.next()) found.insert(row.text(0));
  return found;
}

struct HeldUpdate {
  TimePoint at{};
  MessageId message;  ///< by which it first came
  StartMessage content;
};

struct UnreadableUpdate {
  std::string key;  ///< of its row
  std::string problem;
};

struct HeldUpdates {
  std::vector<HeldUpdate> found;
  std::vector<UnreadableUpdate> unreadable;
};

HeldUpdates find_held_updates(Connection& db, InstanceKey instance) {
  const std::size_t prefix = request_key(RequestKind::kUpdate, instance, {}).size();
  const std::unordered_set<std::string> queued = queued_updates(db, instance);
  HeldUpdates held;
  Query query = db.query(Sql::kHeldUpdates, instance);
  while (query.next()) {
    const std::string key = query.text(0);
    if (key.size() > prefix && queued.contains(key.substr(prefix))) continue;
    const CheckedRow row(query, "requests", key);
    try {
      held.found.push_back(
          {row.time(3),
           query.id<MessageId>(4),
           StartMessage{RequestKind::kUpdate, row.name(1), row.text(2), key.substr(prefix)}});
    } catch (const SqliteError& error) {
      if (!is_corrupt(error)) throw;
      held.unreadable.push_back({key, error.what()});
    }
  }
  return held;
}

/// Updates whose message a turn has consumed and not answered, because main continues as new: the
/// next execution gets them, before those that were made later. One that cannot be read is set
/// aside: as a message it would block the run.
void send_held_updates(WriteContext& context, InstanceKey instance) {
  HeldUpdates held = find_held_updates(context.db, instance);
  for (const UnreadableUpdate& each : held.unreadable) {
    set_request_aside(context, each.key, instance, each.problem);
  }
  // Those of one group of commits have one time: their first messages tell them apart.
  std::ranges::sort(held.found, [](const HeldUpdate& a, const HeldUpdate& b) {
    return std::tie(a.at, a.message) < std::tie(b.at, b.message);
  });
  for (const HeldUpdate& each : held.found) send_to(context, instance, each.content, each.at);
}

}  // namespace

std::string request_key(RequestKind kind, InstanceKey instance, const std::string& request) {
  return std::string(to_string(kind)) + "/" + std::to_string(instance.value) + "/" + request;
}

Result<std::optional<RequestState>> find_request(Connection& db,
                                                 RequestKind kind,
                                                 InstanceKey instance,
                                                 const std::string& request,
                                                 const std::string& name) {
  const std::string key = request_key(kind, instance, request);
  Query query = db.query(Sql::kLoadRunRequest, key);
  if (!query.next()) return std::optional<RequestState>();
  const CheckedRow row(query, "requests", key);
  if (row.code<RequestKind>(0) != kind) {
    return invalid_argument("request '" + request + "': '" + key +
                            "' is the request_id of another call");
  }
  const std::string before = row.name(3);
  if (before != name) {
    return invalid_argument("request '" + request + "' was made to '" + before +
                            "' before: take another id for '" + name + "'");
  }
  return std::optional<RequestState>(read_state(row, instance));
}

Result<RequestState> make_request(WriteContext& context, const MakeRequest& request) {
  PERDURE_RETURN_IF_ERROR(rules::check(request));
  const auto instance = find_instance(context.db, request.id);
  if (!instance) return not_found("no instance '" + request.id + "'");
  PERDURE_ASSIGN_OR_RETURN(
      const auto before,
      find_request(context.db, request.kind, instance->key, request.request, request.name));
  if (before) return *before;

  const ExecutionStatus status = load_current(context.db, *instance).info.status;
  const bool is_query = request.kind == RequestKind::kQuery;
  const bool ended = is_terminal(status);
  if (ended && !is_query) {
    return conflict("run '" + request.id + "' has ended: " + std::string(to_string(status)));
  }
  const StartMessage content{request.kind, request.name, request.payload, request.request};
  std::optional<TimePoint> expires_at;
  if (is_query) expires_at = add(context.now, request.expires_after);
  MessageId message;
  if (ended) {
    context.topics.instances(instance->queue);
  } else {
    message = send_to(context, instance->key, content, context.now);
  }
  insert_row(context,
             instance->key,
             instance->current,
             content,
             ended ? Open::kForReplay : Open::kForTurn,
             message,
             expires_at);
  RequestState state;
  state.instance = instance->key;
  return state;
}

Result<RequestState> get_request(Connection& db, const RequestQuery& query) {
  const std::string key = request_key(query.kind, query.instance, query.request);
  Query found = db.query(Sql::kLoadRunRequest, key);
  if (!found.next()) return not_found("no request '" + key + "'");
  const CheckedRow row(found, "requests", key);
  if (row.code<RequestKind>(0) != query.kind) return not_found("no request '" + key + "'");
  return read_state(row, query.instance);
}

void deliver_with_start(WriteContext& context,
                        InstanceKey instance,
                        ExecutionNo execution,
                        const StartMessage& with) {
  const MessageId message = send_to(context, instance, with, context.now);
  if (with.kind == RequestKind::kUpdate) {
    insert_row(context, instance, execution, with, Open::kForTurn, message, std::nullopt);
  }
}

void write_replies(WriteContext& context, InstanceKey instance, const std::vector<Reply>& replies) {
  for (const Reply& reply : replies) write_reply(context, instance, reply);
  if (!replies.empty()) context.topics.run(instance);
}

void set_request_aside(WriteContext& context,
                       const std::string& key,
                       InstanceKey instance,
                       const std::string& problem) {
  log::warning("a request to a run cannot be read and is set aside", {{"error", problem}});
  context.db.run(Sql::kSetRequestAside, key);
  context.topics.run(instance);
}

void close_requests_at_end(WriteContext& context,
                           const InstanceRow& instance,
                           ExecutionNo execution,
                           ExecutionStatus status) {
  // Most runs have none.
  if (!has_open_requests(context.db, instance.key)) return;
  const std::string ended = "run '" + instance.id + "' ended as " + std::string(to_string(status)) +
                            " before the update ";
  close_updates(context, instance.key, false, ended + "was taken");
  close_updates(context, instance.key, true, ended + "was done");
  if (context.db.run(Sql::kHandOverQueries, instance.key, execution) > 0) {
    context.topics.instances(instance.queue);
  }
}

void close_requests_before_next(WriteContext& context, const InstanceRow& instance) {
  if (!has_open_requests(context.db, instance.key)) return;
  close_updates(context,
                instance.key,
                true,
                "run '" + instance.id + "' continued as new before the update was done");
  send_held_updates(context, instance.key);
}

void drop_expired_queries(WriteContext& context, InstanceKey instance) {
  context.db.run(Sql::kDropExpiredQueries, instance, context.now);
}

void drop_expired_requests(WriteContext& context, std::int64_t limit) {
  std::vector<std::pair<MessageId, InstanceKey>> messages;
  {
    Query row = context.db.query(Sql::kDropExpiredRequests, context.now, limit);
    while (row.next()) {
      if (row.integer(0) != static_cast<int>(Open::kForTurn)) continue;
      messages.emplace_back(row.id<MessageId>(2), row.id<InstanceKey>(1));
    }
  }
  for (const auto& [message, instance] : messages) {
    context.db.run(Sql::kDropQueryMessage, message, instance);
  }
}

}  // namespace perdure::sqlite
