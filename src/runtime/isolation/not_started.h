#pragma once

#include <stdexcept>

namespace perdure::runtime {

/// There is no process, descriptor or memory for an attempt: nothing of its handler has run, so it
/// is given back and no failure is charged.
struct NotStarted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace perdure::runtime
