#pragma once

#include <string>

namespace perdure::demo {

struct Options {
  std::string provider;  ///< URL of a store that stays; empty: a temporary one
  bool keep = false;     ///< the temporary one stays too
};

/// Shows two orders on standard output and answers the exit code: 0 when all that it tells of was
/// really seen; 1 when not, or when nobody can see it; 128 + the number of the signal that
/// interrupted it. Leaves no process and, unless asked to, no file behind; after SIGKILL the
/// temporary folder alone.
int run_demo(const Options& options);

}  // namespace perdure::demo
