#pragma once

#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "provider/call.h"
#include "provider/change.h"
#include "provider/claim_listeners.h"
#include "provider/client_requests.h"
#include "provider/management_requests.h"
#include "provider/orchestration_requests.h"
#include "provider/process_requests.h"
#include "provider/read_requests.h"
#include "provider/run_requests.h"
#include "provider/turn_commit.h"
#include "provider/work_requests.h"

namespace perdure {

namespace internal {
template <class T>
class AnswerSlot;
}  // namespace internal

/// Storage and queues of the engine: the one contract that every store fulfils.
/// docs/provider-guide.md tells an implementer everything; tests/conformance proves it.
///
/// Writes are submitted with a completion and grouped into commits; each entry of each request
/// succeeds or fails by itself. Reads are direct. Time enters only as the provider's clock, read
/// once per group; within one provider object it does not run backwards, unless the clock was set
/// back by more than a second.
///
/// Threading: every method may be called from any thread. Ownership: requests are taken by value,
/// answers are values.
/// Crash: what was answered as written survives a kill at any point (and power loss, with full
/// durability); what was not answered is there wholly or not at all, entry by entry.
/// Cancellation: cancel and terminate overtake queued writes of other kinds.
/// Destruction: waits for writes that have begun; those still queued are answered Unavailable.
class Provider {
 public:
  Provider() = default;
  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;
  virtual ~Provider() = default;

  // Orchestration side.
  virtual void submit(FetchOrchestrationItems request,
                      Completion<FetchedOrchestrationItems> done,
                      CallOptions options) = 0;
  virtual void submit(AckOrchestrationItems request,
                      Completion<Batch<TurnCommitted>> done,
                      CallOptions options) = 0;
  virtual void submit(AbandonOrchestrationItems request,
                      Completion<Batch<void>> done,
                      CallOptions options) = 0;
  virtual void submit(RenewOrchestrationItemLocks request,
                      Completion<Batch<TimePoint>> done,
                      CallOptions options) = 0;

  // Worker side.
  virtual void submit(FetchWorkItems request,
                      Completion<FetchedWorkItems> done,
                      CallOptions options) = 0;
  virtual void submit(AckWorkItems request, Completion<Batch<void>> done, CallOptions options) = 0;
  virtual void submit(RenewWorkItemLocks request,
                      Completion<std::vector<ClaimState>> done,
                      CallOptions options) = 0;
  virtual void submit(SweepWorkItems request, Completion<SweptWork> done, CallOptions options) = 0;
  /// What became of these claims; one answer per claim, in order. A read: extends nothing.
  virtual Result<std::vector<ClaimState>> check_work_items(
      const std::vector<HeldClaim>& claims) = 0;

  // Processes.
  virtual void submit(RegisterProcess request, Completion<Epoch> done, CallOptions options) = 0;
  virtual void submit(HeartbeatProcess request,
                      Completion<std::int64_t> done,
                      CallOptions options) = 0;
  virtual void submit(TakeOverProcess request,
                      Completion<ProcessEnded> done,
                      CallOptions options) = 0;
  virtual void submit(ReleaseProcess request,
                      Completion<ProcessEnded> done,
                      CallOptions options) = 0;
  /// All processes that have not ended, oldest first.
  virtual Result<std::vector<ProcessInfo>> list_processes() = 0;
  /// Those of the given processes whose lock the kernel has released: dead, to be taken over now.
  /// Looks at the locks alone and at no table, so an idle process may ask each second. Others, also
  /// unknown and ended ones, are left out, which proves nothing. A store that has no such locks
  /// answers none.
  virtual Result<std::vector<Epoch>> released_processes(const std::vector<Epoch>& epochs) = 0;

  // Clients.
  virtual void submit(StartOrchestration request,
                      Completion<OrchestrationStarted> done,
                      CallOptions options) = 0;
  virtual void submit(RaiseEvent request, Completion<EventDelivery> done, CallOptions options) = 0;
  virtual void submit(MakeRequest request, Completion<RequestState> done, CallOptions options) = 0;
  virtual void submit(CancelOrchestration request,
                      Completion<CancelAnswer> done,
                      CallOptions options) = 0;
  virtual void submit(TerminateOrchestration request,
                      Completion<CancelAnswer> done,
                      CallOptions options) = 0;
  virtual void submit(CarryOnCascades request,
                      Completion<CascadesCarriedOn> done,
                      CallOptions options) = 0;

  // Management.
  virtual void submit(DeleteInstance request,
                      Completion<InstanceDeleted> done,
                      CallOptions options) = 0;
  virtual void submit(DeleteInstances request,
                      Completion<InstancesDeleted> done,
                      CallOptions options) = 0;
  virtual void submit(PruneExecutions request,
                      Completion<ExecutionsPruned> done,
                      CallOptions options) = 0;
  virtual void submit(CarryOnRemovals request,
                      Completion<RemovalsCarriedOn> done,
                      CallOptions options) = 0;
  virtual void submit(TrimChanges request,
                      Completion<ChangesTrimmed> done,
                      CallOptions options) = 0;
  virtual Result<InstancePage> list_instances(const ListInstances& request) = 0;
  /// An instance with its descendants; NotFound.
  virtual Result<InstanceTree> get_tree(const TreeQuery& query) = 0;
  virtual Result<ExecutionPage> list_executions(const ListExecutions& request) = 0;  ///< NotFound
  virtual Result<InstanceStats> get_stats(const std::string& id) = 0;                ///< NotFound
  virtual Result<QueueDepths> queue_depths() = 0;
  /// Changes of the store after `after`, oldest first, up to `limit`.
  virtual Result<ChangePage> read_changes(ChangeSeq after, std::size_t limit) = 0;

  // Reads.
  /// One page per query, in order; an unknown instance or execution has an empty history; a row
  /// that cannot be read is Corrupt for its query alone, naming table and key.
  virtual Result<Batch<HistoryPage>> read_history(const std::vector<HistoryQuery>& queries) = 0;
  /// The instance with its current execution; NotFound.
  virtual Result<InstanceInfo> get_instance(const std::string& id) = 0;
  /// How far a request to a run has come. NotFound: there is none of that id, or its row is gone.
  virtual Result<RequestState> get_request(const RequestQuery& query) = 0;
  /// One execution of an instance; NotFound.
  virtual Result<ExecutionInfo> get_execution(const std::string& id, ExecutionNo execution) = 0;

  // Waiting.
  virtual ChangeMark change_mark() = 0;
  /// Blocks the calling thread until the interest is met. Requires no writer thread: without one,
  /// it still wakes for commits made by other threads' `poll_once()`.
  virtual Wake wait_for_change(const Interest& interest) = 0;
  /// Ends every wait whose mark was taken before it, also one that has not begun yet: who is told
  /// something beside the store takes the mark, looks, and waits, as for commits.
  virtual void interrupt_waits() = 0;
  /// Those in this process who run claims of this store; lives as long as the provider. Whoever
  /// gets touched claims in an answer and does not run them itself tells them.
  virtual ClaimListeners& claim_listeners() = 0;

  /// Commits one group of submitted writes and runs its completions; false when none was queued.
  /// Only for providers without a writer thread; with one it does nothing and answers false. Calls
  /// from several threads take turns.
  virtual bool poll_once() = 0;
  virtual bool has_writer_thread() const = 0;

  virtual Clock& clock() = 0;

  /// Submits and waits for the answer; drives `poll_once()` itself when there is no writer thread,
  /// so a single-threaded caller cannot deadlock.
  template <class Request>
  Result<typename Request::Answer> call(Request request, CallOptions options = {});

  // The same calls under the names of the contract.
  auto fetch_orchestration_items(FetchOrchestrationItems r, CallOptions o = {}) {
    return call(std::move(r), o);
  }
  auto ack_orchestration_items(AckOrchestrationItems r, CallOptions o = {}) {
    return call(std::move(r), o);
  }
  auto abandon_orchestration_items(AbandonOrchestrationItems r, CallOptions o = {}) {
    return call(std::move(r), o);
  }
  auto renew_orchestration_item_locks(RenewOrchestrationItemLocks r, CallOptions o = {}) {
    return call(std::move(r), o);
  }
  auto fetch_work_items(FetchWorkItems r, CallOptions o = {}) { return call(std::move(r), o); }
  auto ack_work_items(AckWorkItems r, CallOptions o = {}) { return call(std::move(r), o); }
  auto renew_work_item_locks(RenewWorkItemLocks r, CallOptions o = {}) {
    return call(std::move(r), o);
  }
  auto sweep_work_items(SweepWorkItems r = {}, CallOptions o = {}) { return call(std::move(r), o); }
  auto register_process(RegisterProcess r, CallOptions o = {}) { return call(std::move(r), o); }
  auto heartbeat_process(HeartbeatProcess r, CallOptions o = {}) { return call(std::move(r), o); }
  auto take_over(TakeOverProcess r, CallOptions o = {}) { return call(std::move(r), o); }
  auto release_process(ReleaseProcess r, CallOptions o = {}) { return call(std::move(r), o); }
  auto start_orchestration(StartOrchestration r, CallOptions o = {}) {
    return call(std::move(r), o);
  }
  auto raise_event(RaiseEvent r, CallOptions o = {}) { return call(std::move(r), o); }
  auto make_request(MakeRequest r, CallOptions o = {}) { return call(std::move(r), o); }
  auto cancel_orchestration(CancelOrchestration r, CallOptions o = {}) {
    return call(std::move(r), o);
  }
  auto terminate_orchestration(TerminateOrchestration r, CallOptions o = {}) {
    return call(std::move(r), o);
  }
  auto carry_on_cascades(CarryOnCascades r = {}, CallOptions o = {}) {
    return call(std::move(r), o);
  }
  auto delete_instance(DeleteInstance r, CallOptions o = {}) { return call(std::move(r), o); }
  auto delete_instances(DeleteInstances r, CallOptions o = {}) { return call(std::move(r), o); }
  auto prune_executions(PruneExecutions r, CallOptions o = {}) { return call(std::move(r), o); }
  auto carry_on_removals(CarryOnRemovals r = {}, CallOptions o = {}) {
    return call(std::move(r), o);
  }
  auto trim_changes(TrimChanges r, CallOptions o = {}) { return call(std::move(r), o); }

 protected:
  /// Waits for an answer that a completion will put there, driving the writer when it has no
  /// thread.
  template <class Answer>
  Result<Answer> wait_for(internal::AnswerSlot<Answer>& slot);
};

}  // namespace perdure

#include "provider/blocking_call.h"
