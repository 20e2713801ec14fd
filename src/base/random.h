#pragma once

#include <atomic>
#include <cstdint>
#include <random>

#include "base/guarded.h"

namespace perdure {

/// Where the engine gets its randomness: ids, jitter. Not for secrets.
/// Threading: any thread.
class Random {
 public:
  Random() = default;
  Random(const Random&) = delete;
  Random& operator=(const Random&) = delete;
  virtual ~Random();

  /// Uniform over all 64-bit values.
  virtual std::uint64_t next() = 0;

  /// Uniform over [0, 1).
  double unit();
};

/// 64 bits straight from the operating system: for an id now and then, also after a fork.
std::uint64_t system_bits();

/// Seeded from the operating system. A forked child repeats its parent's numbers: create it after
/// the fork.
class SystemRandom final : public Random {
 public:
  SystemRandom();
  std::uint64_t next() override;

 private:
  Guarded<std::mt19937_64> engine_;
};

/// The same numbers for the same seed, on every platform. With several threads the sequence as a
/// whole is still the same, but who gets which number is not.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed);
  std::uint64_t next() override;

 private:
  std::atomic<std::uint64_t> state_;
};

}  // namespace perdure
