#pragma once

#include "base/result.h"
#include "cli/bench/options.h"
#include "cli/bench/progress.h"
#include "cli/bench/report.h"

namespace perdure::bench {

/// The workload `hello`: one orchestration with one activity, one at a time, in windows that
/// alternate with single commits. As Workload::run.
Result<Report> run_hello(const Options& options, Progress& progress);

}  // namespace perdure::bench
