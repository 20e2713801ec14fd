#pragma once

#include <chrono>
#include <cstdint>

#include <perdure/client.h>

#include "cli/bench/engine_bench.h"
#include "cli/bench/latencies.h"

namespace perdure::bench {

/// History of one run: started, scheduled, completed, completed.
inline constexpr std::int64_t kHelloEvents = 4;

/// Runs of `hello`, one after the other: each is started and waited for by this thread. Their
/// inputs are below zero. The bench must outlive it and have a runtime.
class HelloLoop {
 public:
  explicit HelloLoop(EngineBench& bench);

  /// At least one run, then more until `length` is spent. Answers how long each took, from the
  /// entry of the start call to its result being here; wrong ones are counted in the report.
  Latencies run(std::chrono::nanoseconds length);

  std::int64_t started() const { return started_; }

 private:
  EngineBench& bench_;
  const Client client_;
  std::int64_t started_ = 0;
};

}  // namespace perdure::bench
