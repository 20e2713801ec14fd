#pragma once

#include <string>

#include "runtime/attempt.h"
#include "runtime/isolation/process_limits.h"

namespace perdure::runtime {

/// Runs the handler of the attempt in a process of its own and waits on this thread until that
/// process is gone. Answers the result, JSON text; heartbeats reach the attempt as they come.
///
/// Throws what the handler threw, as `Failed` or `Canceled`. `Failed` as well when the process died
/// (kProcessDiedFailure) or never began (kIsolationFailure), and NotStarted when there was none.
/// Stop: the process is told with the reason, then gets SIGTERM, and is killed when its grace is
/// over: `Canceled`. Crash of this process: the kernel kills the other one.
std::string run_isolated(Attempt& attempt, const ProcessLimits& limits);

}  // namespace perdure::runtime
