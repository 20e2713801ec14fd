#pragma once

#include <functional>
#include <map>
#include <string>

#include "cli/exit_codes.h"

namespace perdure::cli {

/// A command of the program, ready to run after the command line was read; answers the exit code.
/// May throw: `run_program` tells the error and makes the exit code of it.
using Command = std::function<int()>;

/// By name.
using Commands = std::map<std::string, Command>;

}  // namespace perdure::cli
