#pragma once

#include <functional>

namespace perdure::cli {

/// A command of the program, ready to run after the command line was read; answers the exit code.
using Command = std::function<int()>;

inline constexpr int kExitUsage = 2;

}  // namespace perdure::cli
