#pragma once

#include <csignal>
#include <utility>

#include "base/failpoint.h"
#include "provider/forwarding_provider.h"
#include "tests/processes/marks.h"

namespace perdure::test {

/// The store of a worker that dies by SIGKILL at the first cascade that it carries on: in its
/// commit, or when a part of it is committed and nobody knows yet. It takes no turns before, so
/// that the cascade alone tells what it has done.
class DyingStore final : public ForwardingProvider {
 public:
  DyingStore(Provider& target, Order order) : ForwardingProvider(target), order_(order) {}

  static bool is_meant(Order order) {
    return order == Order::kDieInCascade || order == Order::kDieBehindCascade;
  }

  using ForwardingProvider::submit;
  void submit(FetchOrchestrationItems,
              Completion<FetchedOrchestrationItems> done,
              CallOptions) override {
    done(FetchedOrchestrationItems{});
  }
  void submit(CarryOnCascades request,
              Completion<CascadesCarriedOn> done,
              CallOptions options) override {
    if (order_ == Order::kDieInCascade) {
      failpoint::arm("sqlite.commit.before", {.kind = failpoint::Action::Kind::kKill});
      return target().submit(std::move(request), std::move(done), options);
    }
    // The completion runs on the thread that commits: nothing is written after this.
    auto die = [done = std::move(done)](Result<CascadesCarriedOn> answer) {
      if (answer.ok() && answer->reached > 0 && answer->remaining > 0) std::raise(SIGKILL);
      done(std::move(answer));
    };
    target().submit(std::move(request), std::move(die), options);
  }

 private:
  const Order order_;
};

}  // namespace perdure::test
