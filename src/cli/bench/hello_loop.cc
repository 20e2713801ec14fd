#include "cli/bench/hello_loop.h"

#include "base/clock.h"
#include "cli/bench/bench_code.h"
#include "cli/bench/check_run.h"

namespace perdure::bench {

namespace {

constexpr std::chrono::minutes kLongestRun{5};

}  // namespace

HelloLoop::HelloLoop(EngineBench& bench) : bench_(bench), client_(bench.client()) {}

Latencies HelloLoop::run(std::chrono::nanoseconds length) {
  Latencies latencies;
  const auto end = steady_now() + length;
  do {
    const Number input = -(++started_);
    const std::string id = "hello-" + std::to_string(started_);
    const auto begin = steady_now();
    client_.start(kHello, id, input);
    const RunStatus run = client_.wait(id, kLongestRun);
    latencies.add(steady_now() - begin);
    check_run(run, input + 1, bench_.report());
  } while (steady_now() < end);
  return latencies;
}

}  // namespace perdure::bench
