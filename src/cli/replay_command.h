#pragma once

#include <perdure/registry.h>

#include "cli/command.h"

namespace CLI {
class App;
}

namespace perdure::cli {

/// Adds `replay` to a program, with the code that histories are run against. The answer runs it and
/// may be called when the subcommand was given. With an empty registry it says what is missing.
/// Exit codes: <perdure/cli.h>.
Command add_replay(CLI::App& app, Registry registry);

}  // namespace perdure::cli
