#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "provider/provider.h"
#include "provider/sqlite/change_hub.h"
#include "provider/sqlite/checkpointer.h"
#include "provider/sqlite/operations.h"
#include "provider/sqlite/options.h"
#include "provider/sqlite/process_lock.h"
#include "provider/sqlite/readers.h"
#include "provider/sqlite/writer.h"

namespace perdure::sqlite {

/// The provider on one SQLite file or in memory. Submits become jobs of the one writer; reads take
/// a connection of their own on a file and go through the writer in memory, where there is only
/// one.
class SqliteProvider : public Provider {
 public:
  /// `writer_db` is open and has the newest schema; `path` is empty in memory.
  SqliteProvider(const Options& options,
                 std::string path,
                 std::unique_ptr<Connection> writer_db,
                 std::function<std::unique_ptr<Connection>()> reopen);
  ~SqliteProvider() override;

  using Provider::submit;
  void submit(FetchOrchestrationItems request,
              Completion<FetchedOrchestrationItems> done,
              CallOptions options) override;
  void submit(AckOrchestrationItems request,
              Completion<Batch<TurnCommitted>> done,
              CallOptions options) override;
  void submit(AbandonOrchestrationItems request,
              Completion<Batch<void>> done,
              CallOptions options) override;
  void submit(RenewOrchestrationItemLocks request,
              Completion<Batch<TimePoint>> done,
              CallOptions options) override;
  void submit(FetchWorkItems request,
              Completion<FetchedWorkItems> done,
              CallOptions options) override;
  void submit(AckWorkItems request, Completion<Batch<void>> done, CallOptions options) override;
  void submit(RenewWorkItemLocks request,
              Completion<std::vector<ClaimState>> done,
              CallOptions options) override;
  void submit(SweepWorkItems request, Completion<SweptWork> done, CallOptions options) override;
  void submit(RegisterProcess request, Completion<Epoch> done, CallOptions options) override;
  void submit(HeartbeatProcess request,
              Completion<std::int64_t> done,
              CallOptions options) override;
  void submit(TakeOverProcess request, Completion<ProcessEnded> done, CallOptions options) override;
  void submit(ReleaseProcess request, Completion<ProcessEnded> done, CallOptions options) override;
  void submit(StartOrchestration request,
              Completion<OrchestrationStarted> done,
              CallOptions options) override;
  void submit(RaiseEvent request, Completion<EventDelivery> done, CallOptions options) override;
  void submit(MakeRequest request, Completion<RequestState> done, CallOptions options) override;
  void submit(CancelOrchestration request,
              Completion<CancelAnswer> done,
              CallOptions options) override;
  void submit(TerminateOrchestration request,
              Completion<CancelAnswer> done,
              CallOptions options) override;
  void submit(CarryOnCascades request,
              Completion<CascadesCarriedOn> done,
              CallOptions options) override;

  // Management: management.cc.
  void submit(DeleteInstance request,
              Completion<InstanceDeleted> done,
              CallOptions options) override;
  void submit(DeleteInstances request,
              Completion<InstancesDeleted> done,
              CallOptions options) override;
  void submit(PruneExecutions request,
              Completion<ExecutionsPruned> done,
              CallOptions options) override;
  void submit(CarryOnRemovals request,
              Completion<RemovalsCarriedOn> done,
              CallOptions options) override;
  void submit(TrimChanges request, Completion<ChangesTrimmed> done, CallOptions options) override;
  Result<InstancePage> list_instances(const ListInstances& request) override;
  Result<InstanceTree> get_tree(const TreeQuery& query) override;
  Result<ExecutionPage> list_executions(const ListExecutions& request) override;
  Result<InstanceStats> get_stats(const std::string& id) override;
  Result<QueueDepths> queue_depths() override;
  Result<ChangePage> read_changes(ChangeSeq after, std::size_t limit) override;

  Result<std::vector<ClaimState>> check_work_items(const std::vector<HeldClaim>& claims) override;
  Result<std::vector<ProcessInfo>> list_processes() override;
  Result<std::vector<Epoch>> released_processes(const std::vector<Epoch>& epochs) override;
  Result<Batch<HistoryPage>> read_history(const std::vector<HistoryQuery>& queries) override;
  Result<InstanceInfo> get_instance(const std::string& id) override;
  Result<RequestState> get_request(const RequestQuery& query) override;
  Result<ExecutionInfo> get_execution(const std::string& id, ExecutionNo execution) override;

  ChangeMark change_mark() override;
  Wake wait_for_change(const Interest& interest) override;
  void interrupt_waits() override;
  bool poll_once() override;
  bool has_writer_thread() const override;
  ClaimListeners& claim_listeners() override { return claim_listeners_; }
  Clock& clock() override { return *options_.clock; }

  /// Runs SQL of the caller as one write, for repair and for tests that damage rows.
  Status run_sql(std::string sql);

  /// What the connection of the writer is set to, read from SQLite.
  Result<Durability> durability();

 private:
  enum class Lane : std::uint8_t { kOrdinary, kUrgent };
  using ProcessLocks = std::map<Epoch, ProcessLock>;

  template <class Answer>
  void submit_single(std::function<Result<Answer>(WriteContext&)> operation,
                     Completion<Answer> done,
                     CallOptions options,
                     Lane lane = Lane::kOrdinary);
  template <class Answer, class Request>
  void submit_batch(Request request,
                    std::function<Result<Answer>(WriteContext&, const Request&, std::size_t)> op,
                    Completion<Batch<Answer>> done,
                    CallOptions options);
  void submit_job(std::unique_ptr<WriteJob> job, CallOptions options, Lane lane);
  void end_process(EndProcess request, Completion<ProcessEnded> done, CallOptions options);
  void forget_process_lock(Epoch epoch);

  /// Runs `read(connection)` and turns what it throws into its answer.
  template <class Answer>
  Result<Answer> read(std::function<Result<Answer>(Connection&)> read);
  /// The same for a read that keeps its answer itself.
  Status run_read(std::function<void(Connection&)> look);

  const Options options_;
  const std::string database_path_;  ///< empty in memory: no kernel locks
  ChangeHub hub_;
  ClaimListeners claim_listeners_;
  /// Null in memory. Goes after all other connections, so that the log is emptied into the file.
  const std::unique_ptr<Checkpointer> checkpointer_;
  Readers readers_;
  /// Kernel locks of the processes that this object has registered, held until it goes.
  Guarded<ProcessLocks> process_locks_;
  Writer writer_;  // last: its thread uses all of the above
};

}  // namespace perdure::sqlite
