#pragma once

#include <perdure/registry.h>

#include "cli/command.h"

namespace CLI {
class App;
}

namespace perdure::cli {

/// Adds what works on any store: list, show, wait, cancel, terminate, raise, signal, update, query,
/// history, and replay with the code of the registry; and settings, which needs no store. The one
/// table for `perdure` and for the programs of users.
Commands add_commands(CLI::App& app, const Registry& registry);

}  // namespace perdure::cli
