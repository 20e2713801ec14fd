#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "provider/forwarding_provider.h"
#include "runtime/process_life.h"
#include "runtime/process_watch.h"
#include "tests/conformance/conformance.h"

namespace perdure::test {

using namespace std::chrono_literals;
using runtime::SteadyTime;
using runtime::Step;

/// Counts what the steps ask of the store, and answers errors when told to.
class CountingProvider final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  using ForwardingProvider::submit;

  int beats = 0;
  int takeovers = 0;
  int lists = 0;
  int probes = 0;
  int statements() const { return beats + takeovers + lists; }

  // Each is used once and is gone then.
  std::optional<Error> beat_error;
  std::optional<Error> takeover_error;
  std::optional<Error> list_error;
  std::optional<Error> probe_error;
  bool hides_locks = false;  ///< the kernel says nothing about others

  void submit(HeartbeatProcess request,
              Completion<std::int64_t> done,
              CallOptions options) override {
    ++beats;
    if (beat_error) return done(*std::exchange(beat_error, std::nullopt));
    target().submit(std::move(request), std::move(done), options);
  }
  void submit(TakeOverProcess request,
              Completion<ProcessEnded> done,
              CallOptions options) override {
    ++takeovers;
    if (takeover_error) return done(*std::exchange(takeover_error, std::nullopt));
    target().submit(std::move(request), std::move(done), options);
  }
  Result<std::vector<ProcessInfo>> list_processes() override {
    ++lists;
    if (list_error) return *std::exchange(list_error, std::nullopt);
    auto processes = target().list_processes();
    if (hides_locks && processes.ok()) {
      for (ProcessInfo& process : *processes) process.lock_released = false;
    }
    return processes;
  }
  Result<std::vector<Epoch>> released_processes(const std::vector<Epoch>& epochs) override {
    ++probes;
    if (probe_error) return *std::exchange(probe_error, std::nullopt);
    if (hides_locks) return std::vector<Epoch>();
    return target().released_processes(epochs);
  }
};

/// One observed life with its watch. Time passes only when the test says so.
struct Observer {
  Observer(Provider& provider, Epoch epoch, runtime::ProcessWatchOptions options = {})
      : store(provider),
        life({store, epoch, [this] { return holds; }}, options.interval),
        watch(store, life, options) {}

  bool holds = false;
  CountingProvider store;
  runtime::ProcessLife life;
  runtime::ProcessWatch watch;
};

/// Steps of processes by hand, over a real store.
class ProcessSteps : public conformance::Conformance {
 protected:
  SteadyTime at(Duration time) { return SteadyTime(1h) + time; }

  /// Locks one instance for a registration, so that it holds something.
  OrchestrationItem hold(TokenMint& who) {
    FetchOrchestrationItems request = fetch_request(0);
    request.epoch = who.epoch();
    request.tokens = who.next(1);
    auto fetched = store().fetch_orchestration_items(std::move(request));
    if (!fetched.ok() || fetched->items.size() != 1) throw std::runtime_error("nothing to lock");
    return std::move(fetched->items[0]);
  }

  void beat(const TokenMint& who) {
    ASSERT_TRUE(store().heartbeat_process({.epoch = who.epoch()}).ok());
  }

  bool is_live(Epoch epoch) {
    for (const ProcessInfo& process : store().list_processes().value()) {
      if (process.epoch == epoch) return true;
    }
    return false;
  }
};

}  // namespace perdure::test
