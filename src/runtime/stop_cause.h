#pragma once

#include <cstdint>

namespace perdure::runtime {

/// Why an attempt shall stop. It decides how the attempt ends when its handler obeys.
enum class StopCause : std::uint8_t {
  kCanceled,   ///< the run, the call or its scope was canceled: settled as canceled
  kClaimLost,  ///< the claim is not ours any more, or nobody knows: given back, if that still
               ///< counts
  kTimedOut,   ///< `start_to_close` is over: the attempt was settled as failed already
  kShutdown,   ///< this worker stops: given back, nothing is charged
};

}  // namespace perdure::runtime
