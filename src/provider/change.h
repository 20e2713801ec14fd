#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/ids.h"

/// Waiting without polling.
///
/// The pattern that loses no wake-up: take a mark, look (fetch, read), and when there was nothing,
/// wait with that mark; whatever was committed after the mark ends the wait at once.
namespace perdure {

/// A moment in the life of the store as this provider object saw it. Opaque; only compared by the
/// provider that gave it.
struct ChangeMark {
  std::uint64_t local = 0;       ///< commits of this provider object
  std::int64_t foreign = 0;      ///< what it last saw of commits by others
  std::uint64_t interrupts = 0;  ///< calls of `interrupt_waits()`
};

/// What a caller wants to be woken for. Anything that applies ends the wait.
struct Interest {
  ChangeMark after;
  std::vector<std::string> orchestration_queues;  ///< an instance of these became ready
  std::vector<std::string> work_queues;           ///< work of these became ready
  std::optional<Epoch> claims_of;                 ///< a claim of this epoch was deleted or marked
  /// The status of this instance changed, or a request to it got on.
  std::optional<InstanceKey> run;
  bool carry_on = false;                          ///< a cascade or a removal was left to others
  std::optional<TimePoint> until;                 ///< a time of the store's clock has come
  /// Real time after which the wait ends in any case.
  std::chrono::milliseconds bound = std::chrono::seconds(1);
};

struct Wake {
  enum class Reason : std::uint8_t {
    kChanged,      ///< something of the interest was committed by this provider object
    kForeign,      ///< another connection or process committed something: look
    kTime,         ///< `until` has come
    kBound,        ///< nothing happened within the bound
    kInterrupted,  ///< `interrupt_waits()` was called after the mark
  };

  Reason reason = Reason::kBound;
  ChangeMark mark;  ///< for the next wait
};

}  // namespace perdure
