#include <algorithm>

#include "provider/sqlite/lapse.h"
#include "provider/sqlite/operations.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

namespace {

/// Bounds one fetch when very many rows fall due together; the next fetch goes on.
constexpr std::int64_t kPromoteAtOnce = 1'000;

struct Candidate {
  std::int64_t priority;
  WorkId id;

  /// Higher priority first, then the older row.
  bool operator<(const Candidate& other) const {
    return priority != other.priority ? priority > other.priority : id < other.id;
  }
};

std::vector<Candidate> candidates(Connection& db,
                                  Sql statement,
                                  const FetchWorkItems& request,
                                  std::size_t limit) {
  std::vector<Candidate> found;
  if (limit == 0) return found;
  // A name that is listed twice must not claim a row twice.
  std::vector<std::string> names = request.names;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string& name : names) {
    Query row = db.query(statement, request.queue, name, limit);
    while (row.next()) found.push_back({row.integer(1), row.id<WorkId>(0)});
  }
  std::sort(found.begin(), found.end());
  if (found.size() > limit) found.resize(limit);
  return found;
}

/// A row that cannot be read is set aside, so that it never stands in front of others.
void claim_row(WriteContext& context,
               WorkId id,
               LockToken token,
               const FetchWorkItems& request,
               FetchedWorkItems& answer) {
  const TimePoint until = add(context.now, request.lock_for);
  context.db.run(Sql::kClaimWork, id, token.epoch, token.serial, until, context.now);
  try {
    Query row = context.db.query(Sql::kLoadClaimed, id);
    if (!row.next()) throw_corrupt("worker_queue", {id.value}, "the row is missing");
    WorkItem item = read_work(row, id);
    item.lock = token;
    item.locked_until = until;
    answer.items.push_back(std::move(item));
    return;
  } catch (const SqliteError& error) {
    if (!is_corrupt(error)) throw;
    answer.problems.push_back(to_error(error));
  }
  context.db.run(Sql::kHoldWork, id);
}

}  // namespace

Result<FetchedWorkItems> fetch_work_items(WriteContext& context,
                                          const FetchWorkItems& request,
                                          const StoreSettings& settings) {
  PERDURE_RETURN_IF_ERROR(check_tokens(context.db, request.epoch, request.tokens));
  if (request.lock_for <= Duration::zero()) {
    return invalid_argument("lock_for must be greater than zero");
  }
  promote_due(context, kPromoteAtOnce);
  free_lapsed(context, settings.poison_after, kPromoteAtOnce);
  const std::size_t free = request.tokens.size();
  const auto suspects = static_cast<std::size_t>(std::max(request.max_suspects, 0));
  auto rows = candidates(context.db, Sql::kReadyWork, request, free);
  const auto suspect_rows =
      candidates(context.db, Sql::kSuspectWork, request, std::min(suspects, free));
  rows.insert(rows.end(), suspect_rows.begin(), suspect_rows.end());
  std::sort(rows.begin(), rows.end());
  if (rows.size() > free) rows.resize(free);

  FetchedWorkItems answer;
  answer.now = context.now;
  std::size_t used = 0;
  for (const Candidate& row : rows) {
    claim_row(context, row.id, request.tokens[used++], request, answer);
  }
  if (answer.items.size() < free) {
    Query next = context.db.query(Sql::kNextDelayed);
    if (next.next() && next.is_integer(0)) answer.next_at = next.time(0);
  }
  return answer;
}

}  // namespace perdure::sqlite
