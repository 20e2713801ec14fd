#pragma once

#include <chrono>
#include <cstdint>

#include "base/result.h"
#include "cli/bench/latencies.h"
#include "cli/bench/report.h"
#include "provider/provider.h"

namespace perdure::bench {

/// Times the smallest durable commit: heartbeats of a process that sends no others, one after the
/// other. Threading: one thread.
class CommitTimer {
 public:
  /// `epoch` was just registered. The store must outlive the timer.
  CommitTimer(Provider& store, Epoch epoch) : store_(store), epoch_(epoch) {}

  /// Commits until `most` are made or `length` is spent, and answers how much was; a heartbeat that
  /// is miscounted is a wrong result.
  Result<std::chrono::duration<double>> run(std::int64_t most,
                                            std::chrono::duration<double> length,
                                            Report& report);

  const Latencies& commits() const { return commits_; }

 private:
  Provider& store_;
  const Epoch epoch_;
  Latencies commits_;
};

}  // namespace perdure::bench
