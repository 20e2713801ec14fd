#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "provider/forwarding_provider.h"

namespace perdure::bench {

/// A store whose kernel locks tell nothing: a dead process is known by its silent heartbeat alone,
/// as on a store that has no such locks. Shares the store.
class HeartbeatOnly final : public ForwardingProvider {
 public:
  explicit HeartbeatOnly(std::shared_ptr<Provider> store)
      : ForwardingProvider(*store), store_(std::move(store)) {}

  Result<std::vector<ProcessInfo>> list_processes() override {
    auto processes = target().list_processes();
    if (processes.ok()) {
      for (ProcessInfo& process : *processes) process.lock_released = false;
    }
    return processes;
  }

  Result<std::vector<Epoch>> released_processes(const std::vector<Epoch>&) override {
    return std::vector<Epoch>{};
  }

 private:
  std::shared_ptr<Provider> store_;
};

}  // namespace perdure::bench
