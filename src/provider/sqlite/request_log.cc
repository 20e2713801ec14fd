#include "provider/sqlite/request_log.h"

namespace perdure::sqlite {

Result<std::optional<StoredAnswer>> find_answer(Connection& db,
                                                RequestKind kind,
                                                const std::string& request_id) {
  if (request_id.empty()) return std::optional<StoredAnswer>();
  Query row = db.query(Sql::kFindRequest, request_id);
  if (!row.next()) return std::optional<StoredAnswer>();
  if (row.integer(0) != code(kind)) {
    return invalid_argument("request_id '" + request_id + "' was used for another kind of call");
  }
  StoredAnswer answer;
  answer.instance = row.id<InstanceKey>(1);
  answer.execution = row.id<ExecutionNo>(2);
  answer.answer = row.integer(3);
  answer.changed = row.flag(4);
  answer.reached = row.integer(5);
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
