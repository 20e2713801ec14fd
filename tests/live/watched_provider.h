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
  std::atomic<bool> checks_unknown{false};  ///< checks are, renewals are answered
  std::atomic<bool> renewals_unknown{false};  ///< renewals are, checks are answered
  std::atomic<bool> no_turns{false};        ///< nobody gets an instance to run: Unavailable
  std::atomic<bool> deaf{false};            ///< nothing tells who waits for claims
  std::atomic<int> acks_to_lose{0};         ///< so many answers of acks become CommitUnknown
  std::atomic<int> unanswered{0};           ///< renewals and checks that were Unavailable
  std::atomic<int> interrupts{0};           ///< of waits: somebody stops, or nudges a loop
  /// Called with what a claim has brought, before the worker gets to know of it; on the thread of
  /// the worker, so it may call the store. Set before a runtime begins.
  std::function<void(const FetchedWorkItems&)> before_claimed;
  /// Called with the ends of attempts, and with a renewal of work, before the store gets to know of
  /// them; on the thread of the worker. Set before a runtime begins.
  std::function<void(const AckWorkItems&)> before_ack;
  std::function<void(const RenewWorkItemLocks&)> before_renewal;

  void submit(FetchOrchestrationItems request,
              Completion<FetchedOrchestrationItems> done,
              CallOptions options) override {
    if (no_turns) return done(unavailable("no turns now"));
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
    if (!before_claimed) return hand_on(std::move(request), std::move(done), options);
    ++asked;
    Result<FetchedWorkItems> fetched = target().fetch_work_items(std::move(request), options);
    if (fetched.ok()) before_claimed(*fetched);
    done(std::move(fetched));
  }
  void submit(AckWorkItems request, Completion<Batch<void>> done, CallOptions options) override {
    if (before_ack) before_ack(request);
    hand_on(std::move(request), losing(std::move(done)), options);
  }
  void submit(SweepWorkItems request, Completion<SweptWork> done, CallOptions options) override {
    hand_on(std::move(request), std::move(done), options);
  }
  void submit(RegisterProcess request, Completion<Epoch> done, CallOptions options) override {
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
    if (claims_unknown || renewals_unknown) return done(unknown());
    if (before_renewal) before_renewal(request);
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
    if (claims_unknown || checks_unknown || down) return unknown();
    return target().check_work_items(claims);
  }
  Result<std::vector<ProcessInfo>> list_processes() override {
    ++asked;
    return target().list_processes();
  }
  void interrupt_waits() override {
    ++interrupts;
    target().interrupt_waits();
  }
  Wake wait_for_change(const Interest& interest) override {
    ++waits;
    return deaf && interest.claims_of ? wait_for_bound(interest)
                                      : target().wait_for_change(interest);
  }

 private:
  Error unknown() {
    ++unanswered;
    return unavailable("nobody knows");
  }
  Wake wait_for_bound(Interest interest) {
    const auto until = std::chrono::steady_clock::now() + interest.bound;
    interest.claims_of.reset();
    for (;;) {
      const Wake wake = target().wait_for_change(interest);
      const bool told =
          wake.reason == Wake::Reason::kChanged || wake.reason == Wake::Reason::kForeign;
      const auto left = until - std::chrono::steady_clock::now();
      if (!told || left <= left.zero()) return wake;
      interest.after = wake.mark;
      interest.bound = std::chrono::ceil<std::chrono::milliseconds>(left);
    }
  }
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
