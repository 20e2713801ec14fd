#pragma once

#include <string_view>

namespace perdure::internal {

/// Writes "file:line: check failed: condition: message" to stderr and aborts.
[[noreturn]] void check_failed(const char* file,
                               int line,
                               const char* condition,
                               std::string_view message) noexcept;

}  // namespace perdure::internal

/// Stops the process when an invariant is broken. The engine recovers from a crash by design, but
/// not from a wrong history, so a broken invariant must never be written down.
/// `message` is evaluated only on failure.
#define PERDURE_CHECK(condition, message)                                         \
  do {                                                                            \
    if (!(condition)) [[unlikely]] {                                              \
      ::perdure::internal::check_failed(__FILE__, __LINE__, #condition, message); \
    }                                                                             \
  } while (false)
