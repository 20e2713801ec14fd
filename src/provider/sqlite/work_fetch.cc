#include <algorithm>

#include "provider/sqlite/lapse.h"
#include "provider/sqlite/operations.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

namespace {

/// A row on trial waits for a moment in which the process holds nothing; no commit tells of it.
constexpr Duration kTrialLook = std::chrono::seconds(1);

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

/// `further`: what the statement wants besides queue, name, limit and time.
template <class... Further>
std::vector<Candidate> candidates(WriteContext& context,
                                  Sql statement,
                                  const FetchWorkItems& request,
                                  std::size_t limit,
                                  Further... further) {
  std::vector<Candidate> found;
  if (limit == 0) return found;
  // A name that is listed twice must not claim a row twice.
  std::vector<std::string> names = request.names;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string& name : names) {
    Query row = context.db.query(statement, request.queue, name, limit, context.now, further...);
    while (row.next()) found.push_back({row.integer(1), row.id<WorkId>(0)});
  }
  std::sort(found.begin(), found.end());
  if (found.size() > limit) found.resize(limit);
  return found;
}

/// Until when the process claims nothing because it runs a row on trial. While it must not, that
/// row is the only one that it holds.
std::optional<TimePoint> trial_end(Connection& db, const FetchWorkItems& request) {
  Query row = db.query(Sql::kFirstClaim, request.epoch);
  if (!row.next() || !row.is_integer(0) || !row.is_integer(1)) return std::nullopt;
  const int losses = static_cast<int>(row.integer(0));
  if (!rules::is_on_trial(losses, request.max_losses)) return std::nullopt;
  return add(row.time(1), rules::trial_time(losses, request.max_losses));
}

struct Choice {
  std::vector<Candidate> rows;
  bool trial_waits = false;  ///< a row on trial stays behind
};

/// Higher priority first, then age. A row on trial that comes first is taken alone, or not at all
/// while the process holds something.
Choice choose(WriteContext& context, const FetchWorkItems& request) {
  const std::size_t free = request.tokens.size();
  const std::size_t suspects =
      std::min(static_cast<std::size_t>(std::max(request.max_suspects, 0)), free);
  Choice choice;
  choice.rows = candidates(context, Sql::kReadyWork, request, free);
  const auto suspect_rows =
      candidates(context, Sql::kSuspectWork, request, suspects, request.max_losses);
  choice.rows.insert(choice.rows.end(), suspect_rows.begin(), suspect_rows.end());
  std::sort(choice.rows.begin(), choice.rows.end());
  if (choice.rows.size() > free) choice.rows.resize(free);

  const auto trial = candidates(
      context, Sql::kTrialWork, request, std::min<std::size_t>(suspects, 1), request.max_losses);
  if (trial.empty()) return choice;
  const bool first = choice.rows.empty() || trial[0] < choice.rows[0];
  if (first && !holds_more(context.db, request.epoch)) return {trial, false};
  choice.trial_waits = true;
  return choice;
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

Result<FetchedWorkItems> fetch_work_items(WriteContext& context, const FetchWorkItems& request) {
  pass_failpoint("store.claim");
  PERDURE_RETURN_IF_ERROR(check_tokens(context.db, request.epoch, request.tokens));
  if (request.lock_for <= Duration::zero()) {
    return invalid_argument("lock_for must be greater than zero");
  }
  PERDURE_RETURN_IF_ERROR(check_max_losses(request.max_losses));
  promote_due(context, kPromoteAtOnce);
  free_lapsed(context, request.max_losses, kPromoteAtOnce);
  FetchedWorkItems answer;
  answer.now = context.now;
  const auto trial = trial_end(context.db, request);
  if (trial && *trial > context.now) {
    answer.next_at = trial;
    return answer;
  }
  const Choice choice = choose(context, request);
  std::size_t used = 0;
  for (const Candidate& row : choice.rows) {
    claim_row(context, row.id, request.tokens[used++], request, answer);
  }
  if (answer.items.size() == request.tokens.size()) return answer;
  Query next = context.db.query(Sql::kNextDelayed);
  if (next.next() && next.is_integer(0)) answer.next_at = next.time(0);
  if (choice.trial_waits) {
    const TimePoint look = add(context.now, kTrialLook);
    answer.next_at = answer.next_at ? std::min(*answer.next_at, look) : look;
  }
  return answer;
}

}  // namespace perdure::sqlite
