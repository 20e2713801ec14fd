#pragma once

#include <perdure/detail/handler_table.h>

#include "base/random.h"
#include "provider/work_requests.h"
#include "runtime/attempt.h"
#include "runtime/isolation/process_limits.h"

namespace perdure::runtime {

/// How an attempt ends that failed so: tried again or final, as the call's retry policy says.
WorkOutcome failed(const WorkItem& item, Failure failure, Random& random);

/// How an attempt ends that was told to stop, and did or was given up.
WorkOutcome stopped(const Attempt& attempt);

/// Runs the handler on this thread and says how the attempt ended. Never throws: an exception of
/// any type is a failure, tried again as the call's retry policy says. `Canceled` counts as
/// canceled (or as given back, see StopCause) only when the token has fired; thrown at will it is a
/// failure, or the owner would never hear of the call. What it throws after the token fired for a
/// shutdown gives it back, with a warning: a shutdown fails no call. A handler whose token fired
/// before it began is not invoked.
WorkOutcome run_attempt(const detail::ActivityHandler& handler, Attempt& attempt, Random& random);

/// The same with the handler of that name; without one the call is given back for so long.
/// `processes`: an isolated handler runs in a process of its own, and is given back when there is
/// none for it; null: it runs here like the others.
WorkOutcome run_registered(const detail::HandlerTable& handlers,
                           Attempt& attempt,
                           Random& random,
                           Duration missing_handler_delay,
                           const ProcessLimits* processes = nullptr);

}  // namespace perdure::runtime
