#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

/// Talking to the handlers of a run, with JSON in and out: no code of the run is needed here, but
/// updates and queries are answered by a worker that has it.
namespace perdure::cli {

Command add_signal(CLI::App& app);
Command add_update(CLI::App& app);
Command add_query(CLI::App& app);

}  // namespace perdure::cli
