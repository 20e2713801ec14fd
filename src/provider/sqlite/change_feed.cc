#include <algorithm>

#include "provider/sqlite/management.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

namespace {

std::optional<std::int64_t> single_number(Query row) {
  if (!row.next()) return std::nullopt;
  return row.optional_integer(0);
}

Change read_change(const Query& query) {
  Change change;
  change.seq = query.id<ChangeSeq>(0);
  const CheckedRow row(query, "changes", {change.seq.value});
  change.kind = row.code<ChangeKind>(1);
  change.instance = row.id<InstanceKey>(2);
  // Of another table, and only shown.
  change.id = query.text(3);
  change.execution = row.reference<ExecutionNo>(4);
  change.status = row.code<ExecutionStatus>(5);
  change.at = row.time(6);
  return change;
}

/// Up to `limit` rows after `after`; answers how many there were, readable or not, and moves
/// `after` behind them.
std::size_t read_rows(Connection& db, ChangeSeq& after, std::size_t limit, ChangePage& page) {
  std::size_t rows = 0;
  Query row = db.query(Sql::kReadChanges, after, limit);
  for (; row.next(); ++rows) {
    after = row.id<ChangeSeq>(0);
    try {
      page.changes.push_back(read_change(row));
    } catch (const SqliteError& error) {
      if (!is_corrupt(error)) throw;
      page.problems.push_back(to_error(error));
    }
  }
  return rows;
}

Status check(const TrimChanges& request) {
  if (!request.keep && !request.before) return invalid_argument("set keep or before");
  if (request.keep && *request.keep < 0) return invalid_argument("keep must not be negative");
  if (request.limit <= 0) return invalid_argument("limit must be at least 1");
  return {};
}

}  // namespace

ChangePage read_changes(Connection& db, ChangeSeq after, std::size_t limit) {
  ChangePage page;
  const auto oldest = single_number(db.query(Sql::kOldestChange));
  page.missed = oldest && after.value < *oldest - 1;
  limit = std::min(limit, kNoLimit);
  // A page of bad rows alone would give its reader no position to go on from.
  for (bool full = true; full && page.changes.size() <= limit;) {
    const std::size_t wanted = limit + 1 - page.changes.size();
    full = read_rows(db, after, wanted, page) == wanted;
  }
  page.more = page.changes.size() > limit;
  if (page.more) page.changes.pop_back();
  return page;
}

Result<ChangesTrimmed> trim_changes(WriteContext& context, const TrimChanges& request) {
  PERDURE_RETURN_IF_ERROR(check(request));
  ChangesTrimmed answer;
  const auto newest = single_number(context.db.query(Sql::kNewestChange));
  if (!newest) return answer;
  // Numbers are given without gaps, so the newest ones are counted by their numbers.
  const std::int64_t keep = std::clamp<std::int64_t>(request.keep.value_or(1), 1, *newest);
  const std::int64_t limit = std::min(request.limit, static_cast<std::int64_t>(kNoLimit));
  std::int64_t last = 0;
  {
    Query row = context.db.query(Sql::kChangeTimes, *newest - keep, limit + 1);
    while (row.next() && (!request.before || row.time(1) < *request.before)) {
      if (answer.trimmed == limit) {
        answer.more = true;
        break;
      }
      last = row.integer(0);
      ++answer.trimmed;
    }
  }
  if (answer.trimmed > 0) context.db.run(Sql::kTrimChanges, last);
  return answer;
}

}  // namespace perdure::sqlite
