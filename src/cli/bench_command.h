#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace perdure::cli {

/// Adds `perdure bench` to the program. The answer runs it and may be called when the subcommand
/// was given.
Command add_bench(CLI::App& app);

}  // namespace perdure::cli
