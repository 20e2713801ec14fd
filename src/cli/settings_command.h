#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace perdure::cli {

/// Adds `settings`: what a runtime can be told, with defaults, ranges and meanings. Needs no store.
Command add_settings(CLI::App& app);

}  // namespace perdure::cli
