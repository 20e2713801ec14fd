#pragma once

#include <perdure/detail/handler_table.h>

#include "base/random.h"
#include "provider/work_requests.h"
#include "runtime/attempt.h"

namespace perdure::runtime {

/// Runs the handler on this thread and says how the attempt ended. Never throws: an exception of
/// any type is a failure, tried again as the call's retry policy says. `Canceled` counts as
/// canceled only when the token has fired; thrown at will it is a failure, or the owner would never
/// hear of the call. A handler whose token fired before it began is not invoked.
WorkOutcome run_attempt(const detail::ActivityHandler& handler, Attempt& attempt, Random& random);

}  // namespace perdure::runtime
