#include "provider/sqlite/request_log.h"

#include "model/status.h"
#include "provider/client_requests.h"
#include "provider/sqlite/checked_row.h"

namespace perdure::sqlite {

namespace {

/// A code of the enum that this kind of call answers with.
std::int64_t read_answer(const CheckedRow& row, int column, RequestKind kind) {
  switch (kind) {
    case RequestKind::kStart:
      return code(row.code<StartOutcome>(column));
    case RequestKind::kRaiseEvent:
      return code(row.code<EventDelivery>(column));
    case RequestKind::kCancel:
    case RequestKind::kTerminate:
      break;
  }
  return code(row.code<ExecutionStatus>(column));
}

}  // namespace

Result<std::optional<StoredAnswer>> find_answer(Connection& db,
                                                RequestKind kind,
                                                const std::string& request_id) {
  if (request_id.empty()) return std::optional<StoredAnswer>();
  Query query = db.query(Sql::kFindRequest, request_id);
  if (!query.next()) return std::optional<StoredAnswer>();
  const CheckedRow row(query, "requests", request_id);
  if (row.code<RequestKind>(0) != kind) {
    return invalid_argument("request_id '" + request_id + "' was used for another kind of call");
  }
  StoredAnswer answer;
  answer.instance = row.reference<InstanceKey>(1);
  answer.execution = row.reference<ExecutionNo>(2);
  answer.answer = read_answer(row, 3, kind);
  answer.changed = row.flag(4);
  answer.reached = row.count(5);
  answer.cascading = row.flag(6);
  return std::optional<StoredAnswer>(answer);
}

void keep_answer(WriteContext& context,
                 RequestKind kind,
                 const std::string& request_id,
                 const StoredAnswer& answer) {
  if (request_id.empty()) return;
  context.db.run(Sql::kInsertRequest,
                 request_id,
                 kind,
                 answer.instance,
                 answer.execution,
                 answer.answer,
                 answer.changed,
                 answer.reached,
                 answer.cascading,
                 context.now);
}

}  // namespace perdure::sqlite
