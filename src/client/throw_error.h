#pragma once

#include <utility>

#include "base/error.h"
#include "base/result.h"

namespace perdure {

/// Throws the exception of the public API that tells the caller the same as `error`:
/// InvalidArgument, NotFound, Conflict, or Unavailable for trouble with the store.
[[noreturn]] void throw_error(const Error& error);

/// The value of `answer`, or throw_error of its error.
template <class T>
T or_throw(Result<T> answer) {
  if (!answer.ok()) throw_error(answer.error());
  return std::move(answer).value();
}

}  // namespace perdure
