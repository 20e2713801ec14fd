#pragma once

#include <cstddef>
#include <cstdint>

namespace perdure::runtime {

/// What became of kept frames, since their keeper was made. Every frame that came back was taken
/// again, left for one of the reasons, or is here: `kept == hits + evicted() + frames`.
struct FrameCounts {
  std::uint64_t hits = 0;    ///< turns that found their frames
  std::uint64_t misses = 0;  ///< turns that did not and replayed
  std::uint64_t kept = 0;    ///< frames that came back after a commit

  std::uint64_t evicted_for_count = 0;  ///< more than `max_cached_orchestrations`
  std::uint64_t evicted_for_bytes = 0;  ///< more than `max_cache_bytes`
  std::uint64_t evicted_stale = 0;      ///< the store had moved on without them
  std::uint64_t evicted_ended = 0;      ///< the execution has ended
  std::uint64_t evicted_cleared = 0;    ///< the registration has ended, or the runtime stops

  // Cached turns that were replayed after their commit and compared (replay_check_fraction).
  std::uint64_t checks = 0;           ///< made
  std::uint64_t checks_unread = 0;    ///< not made: the history could not be read
  std::uint64_t checks_differed = 0;  ///< of those made: the frames were destroyed

  // Now.
  std::size_t frames = 0;
  std::size_t bytes = 0;

  std::uint64_t evicted() const {
    return evicted_for_count + evicted_for_bytes + evicted_stale + evicted_ended + evicted_cleared;
  }
  bool operator==(const FrameCounts&) const = default;
};

}  // namespace perdure::runtime
