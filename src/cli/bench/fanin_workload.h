#pragma once

#include "base/result.h"
#include "cli/bench/options.h"
#include "cli/bench/progress.h"
#include "cli/bench/report.h"

namespace perdure::bench {

/// The workload `fanin`: one run with very many activities at once, between two short windows of
/// `fanout`. As Workload::run.
Result<Report> run_fanin(const Options& options, Progress& progress);

}  // namespace perdure::bench
