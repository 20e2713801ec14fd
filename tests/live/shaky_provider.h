#pragma once

#include <atomic>
#include <utility>

#include "base/random.h"
#include "provider/forwarding_provider.h"

namespace perdure::test {

/// A store of which every so many calls of the engine goes wrong: nothing written and said so, or
/// written and the answer lost. The same seed goes wrong at the same calls, as far as threads come
/// in the same order. Threading: any thread.
class ShakyProvider final : public ForwardingProvider {
 public:
  ShakyProvider(Provider& target, std::uint64_t seed, double fraction)
      : ForwardingProvider(target), random_(seed), fraction_(fraction) {}
  using ForwardingProvider::submit;

  std::atomic<int> refused{0};
  std::atomic<int> lost{0};

  void submit(FetchOrchestrationItems request,
              Completion<FetchedOrchestrationItems> done,
              CallOptions options) override {
    shake(std::move(request), std::move(done), options);
  }
  void submit(AckOrchestrationItems request,
              Completion<Batch<TurnCommitted>> done,
              CallOptions options) override {
    shake(std::move(request), std::move(done), options);
  }
  void submit(AbandonOrchestrationItems request,
              Completion<Batch<void>> done,
              CallOptions options) override {
    shake(std::move(request), std::move(done), options);
  }
  void submit(FetchWorkItems request,
              Completion<FetchedWorkItems> done,
              CallOptions options) override {
    // A claim whose answer is lost lapses; that is slow, and shown elsewhere.
    if (random_.unit() < fraction_) return refuse(std::move(done));
    target().submit(std::move(request), std::move(done), options);
  }
  void submit(AckWorkItems request, Completion<Batch<void>> done, CallOptions options) override {
    shake(std::move(request), std::move(done), options);
  }
  void submit(SweepWorkItems request, Completion<SweptWork> done, CallOptions options) override {
    shake(std::move(request), std::move(done), options);
  }

 private:
  template <class Done>
  void refuse(Done done) {
    ++refused;
    done(unavailable("shaky"));
  }
  template <class Request, class Answer>
  void shake(Request request, Completion<Answer> done, CallOptions options) {
    const double luck = random_.unit();
    if (luck < fraction_) return refuse(std::move(done));
    if (luck > 2 * fraction_) return target().submit(std::move(request), std::move(done), options);
    ++lost;
    target().submit(
        std::move(request),
        [done = std::move(done)](Result<Answer>) {
          done(Error{ErrorCode::kCommitUnknown, "shaky: the answer was lost"});
        },
        options);
  }

  SeededRandom random_;
  const double fraction_;
};

}  // namespace perdure::test
