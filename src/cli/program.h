#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace perdure::cli {

/// Reads the command line and runs the subcommand that it names; without one shows the help.
/// Errors are told on standard error, with the exit code that belongs to them; see `exit_codes`.
/// A reader of standard output that leaves early is no error.
int run_program(CLI::App& app, const Commands& commands, int argc, char** argv);

}  // namespace perdure::cli
