#pragma once

#include "base/result.h"
#include "cli/bench/options.h"
#include "cli/bench/progress.h"
#include "cli/bench/report.h"

namespace perdure::bench {

/// Runs that sleep on a timer: the memory that each takes with and without cached frames, how fast
/// they go to sleep and how fast all of them wake. docs/bench.md tells the keys.
Result<Report> run_sleepers(const Options& options, Progress& progress);

}  // namespace perdure::bench
