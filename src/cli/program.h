#pragma once

#include <map>
#include <string>

#include "cli/command.h"

namespace CLI {
class App;
}

namespace perdure::cli {

/// Reads the command line and runs the subcommand that it names; without one shows the help. 2 for
/// a command line that is wrong, told on standard error; 1 when a command throws.
int run_program(CLI::App& app,
                const std::map<std::string, Command>& commands,
                int argc,
                char** argv);

}  // namespace perdure::cli
