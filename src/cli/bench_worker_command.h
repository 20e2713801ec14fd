#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace perdure::cli {

/// Adds what `perdure bench cancel --processes 2` starts as a second process, with the workers. Not
/// shown in the help: of no use to people.
Command add_bench_worker(CLI::App& app);

}  // namespace perdure::cli
