#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace perdure::cli {

/// `perdure demo`, what a newcomer runs first.
Command add_demo(CLI::App& app);

}  // namespace perdure::cli
