#pragma once

#include <string>
#include <utility>
#include <vector>

#include "provider/provider.h"

namespace perdure {

/// A provider that hands everything on to another one: the base of those that watch, count or
/// disturb a few of the calls. `target` must outlive it. Threading and errors: those of the target.
class ForwardingProvider : public Provider {
 public:
  explicit ForwardingProvider(Provider& target) : target_(target) {}

  Provider& target() { return target_; }

  void submit(FetchOrchestrationItems request,
              Completion<FetchedOrchestrationItems> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(AckOrchestrationItems request,
              Completion<Batch<TurnCommitted>> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(AbandonOrchestrationItems request,
              Completion<Batch<void>> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(RenewOrchestrationItemLocks request,
              Completion<Batch<TimePoint>> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(FetchWorkItems request,
              Completion<FetchedWorkItems> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(AckWorkItems request, Completion<Batch<void>> done, CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(RenewWorkItemLocks request,
              Completion<std::vector<ClaimState>> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(SweepWorkItems request, Completion<SweptWork> done, CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(RegisterProcess request, Completion<Epoch> done, CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(HeartbeatProcess request,
              Completion<std::int64_t> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(TakeOverProcess request,
              Completion<ProcessEnded> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(ReleaseProcess request, Completion<ProcessEnded> done, CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(StartOrchestration request,
              Completion<OrchestrationStarted> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(RaiseEvent request, Completion<EventDelivery> done, CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(MakeRequest request, Completion<RequestState> done, CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(CancelOrchestration request,
              Completion<CancelAnswer> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(TerminateOrchestration request,
              Completion<CancelAnswer> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(CarryOnCascades request,
              Completion<CascadesCarriedOn> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(DeleteInstance request,
              Completion<InstanceDeleted> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(DeleteInstances request,
              Completion<InstancesDeleted> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(PruneExecutions request,
              Completion<ExecutionsPruned> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(CarryOnRemovals request,
              Completion<RemovalsCarriedOn> done,
              CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }
  void submit(TrimChanges request, Completion<ChangesTrimmed> done, CallOptions options) override {
    target_.submit(std::move(request), std::move(done), options);
  }

  Result<std::vector<ClaimState>> check_work_items(const std::vector<HeldClaim>& claims) override {
    return target_.check_work_items(claims);
  }
  Result<std::vector<ProcessInfo>> list_processes() override { return target_.list_processes(); }
  Result<std::vector<Epoch>> released_processes(const std::vector<Epoch>& epochs) override {
    return target_.released_processes(epochs);
  }
  Result<InstancePage> list_instances(const ListInstances& request) override {
    return target_.list_instances(request);
  }
  Result<InstanceTree> get_tree(const TreeQuery& query) override { return target_.get_tree(query); }
  Result<ExecutionPage> list_executions(const ListExecutions& request) override {
    return target_.list_executions(request);
  }
  Result<InstanceStats> get_stats(const std::string& id) override { return target_.get_stats(id); }
  Result<QueueDepths> queue_depths() override { return target_.queue_depths(); }
  Result<ChangePage> read_changes(ChangeSeq after, std::size_t limit) override {
    return target_.read_changes(after, limit);
  }
  Result<Batch<HistoryPage>> read_history(const std::vector<HistoryQuery>& queries) override {
    return target_.read_history(queries);
  }
  Result<InstanceInfo> get_instance(const std::string& id) override {
    return target_.get_instance(id);
  }
  Result<RequestState> get_request(const RequestQuery& query) override {
    return target_.get_request(query);
  }
  Result<ExecutionInfo> get_execution(const std::string& id, ExecutionNo execution) override {
    return target_.get_execution(id, execution);
  }

  ChangeMark change_mark() override { return target_.change_mark(); }
  Wake wait_for_change(const Interest& interest) override {
    return target_.wait_for_change(interest);
  }
  void interrupt_waits() override { target_.interrupt_waits(); }
  ClaimListeners& claim_listeners() override { return target_.claim_listeners(); }
  bool poll_once() override { return target_.poll_once(); }
  bool has_writer_thread() const override { return target_.has_writer_thread(); }
  Clock& clock() override { return target_.clock(); }

 private:
  Provider& target_;
};

}  // namespace perdure
