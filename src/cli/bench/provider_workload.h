#pragma once

#include "base/result.h"
#include "cli/bench/options.h"
#include "cli/bench/progress.h"
#include "cli/bench/report.h"

namespace perdure::bench {

/// The workload `provider`: the contract's calls in a loop, without an engine. Wrong results are
/// counted in the report; an error means that there is none. Files are removed in either case.
Result<Report> run_provider(const Options& options, Progress& progress);

}  // namespace perdure::bench
