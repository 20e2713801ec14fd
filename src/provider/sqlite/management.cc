#include "provider/sqlite/management.h"

#include "provider/sqlite/jobs.h"
#include "provider/sqlite/sqlite_provider.h"

namespace perdure::sqlite {

namespace {

/// A job that says how many rows it may write, so that a group takes little beside it.
template <class Answer>
class BoundedJob : public SingleJob<Answer> {
 public:
  template <class Request>
  BoundedJob(Request request,
             Result<Answer> (*operation)(WriteContext&, const Request&),
             Completion<Answer> done)
      : SingleJob<Answer>(
            [request, operation](WriteContext& context) { return operation(context, request); },
            std::move(done)),
        rows_(request.limit > 0 ? static_cast<std::size_t>(request.limit) : 1) {}

  std::size_t rows() const override { return rows_; }

 private:
  const std::size_t rows_;
};

}  // namespace

void SqliteProvider::submit(DeleteInstance request,
                            Completion<InstanceDeleted> done,
                            CallOptions options) {
  submit_job(std::make_unique<BoundedJob<InstanceDeleted>>(
                 std::move(request), &sqlite::delete_instance, std::move(done)),
             options,
             Lane::kOrdinary);
}

void SqliteProvider::submit(DeleteInstances request,
                            Completion<InstancesDeleted> done,
                            CallOptions options) {
  submit_job(std::make_unique<BoundedJob<InstancesDeleted>>(
                 std::move(request), &sqlite::delete_instances, std::move(done)),
             options,
             Lane::kOrdinary);
}

void SqliteProvider::submit(PruneExecutions request,
                            Completion<ExecutionsPruned> done,
                            CallOptions options) {
  submit_job(std::make_unique<BoundedJob<ExecutionsPruned>>(
                 std::move(request), &sqlite::prune_executions, std::move(done)),
             options,
             Lane::kOrdinary);
}

void SqliteProvider::submit(CarryOnRemovals request,
                            Completion<RemovalsCarriedOn> done,
                            CallOptions options) {
  submit_job(std::make_unique<BoundedJob<RemovalsCarriedOn>>(
                 request, &sqlite::carry_on_removals, std::move(done)),
             options,
             Lane::kOrdinary);
}

void SqliteProvider::submit(TrimChanges request,
                            Completion<ChangesTrimmed> done,
                            CallOptions options) {
  submit_job(
      std::make_unique<BoundedJob<ChangesTrimmed>>(request, &sqlite::trim_changes, std::move(done)),
      options,
      Lane::kOrdinary);
}

Result<InstancePage> SqliteProvider::list_instances(const ListInstances& request) {
  Result<InstancePage> answer = InstancePage{};
  PERDURE_RETURN_IF_ERROR(
      run_read([&](Connection& db) { answer = sqlite::list_instances(db, request); }));
  return answer;
}

Result<InstanceTree> SqliteProvider::get_tree(const TreeQuery& query) {
  Result<InstanceTree> answer = InstanceTree{};
  PERDURE_RETURN_IF_ERROR(run_read([&](Connection& db) { answer = sqlite::get_tree(db, query); }));
  return answer;
}

Result<ExecutionPage> SqliteProvider::list_executions(const ListExecutions& request) {
  Result<ExecutionPage> answer = ExecutionPage{};
  PERDURE_RETURN_IF_ERROR(
      run_read([&](Connection& db) { answer = sqlite::list_executions(db, request); }));
  return answer;
}

Result<InstanceStats> SqliteProvider::get_stats(const std::string& id) {
  Result<InstanceStats> answer = InstanceStats{};
  PERDURE_RETURN_IF_ERROR(run_read([&](Connection& db) { answer = sqlite::get_stats(db, id); }));
  return answer;
}

Result<QueueDepths> SqliteProvider::queue_depths() {
  QueueDepths answer;
  PERDURE_RETURN_IF_ERROR(
      run_read([&](Connection& db) { answer = sqlite::queue_depths(db, clock().now()); }));
  return answer;
}

Result<ChangePage> SqliteProvider::read_changes(ChangeSeq after, std::size_t limit) {
  ChangePage answer;
  PERDURE_RETURN_IF_ERROR(
      run_read([&](Connection& db) { answer = sqlite::read_changes(db, after, limit); }));
  return answer;
}

}  // namespace perdure::sqlite
