#pragma once

#include <deque>
#include <set>
#include <string>

#include <perdure/testing.h>

#include "provider/forwarding_provider.h"

namespace perdure::testing {

/// Disturbs commits of turns and outcomes of activities as told, and notes the queues that are in
/// use. One thread.
class FaultyProvider final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  using ForwardingProvider::submit;

  void fail_next_commits(int commits, CommitFault fault);
  void lose_next_claims(int attempts) { claims_to_lose_ += attempts; }
  /// Queues that a start, a child or a call named so far.
  const std::set<std::string>& queues() const { return queues_; }

  void submit(AckOrchestrationItems request,
              Completion<Batch<TurnCommitted>> done,
              CallOptions options) override;
  void submit(AckWorkItems request, Completion<Batch<void>> done, CallOptions options) override;
  void submit(StartOrchestration request,
              Completion<OrchestrationStarted> done,
              CallOptions options) override;

 private:
  Result<TurnCommitted> disturbed(TurnCommit commit, CommitFault fault, CallOptions options);
  void note_queues(const TurnCommit& commit);

  std::deque<CommitFault> faults_;
  int claims_to_lose_ = 0;
  std::set<std::string> queues_{"default"};
};

}  // namespace perdure::testing
