#pragma once

#include "base/result.h"
#include "cli/bench/options.h"
#include "cli/bench/progress.h"
#include "cli/bench/report.h"

namespace perdure::bench {

/// Cancels of running activities: the time from the call to the handler that is awake, in this
/// process or in another one, with or without what tells workers of their claims.
/// docs/bench.md tells the keys.
Result<Report> run_cancel(const Options& options, Progress& progress);

}  // namespace perdure::bench
