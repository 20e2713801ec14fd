#include "cli/bench/commit_timer.h"

#include "base/clock.h"

namespace perdure::bench {

Result<std::chrono::duration<double>> CommitTimer::run(std::int64_t most,
                                                       std::chrono::duration<double> length,
                                                       Report& report) {
  std::chrono::nanoseconds spent{};
  for (std::int64_t i = 0; i < most && spent < length; ++i) {
    const auto begin = steady_now();
    const auto counter = store_.heartbeat_process({.epoch = epoch_});
    const auto took = steady_now() - begin;
    if (!counter.ok()) return counter.error();
    commits_.add(took);
    spent += took;
    if (*counter != commits_.count()) {
      report.fail("a heartbeat was counted as " + std::to_string(*counter));
    }
  }
  return std::chrono::duration<double>(spent);
}

}  // namespace perdure::bench
