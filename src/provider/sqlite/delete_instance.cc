#include <algorithm>
#include <set>

#include "provider/rules/start_rule.h"
#include "provider/sqlite/management.h"
#include "provider/sqlite/removal.h"
#include "provider/sqlite/request_log.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

namespace {

constexpr std::size_t kMostIds = 1'000;
/// Ended executions that one bulk delete looks at.
constexpr std::int64_t kScannedEnds = 1'000;

/// What a delete needs of an instance. Not more: one that is damaged elsewhere can be deleted.
struct Candidate {
  InstanceKey key;
  ExecutionNo current;
  std::optional<InstanceKey> parent;
};

/// A row of Sql::kFindInstance or Sql::kLoadInstance.
std::optional<Candidate> read_candidate(Query row) {
  if (!row.next()) return std::nullopt;
  Candidate candidate{row.id<InstanceKey>(0), row.id<ExecutionNo>(5), std::nullopt};
  if (row.is_integer(6)) candidate.parent = row.id<InstanceKey>(6);
  return candidate;
}

std::optional<Candidate> find(Connection& db, const std::string& id) {
  return read_candidate(db.query(Sql::kFindInstance, id));
}

std::optional<Candidate> load(Connection& db, InstanceKey key) {
  return read_candidate(db.query(Sql::kLoadInstance, key));
}

/// The parent of a child; nullopt for a root. An instance that became a child of its own descendant
/// (its id was used again) is a root too, or nobody could delete that ring.
std::optional<InstanceKey> parent_of(Connection& db, const Candidate& candidate) {
  if (!candidate.parent) return std::nullopt;
  std::set<InstanceKey> seen;
  std::optional<InstanceKey> next = candidate.parent;
  while (next && seen.insert(*next).second) {
    const auto ancestor = load(db, *next);
    if (!ancestor) break;
    if (ancestor->key == candidate.key) return std::nullopt;
    next = ancestor->parent;
  }
  return load(db, *candidate.parent) ? candidate.parent : std::nullopt;
}

std::optional<InstanceKey> live_in_tree(Connection& db, InstanceKey key) {
  Query row = db.query(Sql::kLiveInTree, key);
  if (!row.next()) return std::nullopt;
  return row.id<InstanceKey>(0);
}

std::string name_of(Connection& db, InstanceKey key) {
  Query row = db.query(Sql::kLoadInstance, key);
  return row.next() ? "'" + row.text(1) + "'" : "with key " + std::to_string(key.value);
}

bool applies(Connection& db, const Candidate& candidate, const DeleteInstances& request) {
  Query row = db.query(Sql::kEndOfExecution, candidate.key, candidate.current);
  if (!row.next()) return false;
  const auto status = row.code<ExecutionStatus>(0);
  if (!status || !is_terminal(*status)) return false;
  if (!request.statuses.empty() &&
      std::find(request.statuses.begin(), request.statuses.end(), *status) ==
          request.statuses.end()) {
    return false;
  }
  const auto completed_at = row.optional_time(1);
  return !request.completed_before || (completed_at && *completed_at < *request.completed_before);
}

void delete_root(WriteContext& context,
                 const Candidate& candidate,
                 Remover& remover,
                 InstancesDeleted& answer) {
  if (parent_of(context.db, candidate)) return;
  if (live_in_tree(context.db, candidate.key)) {
    ++answer.skipped;
    return;
  }
  remover.delete_instance(candidate.key, candidate.current, false);
  ++answer.roots;
}

void delete_by_ids(WriteContext& context,
                   const DeleteInstances& request,
                   Remover& remover,
                   InstancesDeleted& answer) {
  for (const std::string& id : request.ids) {
    const auto candidate = find(context.db, id);
    if (!candidate || !applies(context.db, *candidate, request)) continue;
    delete_root(context, *candidate, remover, answer);
  }
}

std::vector<BulkCursor> ended_executions(Connection& db, const DeleteInstances& request) {
  const BulkCursor after =
      request.after.value_or(BulkCursor{TimePoint::min(), InstanceKey{}, ExecutionNo{}});
  std::vector<BulkCursor> found;
  Query row = db.query(Sql::kEndedExecutions,
                       *request.completed_before,
                       after.completed_at,
                       after.instance,
                       after.execution,
                       kScannedEnds);
  while (row.next()) {
    found.push_back({row.time(0), row.id<InstanceKey>(1), row.id<ExecutionNo>(2)});
  }
  return found;
}

void delete_by_age(WriteContext& context,
                   const DeleteInstances& request,
                   Remover& remover,
                   InstancesDeleted& answer) {
  const auto found = ended_executions(context.db, request);
  for (const BulkCursor& ended : found) {
    if (answer.roots >= request.max_roots || remover.exhausted()) return;
    answer.next = ended;
    const auto candidate = load(context.db, ended.instance);
    if (!candidate || candidate->current != ended.execution) continue;
    if (!applies(context.db, *candidate, request)) continue;
    delete_root(context, *candidate, remover, answer);
    // History is by far the most: it counts before the next root is begun.
    remover.carry_on();
  }
  if (static_cast<std::int64_t>(found.size()) < kScannedEnds) answer.next.reset();
}

Status check(const DeleteInstances& request) {
  if (request.ids.empty() && !request.completed_before) {
    return invalid_argument("set ids or completed_before: nothing is deleted by an empty filter");
  }
  if (request.ids.size() > kMostIds) return invalid_argument("ids: at most 1,000 at once");
  if (request.limit <= 0) return invalid_argument("limit must be at least 1");
  if (request.max_roots <= 0) return invalid_argument("max_roots must be at least 1");
  for (ExecutionStatus status : request.statuses) {
    if (!is_terminal(status)) {
      return invalid_argument("statuses: " + std::string(to_string(status)) +
                              " is not an end; only ended runs are deleted in bulk");
    }
  }
  return rules::check_request_id(request.request_id);
}

InstanceDeleted deleted_before(const std::vector<std::int64_t>& numbers) {
  InstanceDeleted answer;
  answer.instances = numbers[0];
  answer.events = numbers[1];
  answer.removing = numbers[2] != 0;
  return answer;
}

std::vector<std::int64_t> numbers_of(const InstancesDeleted& answer) {
  const BulkCursor next = answer.next.value_or(BulkCursor{});
  return {answer.roots,
          answer.descendants,
          answer.skipped,
          answer.events,
          answer.removing ? 1 : 0,
          answer.next ? 1 : 0,
          to_micros(next.completed_at),
          next.instance.value,
          next.execution.value};
}

/// The inverse of `numbers_of`.
InstancesDeleted ended_deleted_before(const std::vector<std::int64_t>& numbers) {
  InstancesDeleted answer;
  answer.roots = numbers[0];
  answer.descendants = numbers[1];
  answer.skipped = numbers[2];
  answer.events = numbers[3];
  answer.removing = numbers[4] != 0;
  if (numbers[5] != 0) {
    answer.next = {time_from_micros(numbers[6]), InstanceKey{numbers[7]}, ExecutionNo{numbers[8]}};
  }
  return answer;
}

}  // namespace

Result<InstanceDeleted> delete_instance(WriteContext& context, const DeleteInstance& request) {
  pass_failpoint("store.delete");
  if (request.limit <= 0) return invalid_argument("limit must be at least 1");
  PERDURE_RETURN_IF_ERROR(rules::check_request_id(request.request_id));
  PERDURE_ASSIGN_OR_RETURN(const auto before,
                           find_answer(context.db, RequestKind::kDelete, request.request_id, 3));
  if (before) return deleted_before(before->numbers);
  const auto candidate = find(context.db, request.id);
  if (!candidate) return not_found("no instance '" + request.id + "'");
  if (const auto parent = parent_of(context.db, *candidate)) {
    return conflict("instance '" + request.id + "' is a child of instance " +
                    name_of(context.db, *parent) + ": delete that one");
  }
  if (!request.force) {
    if (const auto live = live_in_tree(context.db, candidate->key)) {
      return conflict("instance " + name_of(context.db, *live) +
                      " has not ended: cancel or terminate it first, or delete with force");
    }
  }
  Remover remover(context, request.limit);
  remover.delete_instance(candidate->key, candidate->current, request.force);
  InstanceDeleted answer;
  answer.removing = !remover.carry_on();
  answer.instances = remover.instances;
  answer.events = remover.events;
  answer.touched = std::move(remover.touched);
  keep_numbers(context,
               RequestKind::kDelete,
               request.request_id,
               {answer.instances, answer.events, answer.removing ? 1 : 0});
  return answer;
}

Result<InstancesDeleted> delete_instances(WriteContext& context, const DeleteInstances& request) {
  PERDURE_RETURN_IF_ERROR(check(request));
  PERDURE_ASSIGN_OR_RETURN(
      const auto before, find_answer(context.db, RequestKind::kDeleteEnded, request.request_id, 9));
  if (before) return ended_deleted_before(before->numbers);
  Remover remover(context, request.limit);
  InstancesDeleted answer;
  if (request.ids.empty()) {
    delete_by_age(context, request, remover, answer);
  } else {
    delete_by_ids(context, request, remover, answer);
  }
  answer.removing = !remover.carry_on();
  answer.descendants = remover.instances - answer.roots;
  answer.events = remover.events;
  answer.touched = std::move(remover.touched);
  keep_numbers(context, RequestKind::kDeleteEnded, request.request_id, numbers_of(answer));
  return answer;
}

Result<RemovalsCarriedOn> carry_on_removals(WriteContext& context, const CarryOnRemovals& request) {
  if (request.limit <= 0) return invalid_argument("limit must be at least 1");
  Remover remover(context, request.limit);
  RemovalsCarriedOn answer;
  answer.removing = !remover.carry_on_stored();
  answer.problems = std::move(remover.problems);
  answer.instances = remover.instances;
  answer.events = remover.events;
  answer.touched = std::move(remover.touched);
  return answer;
}

}  // namespace perdure::sqlite
