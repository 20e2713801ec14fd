#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <perdure/testing.h>

#include "provider/forwarding_provider.h"

namespace perdure::testing {

/// Calls that can be disturbed besides commits of turns.
enum class FaultyCall : std::uint8_t { kOutcomes, kFetchTurns, kFetchWork };

/// Disturbs commits of turns, outcomes of activities and fetches as told, counts them, and notes
/// the queues that are in use. One thread.
class FaultyProvider final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  using ForwardingProvider::submit;

  void fail_next_commits(int commits, CommitFault fault);
  /// Lets `after` commits pass and disturbs the next.
  void fail_commit(int after, CommitFault fault);
  /// Lets `after` calls of this kind pass and disturbs the next as a whole. An answer that is lost
  /// is that of a fetch that locked or claimed something.
  void fail_call(FaultyCall call, int after, CommitFault fault) { calls_[call] = {after, fault}; }
  /// Whether that has happened.
  bool was_disturbed(FaultyCall call) const { return !calls_.contains(call); }
  /// Commits that were answered with success.
  std::uint64_t commits_made() const { return commits_made_; }
  void lose_next_claims(int attempts) { claims_to_lose_ += std::max(attempts, 0); }
  /// Queues that a start, a child or a call named so far.
  const std::set<std::string>& queues() const { return queues_; }

  void submit(FetchOrchestrationItems request,
              Completion<FetchedOrchestrationItems> done,
              CallOptions options) override;
  void submit(FetchWorkItems request,
              Completion<FetchedWorkItems> done,
              CallOptions options) override;
  void submit(AckOrchestrationItems request,
              Completion<Batch<TurnCommitted>> done,
              CallOptions options) override;
  void submit(AckWorkItems request, Completion<Batch<void>> done, CallOptions options) override;
  void submit(StartOrchestration request,
              Completion<OrchestrationStarted> done,
              CallOptions options) override;

 private:
  struct Planned {
    int after = 0;
    CommitFault fault = CommitFault::kUnavailable;
  };

  Result<TurnCommitted> committed(TurnCommit commit, CallOptions options);
  Result<TurnCommitted> disturbed(TurnCommit commit, CommitFault fault, CallOptions options);
  void note_queues(const TurnCommit& commit);
  /// The fault of this call, once its time has come; it is gone then.
  std::optional<CommitFault> take_fault(FaultyCall call);
  template <class Request, class Answer>
  void fetch(FaultyCall call, Request request, Completion<Answer> done, CallOptions options);
  void disturb_outcomes(CommitFault fault,
                        AckWorkItems request,
                        const Completion<Batch<void>>& done,
                        CallOptions options);

  std::deque<std::optional<CommitFault>> faults_;
  std::map<FaultyCall, Planned> calls_;
  std::uint64_t commits_made_ = 0;
  int claims_to_lose_ = 0;
  std::set<std::string> queues_{"default"};
};

}  // namespace perdure::testing
