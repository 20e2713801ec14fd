#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace perdure::cli {

/// Adds `show`: one run as it stands, with `--tree` also its descendants. Only reads.
Command add_show(CLI::App& app);

/// Adds `wait`: sleeps until a run has ended and shows it as `show` does; the exit code tells how
/// it ended. Only reads.
Command add_wait(CLI::App& app);

}  // namespace perdure::cli
