#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace perdure::cli {

/// Adds what `perdure bench recovery` starts as a second process and kills. Not shown in the help:
/// of no use to people.
Command add_bench_holder(CLI::App& app);

}  // namespace perdure::cli
