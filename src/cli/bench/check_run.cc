#include "cli/bench/check_run.h"

#include "model/status.h"

namespace perdure::bench {

void check_run(const RunStatus& run, Number expected, Report& report) {
  if (run.status != ExecutionStatus::kCompleted) {
    report.fail("run '" + run.id + "' is " + std::string(to_string(run.status)) +
                (run.failure.message.empty() ? "" : ": " + run.failure.message));
  } else if (run.output != Json(expected)) {
    report.fail("run '" + run.id + "' gave " + run.output.dump() + "; expected " +
                std::to_string(expected));
  }
}

}  // namespace perdure::bench
