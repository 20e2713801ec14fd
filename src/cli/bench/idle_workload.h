#pragma once

#include "base/result.h"
#include "cli/bench/options.h"
#include "cli/bench/progress.h"
#include "cli/bench/report.h"

namespace perdure::bench {

/// Many runs sleep and nothing is due: what the engine takes meanwhile. docs/bench.md tells the
/// keys.
Result<Report> run_idle(const Options& options, Progress& progress);

}  // namespace perdure::bench
