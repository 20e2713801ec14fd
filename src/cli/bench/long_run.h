#pragma once

#include <chrono>

#include "cli/bench/bench_code.h"
#include "cli/bench/engine_bench.h"

namespace perdure::bench {

/// One run, named after its orchestration, that makes `calls` calls: starts it, waits for it,
/// counts a wrong result, and answers how long it took from the entry of the start call to the
/// result being here. The bench has a runtime.
std::chrono::nanoseconds time_long_run(EngineBench& bench,
                                       const Orchestration<Number(Number)>& orchestration,
                                       Number calls,
                                       Number expected);

}  // namespace perdure::bench
