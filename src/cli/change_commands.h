#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

/// What changes a run: each is one call of a client, durable when the command ends with 0. With
/// `--request-id` it may be given again, and is done once.
namespace perdure::cli {

Command add_terminate(CLI::App& app);
Command add_raise(CLI::App& app);

}  // namespace perdure::cli
