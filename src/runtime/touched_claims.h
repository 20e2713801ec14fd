#pragma once

#include <memory>
#include <vector>

#include "provider/provider.h"
#include "runtime/attempt.h"

namespace perdure::runtime {

/// Tells the attempts to stop whose claims the store calls canceled or gone, run by run, each run
/// as soon as its reason was read: a reason that cannot be read is told as that of a claim that is
/// gone. `states` are the answers for `held`, in order. One that is settled is left alone: gone
/// after our own ack is no cancellation. Threading: any thread.
void stop_touched(Provider& provider,
                  const std::vector<std::shared_ptr<Attempt>>& held,
                  const std::vector<ClaimState>& states);

}  // namespace perdure::runtime
