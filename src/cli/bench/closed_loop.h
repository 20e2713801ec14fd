#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include <perdure/client.h>

#include "base/result.h"
#include "cli/bench/bench_code.h"
#include "cli/bench/engine_bench.h"
#include "cli/bench/latencies.h"
#include "cli/bench/rate.h"

namespace perdure::bench {

/// An orchestration that is run many times over, each time with another number.
struct LoopedRun {
  Orchestration<Number(Number)> orchestration;
  Number (*result_of)(Number input) = nullptr;
  int activities = 0;
  int turns = 0;

  /// started, scheduled and completed activities, completed
  std::int64_t events() const { return 2 + 2 * activities; }
};

/// Instances in the loop unless `--in-flight` says otherwise.
inline constexpr std::int64_t kDefaultInFlight = 256;

extern const LoopedRun kFanoutRun;
extern const LoopedRun kChainRun;

/// Runs of one orchestration, always so many under way: as one ends, the next is started. A few
/// threads start them through a client; their ends are read from the changes of the store, many at
/// a time, so that watching costs the engine next to nothing.
///
/// Threading: one thread. The bench must outlive it and have a runtime.
class ClosedLoop {
 public:
  /// What a window found.
  struct Window {
    Rate runs;            ///< ended in it, between two looks that saw ends
    Latencies latencies;  ///< of those, from the entry of the start call to the end being seen
  };

  ClosedLoop(EngineBench& bench, const LoopedRun& run, std::int64_t in_flight);

  /// Fills the loop, measures for `length` once as many have ended as are in flight, and returns
  /// when all have ended. Unavailable when none ends for a long time.
  Result<Window> run(std::chrono::nanoseconds length);

  /// Looks at every run there was: each must have completed with the result of its input. Others
  /// are counted in the report.
  void check_results();

  std::int64_t started() const { return started_; }

 private:
  std::string id_of(std::int64_t number) const;
  void start_one();
  Result<std::int64_t> look(Latencies* latencies);
  std::int64_t note_ends(const ChangePage& page,
                         std::chrono::steady_clock::time_point now,
                         Latencies* latencies);

  EngineBench& bench_;
  const LoopedRun run_;
  const std::int64_t in_flight_;
  const Client client_;
  ChangeSeq seen_;
  std::chrono::steady_clock::time_point last_end_;
  std::mutex mutex_;
  std::int64_t started_ = 0;  // guarded by mutex_ while runs are being started, as what follows
  std::unordered_map<std::string, std::chrono::steady_clock::time_point> open_;
};

}  // namespace perdure::bench
