#pragma once

namespace perdure::bench {

/// For a process that a bench has started with OwnChild: ends it when the one who started it is
/// gone, however that ended (its standard input ends then). Leaves a thread that never returns.
void end_with_caller();

}  // namespace perdure::bench
