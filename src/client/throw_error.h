#pragma once

#include "base/error.h"

namespace perdure {

/// Throws the exception of the public API that tells the caller the same as `error`:
/// InvalidArgument, NotFound, Conflict, or Unavailable for trouble with the store.
[[noreturn]] void throw_error(const Error& error);

}  // namespace perdure
