#pragma once

#include "base/result.h"
#include "cli/bench/options.h"
#include "cli/bench/progress.h"
#include "cli/bench/report.h"

namespace perdure::bench {

/// The workloads `fanout` (parallel activities, joined) and `chain` (one activity after the other):
/// a closed loop of runs, in windows that alternate with those of the limit. As Workload::run.
Result<Report> run_fanout(const Options& options, Progress& progress);
Result<Report> run_chain(const Options& options, Progress& progress);

}  // namespace perdure::bench
