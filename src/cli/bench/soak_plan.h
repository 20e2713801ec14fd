#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace perdure::bench {

/// One thing that is done to a tree of a soak, by a client.
struct SoakDeed {
  enum class Kind : std::uint8_t { kStart, kCancelRoot, kCancelMember, kDelete };

  Kind kind = Kind::kStart;
  std::size_t tree = 0;
  std::chrono::microseconds at{};  ///< after the beginning of the batch
  std::uint64_t luck = 0;          ///< what else is random about it
};

/// What is done to so many trees, in the order of time: each is started, some of its runs are
/// canceled, maybe its root, and a few are deleted while they run. Times overlap, so that all of it
/// races with all else and with what the runs do by themselves. The same for the same random
/// numbers.
std::vector<SoakDeed> plan_batch(std::size_t trees, Random& random);

}  // namespace perdure::bench
