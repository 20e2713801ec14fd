#pragma once

#include "base/result.h"
#include "cli/bench/options.h"
#include "cli/bench/progress.h"
#include "cli/bench/report.h"

namespace perdure::bench {

/// Cancels at random against running trees, with all that can race with a cancel, until so many of
/// them have changed something; counts what must never be. docs/bench.md tells the keys.
Result<Report> run_soak(const Options& options, Progress& progress);

}  // namespace perdure::bench
