#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "cli/bench/options.h"
#include "cli/bench/progress.h"
#include "cli/bench/report.h"

namespace perdure::bench {

/// One thing that `perdure bench` measures.
struct Workload {
  std::string_view name;
  /// Runs it once on stores of its own, whose files are removed in either case unless they shall be
  /// kept. Wrong results are counted in the report; an error means that there is none.
  Result<Report> (*run)(const Options& options, Progress& progress);
  /// The options that it takes beside those of all, apart by spaces; others are refused.
  std::string_view takes;
  std::int64_t least_in_flight = 1;
  std::int64_t least_count = 1;
};

/// All there are, in the order in which they are shown.
std::span<const Workload> workloads();

/// Requires: the name of one.
const Workload& workload(std::string_view name);

}  // namespace perdure::bench
