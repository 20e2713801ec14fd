#pragma once

#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>

#include "provider/forwarding_provider.h"
#include "runtime/ending_calls.h"

namespace perdure::runtime {

/// The store as a runtime writes to it: nobody waits for an answer beyond the end of the runtime.
///
/// What was told to the store is not taken back by that: it may still happen, as CommitUnknown
/// says, and is harmless since all of it is fenced by locks of a registration that ends; one that is
/// made so late stands, without work, until the store is closed and others take it over. A release
/// is handed on also after the end, and nobody waits for it. Reads are handed on and not bounded. Threading: any thread. The target must outlive it; answers that come
/// later than it are dropped.
class EndingStore final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  using ForwardingProvider::submit;

  /// Calls that are made from now on have no longer timeout than until then.
  void end_by(EndingCalls::Time until) { calls_->bound(until); }
  /// Answers all calls under way: CommitUnknown, on this thread. Later ones are Unavailable.
  void end_now() { calls_->end_all(); }

  void submit(FetchOrchestrationItems request,
              Completion<FetchOrchestrationItems::Answer> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }
  void submit(AckOrchestrationItems request,
              Completion<AckOrchestrationItems::Answer> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }
  void submit(AbandonOrchestrationItems request,
              Completion<AbandonOrchestrationItems::Answer> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }
  void submit(RenewOrchestrationItemLocks request,
              Completion<RenewOrchestrationItemLocks::Answer> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }
  void submit(FetchWorkItems request,
              Completion<FetchWorkItems::Answer> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }
  void submit(AckWorkItems request,
              Completion<AckWorkItems::Answer> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }
  void submit(RenewWorkItemLocks request,
              Completion<RenewWorkItemLocks::Answer> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }
  void submit(SweepWorkItems request,
              Completion<SweepWorkItems::Answer> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }
  void submit(RegisterProcess request,
              Completion<RegisterProcess::Answer> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }
  void submit(HeartbeatProcess request,
              Completion<HeartbeatProcess::Answer> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }
  void submit(TakeOverProcess request,
              Completion<TakeOverProcess::Answer> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }
  void submit(ReleaseProcess request,
              Completion<ReleaseProcess::Answer> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }
  void submit(CancelOrchestration request,
              Completion<CancelOrchestration::Answer> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }
  void submit(CarryOnCascades request,
              Completion<CarryOnCascades::Answer> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }
  void submit(CarryOnRemovals request,
              Completion<CarryOnRemovals::Answer> done,
              CallOptions options) override {
    pass(std::move(request), std::move(done), options);
  }

 private:
  /// Answered once, by whoever is first.
  template <class Answer>
  struct Call {
    explicit Call(Completion<Answer> whose) : done(std::move(whose)) {}
    void answer(Result<Answer> with) {
      if (!answered.exchange(true)) done(std::move(with));
    }

    const Completion<Answer> done;
    std::atomic<bool> answered{false};
  };

  template <class Request>
  void pass(Request request, Completion<typename Request::Answer> done, CallOptions options) {
    using Answer = typename Request::Answer;
    const auto call = std::make_shared<Call<Answer>>(std::move(done));
    const auto id = calls_->begin([call] {
      call->answer(commit_unknown("the runtime stops and does not wait for the store any more"));
    });
    if (!id) return pass_late(std::move(request), *call, options);
    target().submit(
        std::move(request),
        [call, calls = calls_, id = *id](Result<Answer> answer) {
          calls->end(id);
          call->answer(std::move(answer));
        },
        calls_->within_bound(options));
  }

  template <class Request, class Answer>
  void pass_late(Request request, Call<Answer>& call, CallOptions options) {
    if constexpr (std::is_same_v<Request, ReleaseProcess>) {
      target().submit(std::move(request), [](const Result<Answer>&) {}, options);
      call.answer(commit_unknown("the runtime does not wait for the store any more"));
    } else {
      call.answer(unavailable("the runtime has stopped; nothing was written"));
    }
  }

  const std::shared_ptr<EndingCalls> calls_ = std::make_shared<EndingCalls>();
};

}  // namespace perdure::runtime
