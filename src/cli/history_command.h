#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace perdure::cli {

/// Adds `history`: what an execution decided and learned, as a table, or with `--json` as the file
/// that `replay` takes. Only reads.
Command add_history(CLI::App& app);

}  // namespace perdure::cli
