#include "provider/sqlite/request_log.h"

#include <charconv>

#include "model/status.h"
#include "provider/client_requests.h"
#include "provider/run_requests.h"
#include "provider/sqlite/checked_row.h"
#include "provider/sqlite/rows.h"

namespace perdure::sqlite {

namespace {

/// A code of the enum that this kind of call answers with.
std::int64_t read_answer(const CheckedRow& row, int column, RequestKind kind) {
  switch (kind) {
    case RequestKind::kStart:
      return code(row.code<StartOutcome>(column));
    case RequestKind::kRaiseEvent:
    case RequestKind::kSignal:
      return code(row.code<EventDelivery>(column));
    case RequestKind::kCancel:
    case RequestKind::kTerminate:
      return code(row.code<ExecutionStatus>(column));
    case RequestKind::kDelete:
    case RequestKind::kDeleteEnded:
    case RequestKind::kPrune:
    case RequestKind::kUpdate:
    case RequestKind::kQuery:
      break;
  }
  return row.count(column);
}

std::string write_numbers(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) {
    text += (text.empty() ? "" : " ") + std::to_string(number);
  }
  return text;
}

std::vector<std::int64_t> read_numbers(const CheckedRow& row, int column, std::size_t count) {
  const std::string text = row.text(column);
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (!numbers.empty() && *at++ != ' ') row.refuse(column, "is no list of numbers");
    std::int64_t number = 0;
    const auto read = std::from_chars(at, end, number);
    if (read.ec != std::errc()) row.refuse(column, "is no list of numbers");
    numbers.push_back(number);
    at = read.ptr;
  }
  if (numbers.size() != count) {
    row.refuse(column, "holds another number of fields than the answer has");
  }
  return numbers;
}

}  // namespace

Result<std::optional<StoredAnswer>> find_answer(Connection& db,
                                                RequestKind kind,
                                                const std::string& request_id,
                                                std::size_t numbers) {
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
  if (numbers > 0) answer.numbers = read_numbers(row, 7, numbers);
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
                 context.now,
                 or_null(write_numbers(answer.numbers)),
                 add(context.now, kRepliesKeptFor));
}

void keep_numbers(WriteContext& context,
                  RequestKind kind,
                  const std::string& request_id,
                  std::vector<std::int64_t> numbers) {
  keep_answer(context, kind, request_id, {{}, {}, 0, true, 0, false, std::move(numbers)});
}

}  // namespace perdure::sqlite
