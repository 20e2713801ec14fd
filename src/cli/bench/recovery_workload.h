#pragma once

#include "base/result.h"
#include "cli/bench/options.h"
#include "cli/bench/progress.h"
#include "cli/bench/report.h"

namespace perdure::bench {

/// A process that runs many handlers is killed: the time until all of them run elsewhere.
/// docs/bench.md tells the keys.
Result<Report> run_recovery(const Options& options, Progress& progress);

}  // namespace perdure::bench
