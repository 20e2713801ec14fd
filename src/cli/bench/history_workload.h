#pragma once

#include "base/result.h"
#include "cli/bench/options.h"
#include "cli/bench/progress.h"
#include "cli/bench/report.h"

namespace perdure::bench {

inline constexpr int kDeciles = 10;

/// The workload `history`: one run with very many activities, one after the other: does a step cost
/// more when the history is long? As Workload::run.
Result<Report> run_history(const Options& options, Progress& progress);

}  // namespace perdure::bench
