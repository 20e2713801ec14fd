#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace perdure::cli {

/// Adds `cancel`: of one run by its id, or of all live runs that apply, with a preview that only
/// reads. One run is one commit; of several each is durable by itself, and the same command again
/// goes on where it was cut off.
Command add_cancel(CLI::App& app);

}  // namespace perdure::cli
