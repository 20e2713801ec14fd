#pragma once

#include <chrono>
#include <cstddef>

#include <perdure/time.h>

namespace perdure {

/// Settings of a client. A value; `check` says which one is out of its range.
struct ClientOptions {
  /// Of every call that does not wait for a run; then Unavailable.
  Duration call_timeout = std::chrono::seconds(30);
  Duration cancel_cleanup_timeout = std::chrono::seconds(60);  ///< of the runs that it cancels
  std::size_t max_payload_bytes = std::size_t{2} << 20U;
};

/// Throws InvalidArgument that names the field, its range and its value.
void check(const ClientOptions& options);

}  // namespace perdure
