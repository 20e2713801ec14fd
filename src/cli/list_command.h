#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace perdure::cli {

/// Adds `list`: runs of a store that apply, newest first, a page at a time. Only reads.
Command add_list(CLI::App& app);

}  // namespace perdure::cli
