#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/decisions.h"
#include "model/request.h"
#include "model/status.h"
#include "provider/client_requests.h"
#include "provider/orchestration_requests.h"
#include "provider/run_requests.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/writer.h"

/// Rows of requests that the code of a run answers: updates and queries. One is open until its
/// final stage is written, and nothing is written to it any more after that. What writes requires
/// an open write transaction.
namespace perdure::sqlite {

/// The key of its row among all request ids: "update/7/id of the update".
std::string request_key(RequestKind kind, InstanceKey instance, const std::string& request);

/// A request that was made before, as it stands; nullopt: there is none. InvalidArgument when it
/// has another name, or its key is a request id of another call.
Result<std::optional<RequestState>> find_request(Connection& db,
                                                 RequestKind kind,
                                                 InstanceKey instance,
                                                 const std::string& request,
                                                 const std::string& name);

/// Brings what comes with a start to the execution, behind what it has already. Requires: it is
/// live, and an update is not known yet.
void deliver_with_start(WriteContext& context,
                        InstanceKey instance,
                        ExecutionNo execution,
                        const StartMessage& with);

/// What a turn says to requests. Those that are gone or final are left as they are.
void write_replies(WriteContext& context, InstanceKey instance, const std::vector<Reply>& replies);

/// The execution has ended for good: updates are answered, queries wait for a replay of it.
void close_requests_at_end(WriteContext& context,
                           const InstanceRow& instance,
                           ExecutionNo execution,
                           ExecutionStatus status);

/// It has continued as new: updates that it took and has not done are answered, the others wait for
/// the next one; those whose message is gone are sent again.
void close_requests_before_next(WriteContext& context, const InstanceRow& instance);

/// Messages of queries to the live run whose callers wait no more: no turn sees them. Requires: it
/// is not locked.
void drop_expired_queries(WriteContext& context, InstanceKey instance);

/// Rows that have expired, and what is left of them in queues; at most so many.
void drop_expired_requests(WriteContext& context, std::int64_t limit);

/// When the first of the queries that somebody has taken is free again.
std::optional<TimePoint> next_ended_query(Connection& db, TimePoint now);

/// Queries of an ended execution of the instance that were handed out with the token are free again
/// at that time. False: none is held by it any more.
bool give_back_ended_queries(WriteContext& context,
                             InstanceKey instance,
                             LockToken token,
                             TimePoint at);

/// Those that were handed out to a process that has ended are free again now.
void free_ended_queries(WriteContext& context, Epoch epoch);

/// A row that cannot be read: nobody gets it any more, and whoever waits is told.
void set_request_aside(WriteContext& context,
                       const std::string& key,
                       InstanceKey instance,
                       const std::string& problem);

/// Hands out queries of ended executions of the queue that are served and that nobody has taken, as
/// items behind those that are there: those of `most` executions, as far as there are tokens
/// (ended_queries.cc).
void take_ended_queries(WriteContext& context,
                        const FetchOrchestrationItems& request,
                        std::size_t most,
                        std::vector<OrchestrationItem>& items);

}  // namespace perdure::sqlite
