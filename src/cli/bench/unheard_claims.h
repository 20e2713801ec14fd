#pragma once

#include <limits>
#include <memory>
#include <utility>

#include "provider/forwarding_provider.h"

namespace perdure::bench {

/// A store that tells nobody what became of a claim: commits that take claims away or mark them
/// name none of them, and no commit, of this process or another, ends a wait for claims. A worker
/// learns of a cancel only when it asks, each `cancellation_poll_interval`. All else is as with the
/// store itself. Shares the store.
class UnheardClaims final : public ForwardingProvider {
 public:
  explicit UnheardClaims(std::shared_ptr<Provider> store)
      : ForwardingProvider(*store), store_(std::move(store)) {}
  using ForwardingProvider::submit;

  void submit(AckOrchestrationItems request,
              Completion<Batch<TurnCommitted>> done,
              CallOptions options) override {
    target().submit(
        std::move(request),
        [done = std::move(done)](Result<Batch<TurnCommitted>> answer) {
          if (answer.ok()) {
            for (Result<TurnCommitted>& turn : *answer) {
              if (turn.ok()) turn->touched.clear();
            }
          }
          done(std::move(answer));
        },
        options);
  }
  void submit(SweepWorkItems request, Completion<SweptWork> done, CallOptions options) override {
    hand_on(std::move(request), std::move(done), options);
  }
  void submit(StartOrchestration request,
              Completion<OrchestrationStarted> done,
              CallOptions options) override {
    hand_on(std::move(request), std::move(done), options);
  }
  void submit(CancelOrchestration request,
              Completion<CancelAnswer> done,
              CallOptions options) override {
    hand_on(std::move(request), std::move(done), options);
  }
  void submit(TerminateOrchestration request,
              Completion<CancelAnswer> done,
              CallOptions options) override {
    hand_on(std::move(request), std::move(done), options);
  }
  void submit(CarryOnCascades request,
              Completion<CascadesCarriedOn> done,
              CallOptions options) override {
    hand_on(std::move(request), std::move(done), options);
  }
  void submit(DeleteInstance request,
              Completion<InstanceDeleted> done,
              CallOptions options) override {
    hand_on(std::move(request), std::move(done), options);
  }
  void submit(DeleteInstances request,
              Completion<InstancesDeleted> done,
              CallOptions options) override {
    hand_on(std::move(request), std::move(done), options);
  }
  void submit(PruneExecutions request,
              Completion<ExecutionsPruned> done,
              CallOptions options) override {
    hand_on(std::move(request), std::move(done), options);
  }
  void submit(CarryOnRemovals request,
              Completion<RemovalsCarriedOn> done,
              CallOptions options) override {
    hand_on(std::move(request), std::move(done), options);
  }

  /// Who waits for claims waits for nothing else that others commit.
  Wake wait_for_change(const Interest& interest) override {
    if (!interest.claims_of) return target().wait_for_change(interest);
    Interest deaf = interest;
    deaf.claims_of.reset();
    deaf.after.foreign = std::numeric_limits<std::int64_t>::max();
    return target().wait_for_change(deaf);
  }

 private:
  template <class Request, class Answer>
  void hand_on(Request request, Completion<Answer> done, CallOptions options) {
    target().submit(
        std::move(request),
        [done = std::move(done)](Result<Answer> answer) {
          if (answer.ok()) answer->touched.clear();
          done(std::move(answer));
        },
        options);
  }

  std::shared_ptr<Provider> store_;
};

}  // namespace perdure::bench
