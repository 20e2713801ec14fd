#pragma once

#include <perdure/run_status.h>

#include "cli/bench/bench_code.h"
#include "cli/bench/report.h"

namespace perdure::bench {

/// Counts a wrong result unless the run has completed with this number.
void check_run(const RunStatus& run, Number expected, Report& report);

}  // namespace perdure::bench
