#pragma once

#include "provider/provider.h"
#include "provider/sqlite/process_lock.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/writer.h"

/// The write operations of the contract, one function each, run inside an open write transaction.
/// An error that is returned has written nothing; a SqliteError that is thrown rolls back.
namespace perdure::sqlite {

/// Takeover (a loss for each claim) and release (a deferral).
struct EndProcess {
  Epoch epoch;
  Charge charge = Charge::kLoss;
  int max_losses = kMaxLosses;
};

// Orchestration side (turn_fetch.cc, turn_commit.cc, turn_release.cc).
Result<FetchedOrchestrationItems> fetch_orchestration_items(WriteContext& context,
                                                            const FetchOrchestrationItems& request);
Result<TurnCommitted> commit_turn(WriteContext& context, const TurnCommit& commit);
Status abandon_turn(WriteContext& context, const AbandonedOrchestrationItem& entry);
Result<TimePoint> renew_turn(WriteContext& context,
                             const HeldOrchestrationItem& entry,
                             Duration lock_for);

// Worker side (work_fetch.cc, work_settle.cc, work_check.cc, work_sweep.cc).
Result<FetchedWorkItems> fetch_work_items(WriteContext& context, const FetchWorkItems& request);
Status settle_work(WriteContext& context, const SettledWork& entry);
Result<std::vector<ClaimState>> renew_work(WriteContext& context,
                                           const RenewWorkItemLocks& request);
Result<SweptWork> sweep_work(WriteContext& context, const SweepWorkItems& request);
/// InvalidArgument when a limit of losses is out of its range.
Status check_max_losses(int max_losses);
/// Of one claim whose process has not ended.
ClaimState claim_state(Connection& db, const HeldClaim& claim);
/// Of many, in order.
std::vector<ClaimState> check_claims(Connection& db, const std::vector<HeldClaim>& claims);

// Processes (processes.cc).
Result<Epoch> register_process(WriteContext& context, const RegisterProcess& request);
Result<std::int64_t> heartbeat_process(WriteContext& context, const HeartbeatProcess& request);
Result<ProcessEnded> end_process(WriteContext& context, const EndProcess& request);
/// Whether a process that has not ended declares the signal; of the empty one: has the code of the
/// run at all.
bool is_declared(Connection& db, const InstanceRow& instance, const std::string& signal);
/// Living processes have the code of the live run, and none declares the signal. Before its first
/// turn a run may still get any code.
bool is_unknown(Connection& db, const InstanceRow& instance, const std::string& signal);
/// LockLost unless the epoch is registered and has not ended.
Status check_epoch(Connection& db, Epoch epoch);
/// The same, and InvalidArgument when one of the tokens belongs to another epoch.
Status check_tokens(Connection& db, Epoch epoch, const std::vector<LockToken>& tokens);

// Clients (starts.cc, takedowns.cc, events.cc, run_requests.cc).
Result<OrchestrationStarted> start_orchestration(WriteContext& context,
                                                 const StartOrchestration& request);
Result<EventDelivery> raise_event(WriteContext& context, const RaiseEvent& request);
Result<RequestState> make_request(WriteContext& context, const MakeRequest& request);
Result<CancelAnswer> cancel_orchestration(WriteContext& context,
                                          const CancelOrchestration& request);
Result<CancelAnswer> terminate_orchestration(WriteContext& context,
                                             const TerminateOrchestration& request);
Result<CascadesCarriedOn> carry_on_cascades(WriteContext& context, const CarryOnCascades& request);

}  // namespace perdure::sqlite
