#pragma once

#include <functional>
#include <memory>

namespace CLI {
class App;
}

namespace perdure::cli {

/// A command of the program, ready to run after the command line was read; answers the exit code.
using Command = std::function<int()>;

/// Adds `perdure bench` to the program. The answer runs it and may be called when the subcommand
/// was given.
Command add_bench(CLI::App& app);

}  // namespace perdure::cli
