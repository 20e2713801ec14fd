#pragma once

#include <algorithm>

#include "base/time.h"

namespace perdure::runtime {

/// How often the heartbeats of an attempt are stored: the first at once, then at most once in an
/// interval, the newest. The interval is 0.8 of the call's heartbeat timeout, or `standard` for a
/// call without one; never longer than `longest`.
struct HeartbeatThrottle {
  Duration standard = std::chrono::seconds(30);  ///< default_heartbeat_throttle_interval
  Duration longest = std::chrono::seconds(60);   ///< max_heartbeat_throttle_interval

  Duration interval(Duration heartbeat_timeout) const {
    const Duration wanted =
        heartbeat_timeout > Duration::zero() ? heartbeat_timeout / 10 * 8 : standard;
    return std::min(wanted, longest);
  }
};

}  // namespace perdure::runtime
