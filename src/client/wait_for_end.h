#pragma once

#include <cstdint>
#include <string>

#include <perdure/run_status.h>

#include "client/call_time.h"
#include "provider/provider.h"

namespace perdure::client {

/// Which run of an id.
struct WantedRun {
  std::string id;
  std::int64_t execution = 0;  ///< that it began with; 0: the one that is current now
  InstanceKey key;             ///< 0: that of the first look
};

/// Sleeps until the run has ended, woken by the store. Follows continue-as-new; passes over
/// executions that were pruned meanwhile; a run that is stored to follow another (`on_conflict =
/// cancel existing`) is waited for before it has begun. Throws Unavailable when the time has
/// passed, NotFound when there is no such run or it was deleted, also when another one has its id
/// now.
RunStatus wait_for_end(Provider& store, const WantedRun& wanted, const CallTime& time);

}  // namespace perdure::client
