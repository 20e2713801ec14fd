#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "base/guarded.h"
#include "provider/forwarding_provider.h"

namespace perdure::test {

/// A store that counts how often its tables are asked and goes down when a test says so.
/// Threading: any thread.
class WatchedProvider final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  using ForwardingProvider::submit;

  std::atomic<int> asked{0};     ///< statements of loops: fetches, sweeps, checks, renewals, beats
  std::atomic<int> waits{0};     ///< waits that have begun
  std::atomic<int> renewals{0};  ///< of work, that were answered
  std::atomic<int> lock_renewals{0};        ///< of instances, that were answered
  std::atomic<bool> down{false};            ///< every write of the engine is Unavailable
  std::atomic<bool> claims_unknown{false};  ///< renewals and checks are Unavailable
  std::atomic<int> acks_to_lose{0};         ///< so many answers of acks become CommitUnknown

  void submit(FetchOrchestrationItems request,
              Completion<FetchedOrchestrationItems> done,
              CallOptions options) override {
    hand_on(std::move(request), std::move(done), options);
  }
  void submit(AckOrchestrationItems request,
              Completion<Batch<TurnCommitted>> done,
              CallOptions options) override {
    hand_on(std::move(request), losing(std::move(done)), options);
  }
  void submit(RenewOrchestrationItemLocks request,
              Completion<Batch<TimePoint>> done,
              CallOptions options) override {
    hand_on(
        std::move(request),
        [this, done = std::move(done)](Result<Batch<TimePoint>> answer) {
          if (answer.ok()) ++lock_renewals;
          done(std::move(answer));
        },
        options);
  }
  void submit(FetchWorkItems request,
              Completion<FetchedWorkItems> done,
              CallOptions options) override {
    hand_on(std::move(request), std::move(done), options);
  }
  void submit(AckWorkItems request, Completion<Batch<void>> done, CallOptions options) override {
    hand_on(std::move(request), losing(std::move(done)), options);
  }
  void submit(SweepWorkItems request, Completion<SweptWork> done, CallOptions options) override {
    hand_on(std::move(request), std::move(done), options);
  }
  void submit(HeartbeatProcess request,
              Completion<std::int64_t> done,
              CallOptions options) override {
    hand_on(std::move(request), std::move(done), options);
  }
  void submit(RenewWorkItemLocks request,
              Completion<std::vector<ClaimState>> done,
              CallOptions options) override {
    if (claims_unknown) return done(unavailable("nobody knows"));
    hand_on(
        std::move(request),
        [this, done = std::move(done)](Result<std::vector<ClaimState>> answer) {
          if (answer.ok()) ++renewals;
          done(std::move(answer));
        },
        options);
  }
  Result<std::vector<ClaimState>> check_work_items(const std::vector<HeldClaim>& claims) override {
    ++asked;
    if (claims_unknown || down) return unavailable("nobody knows");
    return target().check_work_items(claims);
  }
  Result<std::vector<ProcessInfo>> list_processes() override {
    ++asked;
    return target().list_processes();
  }
  Wake wait_for_change(const Interest& interest) override {
    ++waits;
    return target().wait_for_change(interest);
  }

 private:
  template <class Request, class Done>
  void hand_on(Request request, Done done, CallOptions options) {
    ++asked;
    if (down) return done(unavailable("the store is down"));
    target().submit(std::move(request), std::move(done), options);
  }
  template <class Answer>
  Completion<Answer> losing(Completion<Answer> done) {
    return [this, done = std::move(done)](Result<Answer> answer) {
      if (acks_to_lose.load() > 0 && acks_to_lose.fetch_sub(1) > 0) {
        return done(Error{ErrorCode::kCommitUnknown, "the answer was lost"});
      }
      done(std::move(answer));
    };
  }
};

}  // namespace perdure::test
