#pragma once

#include <cstdint>
#include <string>

#include <perdure/run_status.h>

#include "client/call_time.h"
#include "provider/provider.h"

namespace perdure::client {

/// Sleeps until the run has ended that began with `execution` (0: the one that is current now),
/// woken by the store. Follows continue-as-new; passes over executions that were pruned meanwhile;
/// a run that is stored to follow another (`on_conflict = cancel existing`) is waited for before
/// it has begun.
/// Throws Unavailable when the time has passed, NotFound when there is no such run or it was
/// deleted.
RunStatus wait_for_end(Provider& store,
                       const std::string& id,
                       std::int64_t execution,
                       const CallTime& time);

}  // namespace perdure::client
