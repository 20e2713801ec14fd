#pragma once

#include "base/clock.h"
#include "provider/provider.h"

namespace perdure::sqlite::crash {

/// Runs all that is in the store to its end with a process of its own: work is completed, answers
/// become events, updates and queries are answered, a run completes when none of its calls is open
/// and is canceled when a cancel has come. Moves the time when nothing is ready. Throws when
/// something does not end.
void finish_everything(Provider& store, VirtualClock& clock);

}  // namespace perdure::sqlite::crash
