#include "cli/bench/long_run.h"

#include <perdure/client.h>

#include "base/clock.h"
#include "cli/bench/check_run.h"

namespace perdure::bench {

namespace {

/// A call that takes longer is a wrong result, not a slow one.
constexpr std::chrono::seconds kLongestCall{1};
constexpr std::chrono::seconds kLongestStart{60};

}  // namespace

std::chrono::nanoseconds time_long_run(EngineBench& bench,
                                       const Orchestration<Number(Number)>& orchestration,
                                       Number calls,
                                       Number expected) {
  const Client client = bench.client();
  const std::string id(orchestration.name());
  const auto begin = steady_now();
  client.start(orchestration, id, calls);
  const RunStatus run =
      client.wait(id, kLongestStart + calls * (kLongestCall + bench.options().activity_time));
  const auto took = steady_now() - begin;
  check_run(run, expected, bench.report());
  return took;
}

}  // namespace perdure::bench
